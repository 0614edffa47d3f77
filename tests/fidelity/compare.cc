#include "tests/fidelity/compare.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string_view>

namespace lastout::fidelity {
namespace {

// Members whose text is compared as these words only.
const std::map<std::string, std::string, std::less<>> kWords = {{"uid", "<uid>"},
                                                                {"resourceVersion", "<version>"},
                                                                {"continue", "<token>"},
                                                                {"creationTimestamp", "<time>"},
                                                                {"deletionTimestamp", "<time>"},
                                                                {"lastTransitionTime", "<time>"},
                                                                {"lastUpdateTime", "<time>"}};
const std::set<std::string, std::less<>> kLeftOut = {"managedFields", "auditID"};
// ConfigMaps that come from the distributor, not from Kubernetes.
const std::set<std::string, std::less<>> kDistributors = {"openshift-service-ca.crt"};

std::string plainText(const std::string& text) {
  // The one of zeros is what a client asked for.
  static const std::regex kUid("(?!0{8})[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  static const std::regex kCurrentVersion(R"((current: |resource version: \d+ \()\d+)");
  return std::regex_replace(std::regex_replace(text, kUid, "<uid>"), kCurrentVersion, "$1<version>");
}

bool isDistributors(const Json& element) {
  return kDistributors.contains(simulator::stringAt(element, {"metadata", "name"}));
}

void strip(Json& json) {
  if (json.is_string()) {
    json = plainText(json.get_ref<const std::string&>());
  } else if (json.is_array()) {
    json.erase(std::remove_if(json.begin(), json.end(), isDistributors), json.end());
    for (Json& element : json) strip(element);
  } else if (json.is_object()) {
    for (const std::string& key : kLeftOut) json.erase(key);
    for (auto& [key, value] : json.items()) {
      const auto word = kWords.find(key);
      if (word == kWords.end() || !value.is_string())
        strip(value);
      else if (!value.get_ref<const std::string&>().empty())
        value = word->second;
    }
  }
}

// What tells the elements of an array apart.
std::string nameOf(const Json& element) {
  std::string_view name = simulator::stringAt(element, {"name"});
  if (name.empty()) name = simulator::stringAt(element, {"metadata", "name"});
  if (name.empty()) name = simulator::stringAt(element, {"type"});
  return std::string(name);
}

// The names of its elements; empty when they do not tell them apart.
std::set<std::string> namesIn(const Json& array) {
  std::set<std::string> names;
  for (const Json& element : array) {
    const std::string name = nameOf(element);
    if (name.empty() || !names.insert(name).second) return {};
  }
  return names;
}

class Comparison {
 public:
  std::vector<Difference> found;

  void compare(const std::string& path, const Json* recorded, const Json* own) {
    if (recorded != nullptr && own != nullptr && *recorded == *own) return;
    if (recorded != nullptr && own != nullptr && recorded->type() == own->type()) {
      if (recorded->is_object()) return compareObjects(path, *recorded, *own);
      if (recorded->is_array()) return compareArrays(path, *recorded, *own);
    }
    const auto text = [](const Json* json) {
      return json == nullptr ? std::string() : simulator::toText(*json);
    };
    found.push_back({path, text(recorded), text(own)});
  }

 private:
  void compareObjects(const std::string& path, const Json& recorded, const Json& own) {
    std::set<std::string> keys;
    for (const Json* object : {&recorded, &own}) {
      for (const auto& [key, value] : object->items()) keys.insert(key);
    }
    for (const std::string& key : keys)
      compare(path.empty() ? key : path + "." + key, simulator::at(recorded, {key}),
              simulator::at(own, {key}));
  }

  void compareArrays(const std::string& path, const Json& recorded, const Json& own) {
    const std::set<std::string> names = namesIn(recorded);
    const std::set<std::string> ownNames = namesIn(own);
    if (std::ranges::any_of(names, [&](const std::string& name) { return ownNames.contains(name); }))
      return compareNamed(path, recorded, own);
    for (size_t i = 0; i < std::max(recorded.size(), own.size()); ++i) {
      compare(path + "[" + std::to_string(i) + "]", i < recorded.size() ? &recorded[i] : nullptr,
              i < own.size() ? &own[i] : nullptr);
    }
  }

  void compareNamed(const std::string& path, const Json& recorded, const Json& own) {
    std::map<std::string, std::array<const Json*, 2>> pairs;
    for (const Json& element : recorded) pairs[nameOf(element)][0] = &element;
    for (const Json& element : own) pairs[nameOf(element)][1] = &element;
    const auto sharedNames = [&](const Json& array) {
      Json names = Json::array();
      for (const Json& element : array) {
        const auto& [first, second] = pairs[nameOf(element)];
        if (first != nullptr && second != nullptr) names.push_back(nameOf(element));
      }
      return names;
    };
    if (const Json order = sharedNames(recorded), ownOrder = sharedNames(own); order != ownOrder)
      found.push_back({path + "[order]", simulator::toText(order), simulator::toText(ownOrder)});
    for (const auto& [name, pair] : pairs) compare(path + "[" + name + "]", pair[0], pair[1]);
  }
};

}  // namespace

Json comparable(Json answer) {
  strip(answer);
  return answer;
}

std::vector<Difference> differences(const Json& recorded, const Json& own) {
  Comparison comparison;
  comparison.compare("", &recorded, &own);
  return std::move(comparison.found);
}

void Identities::learn(const Json& recorded, const Json& own) {
  if (recorded.is_array() && own.is_array()) {
    for (size_t i = 0; i < std::min(recorded.size(), own.size()); ++i) learn(recorded[i], own[i]);
  }
  if (!recorded.is_object() || !own.is_object()) return;
  const bool isNameGenerated = recorded.contains("generateName") && own.contains("generateName");
  for (const auto& [key, value] : recorded.items()) {
    const Json* here = simulator::at(own, {key});
    if (here == nullptr) continue;
    learn(value, *here);
    if (!value.is_string() || !here->is_string() || value.get_ref<const std::string&>().empty()) continue;
    if (key == "uid" || key == "resourceVersion" || key == "continue") own_.emplace(value, *here);
    if (key == "pod-template-hash" || (key == "name" && isNameGenerated)) recorded_.emplace(*here, value);
  }
}

Json Identities::asRecorded(Json own) const {
  if (own.is_string()) {
    std::string text = own;
    for (const auto& [here, recorded] : recorded_) {
      for (size_t found = text.find(here); found != std::string::npos;
           found = text.find(here, found + recorded.size()))
        text.replace(found, here.size(), recorded);
    }
    return text;
  }
  if (own.is_structured()) {
    for (Json& element : own) element = asRecorded(std::move(element));
  }
  return own;
}

std::string Identities::translated(std::string text) const {
  // Resource versions are short: only as a whole value of a parameter or member.
  for (const auto& [recorded, own] : own_) {
    const auto ends = [](char c) { return c == '"' || c == '=' || c == '&'; };
    for (size_t found = text.find(recorded); found != std::string::npos;
         found = text.find(recorded, found + own.size())) {
      const size_t end = found + recorded.size();
      const bool whole = found > 0 && ends(text[found - 1]) && (end == text.size() || ends(text[end]));
      if (whole) text.replace(found, recorded.size(), own);
    }
  }
  return text;
}

}  // namespace lastout::fidelity
