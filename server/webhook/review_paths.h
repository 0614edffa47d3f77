// The secret paths at which reviews are answered, and when another one is to be made.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/reflector.h"
#include "server/webhook/sentinel.h"

namespace lastout::server {

using client::TimePoint;

// The paths in use, and the former ones for one more minute, until every API server knows the new ones. One
// thread at a time.
class ReviewPaths {
 public:
  // Uses these from now on. Paths that are not secret are not answered once they are left.
  void use(std::vector<std::string> paths, TimePoint now);
  // Answers this former one for a minute more.
  void leave(const std::string& path, TimePoint now);
  // True if it is one of those in use, or was until a minute ago.
  bool has(std::string_view path, TimePoint now) const;

 private:
  std::vector<std::string> used_;
  std::map<std::string, TimePoint, std::less<>> former_;  // each until then
};

// An API server that cannot reach a listener tells the client which URL it called. So a new path is due when
// a listener that could not be reached answers again, and when a process answers that never answered before,
// since it was started meanwhile. A probe that lacked a right, or reached no API server, does not count. No
// probe may have met an outage: so a new path is also due once a listener answers a process that has taken
// the Lease, and every hour. One thread at a time.
class PathRenewal {
 public:
  enum class Cause : uint8_t { Outage, NewHolder, Hour };

  // `pause`: between two renewals, as each writes the webhook configuration.
  explicit PathRenewal(std::chrono::milliseconds pause) : pause_(pause) {}

  void answered(const ProbeAnswer& probe);
  // This process has taken the Lease.
  void taken(TimePoint now);
  // Why a new path is due; nullopt: none is. The first of a new holder of the Lease does not wait for the
  // pause, and makes none. Never while a listener cannot be reached: whoever is refused then would be told
  // the new path.
  std::optional<Cause> due(TimePoint now) const;
  void renewed(TimePoint now);

 private:
  enum class Take : uint8_t { None, Unanswered, Due };

  const std::chrono::milliseconds pause_;
  std::set<std::string> listeners_;  // that have answered
  bool isUnreachable_ = false;       // as of the last probe
  bool isDue_ = false;
  Take take_ = Take::None;
  TimePoint notBefore_;
  std::optional<TimePoint> hourEnds_;  // nullopt: this process has never had the Lease
};

// As the log has it.
std::string_view toString(PathRenewal::Cause cause);

}  // namespace lastout::server
