#include "server/review_paths.h"

#include <algorithm>
#include <utility>

#include "server/webhook_configuration.h"

namespace lastout::server {
namespace {

// Until every API server goes by another webhook configuration, and has its answers.
constexpr std::chrono::milliseconds kLongestLag{60'000};
constexpr std::chrono::milliseconds kRenewalPause{60'000};
constexpr size_t kMostListeners = 100;

}  // namespace

void ReviewPaths::use(std::vector<std::string> paths, TimePoint now) {
  const std::vector<std::string> before = std::exchange(used_, std::move(paths));
  for (const std::string& path : before) {
    if (std::ranges::find(used_, path) == used_.end()) leave(path, now);
  }
}

void ReviewPaths::leave(const std::string& path, TimePoint now) {
  std::erase_if(former_, [now](const auto& former) { return former.second <= now; });
  if (isSecretPath(path)) former_[path] = now + kLongestLag;
}

bool ReviewPaths::has(std::string_view path, TimePoint now) const {
  if (std::ranges::find(used_, path) != used_.end()) return true;
  const auto former = former_.find(path);
  return former != former_.end() && now < former->second;
}

void PathRenewal::answered(const ProbeAnswer& probe) {
  if (probe.hasServerFailed) isUnreachable_ = true;
  if (probe.kind != ProbeAnswer::Kind::Denied) return;
  if (std::exchange(isUnreachable_, false)) isDue_ = true;
  if (probe.listener.empty() || listeners_.contains(probe.listener)) return;
  if (!listeners_.empty()) isDue_ = true;
  if (listeners_.size() == kMostListeners) listeners_.clear();
  listeners_.insert(probe.listener);
}

void PathRenewal::renewed(TimePoint now) {
  isDue_ = false;
  notBefore_ = now + kRenewalPause;
}

}  // namespace lastout::server
