// The recorded AdmissionReviews, made comparable with those that the embedded cluster sends.
#pragma once

#include <string>
#include <vector>

#include "simulator/json.h"

namespace lastout::testing {

struct RecordedReview {
  int number = 0;    // 33
  std::string name;  // "33-delete-deployments-collection-admin"
  simulator::Json request;
};

// Returns all of tests/recordings/<recording>/admission, by number.
std::vector<RecordedReview> recordedReviews(const std::string& recording);

// What is under `request`, without what is another in every cluster: managedFields; each uid becomes the
// place where it is met first, so that two that are the same still have to be; times, resource versions and
// generated names become words for what they are.
simulator::Json comparable(const simulator::Json& request);
// A text with words for the generated names in it.
std::string withoutGeneratedNames(std::string text);

}  // namespace lastout::testing
