#include "protection/external_step.h"

#include <utility>

namespace lastout::protection {
namespace {

constexpr size_t kMostDone = 1'000;

}  // namespace

std::optional<std::string> SimulatedDatabase::execute(const ExternalRequest& request) {
  switch (mode_) {
    case Mode::Fails:
      return "the simulated database refused " + request.word;
    case Mode::Unreachable:
      return "the simulated database cannot be reached";
    case Mode::Succeeds:
      break;
  }
  if (done_.size() >= kMostDone) done_.erase(done_.begin());
  done_.push_back(request.word + " " + toString(request.object));
  return std::nullopt;
}

std::optional<SimulatedDatabase::Mode> parseMode(std::string_view word) {
  if (word == "Succeed") return SimulatedDatabase::Mode::Succeeds;
  if (word == "Fail") return SimulatedDatabase::Mode::Fails;
  if (word == "Unreachable") return SimulatedDatabase::Mode::Unreachable;
  return std::nullopt;
}

}  // namespace lastout::protection
