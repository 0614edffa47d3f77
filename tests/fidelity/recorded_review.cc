#include "tests/fidelity/recorded_review.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

namespace lastout::testing {
namespace {

using simulator::Json;

bool isTime(const std::string& text) {
  static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
  return std::regex_match(text, kTime);
}

bool isUid(const std::string& text) {
  static const std::regex kUid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  return std::regex_match(text, kUid);
}

class Comparable {
 public:
  explicit Comparable(Json json) : json_(std::move(json)) { visit(json_, ""); }
  Json take() { return std::move(json_); }

 private:
  void visit(Json& json, const std::string& key) {
    if (json.is_object()) {
      json.erase("managedFields");
      for (auto& [name, value] : json.items()) visit(value, name);
    } else if (json.is_array()) {
      for (Json& item : json) visit(item, key);
    } else if (json.is_string()) {
      json = word(json.get<std::string>(), key);
    }
  }

  std::string word(std::string text, const std::string& key) {
    if (key == "resourceVersion") return "<version>";
    if (isTime(text)) return "<time>";
    if (isUid(text))
      return "<uid " + std::to_string(uids_.try_emplace(text, uids_.size()).first->second) + ">";
    if (key == "pod-template-hash") return "<hash>";
    return withoutGeneratedNames(std::move(text));
  }

  Json json_;
  std::map<std::string, size_t> uids_;
};

}  // namespace

std::string withoutGeneratedNames(std::string text) {
  // A hub is known by a hash of its address, where the embedded cluster calls it by its namespace.
  static const std::regex kHub("[0-9a-f]{64}");
  static const std::regex kToken("JTI=[-0-9a-f]{36}");
  static const std::regex kPod("(web|held|finalizer-deployment)-[0-9a-z]+-[0-9a-z]{5}");
  static const std::regex kReplicaSet("(web|held|finalizer-deployment)-[0-9a-z]{8,10}\\b");
  text = std::regex_replace(text, kHub, "cluster1");
  text = std::regex_replace(text, kToken, "JTI=<token>");
  text = std::regex_replace(text, kPod, "$1-<hash>-<generated>");
  return std::regex_replace(text, kReplicaSet, "$1-<hash>");
}

std::vector<RecordedReview> recordedReviews(const std::string& recording) {
  std::vector<RecordedReview> reviews;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/recordings/" + recording + "/admission")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string name = entry.path().stem().string();
    reviews.push_back({std::stoi(name), name, Json::parse(file)["body"]["request"]});
  }
  std::ranges::sort(reviews, {}, &RecordedReview::number);
  return reviews;
}

Json comparable(const Json& request) { return Comparable(request).take(); }

}  // namespace lastout::testing
