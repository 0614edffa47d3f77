#include <algorithm>
#include <iostream>

#include "cmd/commands.h"

namespace lastout::cmd {
namespace {

constexpr size_t kShown = 20;

}  // namespace

int badInput(const kube::Errors& errors) {
  const size_t shown = std::min(errors.size(), kShown);
  for (size_t i = 0; i < shown; ++i) std::cerr << kube::toString(errors[i]) << "\n";
  if (errors.size() > shown) std::cerr << "... and " << errors.size() - shown << " more\n";
  return kBadInput;
}

int badInput(const kube::Error& error) { return badInput(kube::Errors{error}); }

}  // namespace lastout::cmd
