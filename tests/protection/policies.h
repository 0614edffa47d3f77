// Policies and objects written into a test as YAML. What does not parse ends the test program.
#pragma once

#include <string>
#include <string_view>

#include "kube/object.h"
#include "protection/policy.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::protection {

// A policy with this spec, indented by two spaces.
inline std::string policyText(std::string_view spec, std::string_view name = "p") {
  return "apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata:\n  name: " + std::string(name) +
         "\nspec:\n" + std::string(spec);
}

inline DeletionPolicy policyOf(std::string_view spec, std::string_view name = "p") {
  auto read = parsePolicies(policyText(spec, name), "");
  if (!read) testing::stop("no policy: " + read.error().front().message);
  return read->front();
}

}  // namespace lastout::protection
