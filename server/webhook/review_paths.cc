#include "server/webhook/review_paths.h"

#include <algorithm>
#include <utility>

#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

// Until every API server goes by another webhook configuration, and has its answers.
constexpr std::chrono::milliseconds kLongestLag{60'000};
constexpr std::chrono::hours kLongestUse{1};
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
  if (take_ == Take::Unanswered) take_ = Take::Due;
  if (probe.listener.empty() || listeners_.contains(probe.listener)) return;
  if (!listeners_.empty()) isDue_ = true;
  if (listeners_.size() == kMostListeners) listeners_.clear();
  listeners_.insert(probe.listener);
}

void PathRenewal::taken(TimePoint now) {
  take_ = Take::Unanswered;
  hourEnds_ = now + kLongestUse;
}

std::optional<PathRenewal::Cause> PathRenewal::due(TimePoint now) const {
  if (isUnreachable_) return std::nullopt;
  if (take_ == Take::Due) return Cause::NewHolder;
  if (now < notBefore_) return std::nullopt;
  if (isDue_) return Cause::Outage;
  return hourEnds_ && now >= *hourEnds_ ? std::optional(Cause::Hour) : std::nullopt;
}

std::string_view toString(PathRenewal::Cause cause) {
  switch (cause) {
    case PathRenewal::Cause::Outage:
      return "a listener could not be reached, or was started";
    case PathRenewal::Cause::NewHolder:
      return "this lastout has taken the Lease";
    case PathRenewal::Cause::Hour:
      break;
  }
  return "the path for reviews has been in use for an hour";
}

void PathRenewal::renewed(TimePoint now) {
  if (std::exchange(take_, Take::None) != Take::Due) notBefore_ = now + pause_;
  isDue_ = false;
  hourEnds_ = now + kLongestUse;
}

}  // namespace lastout::server
