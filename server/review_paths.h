// The secret paths at which reviews are answered, and when another one is to be made.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/reflector.h"
#include "server/sentinel.h"

namespace lastout::server {

using client::TimePoint;

// Those that are in use, and for a minute more those that were, until every API server has heard of the new
// ones. One thread at a time.
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
// since it was started meanwhile. A probe that lacked a right, or reached no API server, does not count. One
// thread at a time.
class PathRenewal {
 public:
  void answered(const ProbeAnswer& probe);
  // No more often than once a minute, as each renewal writes the webhook configuration.
  bool isDue(TimePoint now) const { return isDue_ && now >= notBefore_; }
  void renewed(TimePoint now);

 private:
  std::set<std::string> listeners_;  // that have answered
  bool isUnreachable_ = false;       // as of the last probe
  bool isDue_ = false;
  TimePoint notBefore_;
};

}  // namespace lastout::server
