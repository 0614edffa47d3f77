// The recorded AdmissionReviews, as their files say.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lastout::testing {

struct RecordedReview {
  std::string name;  // "13-delete-deployments-admin-background-dryrun"
  nlohmann::json body;
};

inline nlohmann::json recordedFile(const std::filesystem::path& path) {
  std::ifstream file("tests/recordings/kubernetes-1.26" / path);
  return nlohmann::json::parse(file);
}

inline nlohmann::json recordedReview(const std::string& name) {
  return recordedFile("admission/" + name + ".json")["body"];
}

inline std::vector<RecordedReview> recordedReviews() {
  std::vector<RecordedReview> reviews;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/recordings/kubernetes-1.26/admission")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".json") reviews.push_back({name, recordedReview(name)});
  }
  return reviews;
}

}  // namespace lastout::testing
