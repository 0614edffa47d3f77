// LogSink: takes the log lines of the parts of a server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kube/locks.h"

namespace lastout::server {

enum class Level : uint8_t {
  Info,     // something is as it should be, again or from now on
  Warning,  // something goes wrong, and is tried again
  Error     // somebody should look at it: what should be guarded may not be
};
// Called by any thread; must not wait for long.
using LogSink = std::function<void(Level level, const std::string& line)>;

// Says each problem with one thing once, and once more when there is none any longer. Of one thread.
class ProblemLog {
 public:
  // A problem is said behind `failing`.
  ProblemLog(LogSink log, std::string failing, std::string well)
      : log_(std::move(log)), failing_(std::move(failing)), well_(std::move(well)) {}

  // Empty: there is none.
  void note(const std::string& problem) {
    if (problem == last_) return;
    last_ = problem;
    if (problem.empty())
      log_(Level::Info, well_);
    else
      log_(Level::Warning, failing_ + problem);
  }
  // What was noted last.
  const std::string& last() const { return last_; }

 private:
  LogSink log_;
  std::string failing_;
  std::string well_;
  std::string last_;
};

// Says what is wrong with each of many things, once for as long as it is the same: a cluster tells of an
// object again whenever anything of it changes, its status too. Of any thread.
class ProblemsByName {
 public:
  explicit ProblemsByName(LogSink log) : log_(std::move(log)) {}

  // `line`: all that is said; empty: nothing is wrong with it, or it is gone.
  void note(const std::string& name, const std::string& line) {
    {
      const kube::MutexLock lock(mutex_);
      if (line.empty()) {
        last_.erase(name);
        return;
      }
      if (std::exchange(last_[name], line) == line) return;
    }
    log_(Level::Warning, line);
  }

 private:
  const LogSink log_;
  kube::Mutex mutex_;
  std::map<std::string, std::string> last_ LASTOUT_GUARDED_BY(mutex_);  // by name
};

}  // namespace lastout::server
