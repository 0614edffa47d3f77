#include <algorithm>
#include <iostream>

#include "cmd/commands.h"

namespace lastout::cmd {
namespace {

constexpr size_t kShown = 20;

void print(const kube::Errors& errors, const char* prefix) {
  const size_t shown = std::min(errors.size(), kShown);
  for (size_t i = 0; i < shown; ++i) std::cerr << prefix << kube::toString(errors[i]) << "\n";
  if (errors.size() > shown) std::cerr << prefix << "... and " << errors.size() - shown << " more\n";
}

}  // namespace

int badInput(const kube::Errors& errors) {
  print(errors, "");
  return kBadInput;
}

void printWarnings(const kube::Errors& warnings) { print(warnings, "warning: "); }

int badInput(const kube::Error& error) { return badInput(kube::Errors{error}); }

}  // namespace lastout::cmd
