// Coverage: what a set of runs has exercised, so that a test fails when the generator stops reaching
// something.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/properties/walk.h"

namespace lastout::testing {

// Returns the kind of the action and who does it: "PodStop by Kubelet".
std::string kindOf(const cluster::Action& action);

class Coverage {
 public:
  void count(const Walk& walk);
  void count(admission::Reason reason);
  void count(const std::string& what) { ++counts_[what]; }
  // What was never exercised, a line each: of every kind of action, every reason of a denial and every
  // refusal of the API that the machine knows.
  std::string missing() const;
  // The same of reviews: every actor's DELETE denied at first sight, at the confirming read and at the
  // commit.
  std::string missingReviews() const;
  // The same of others that were counted by these names.
  std::string missingOf(const std::vector<std::string>& wanted) const;
  std::string text() const;

 private:
  std::map<std::string, uint64_t> counts_;
};

}  // namespace lastout::testing
