// LogLimiter: one line of a log for each peer, cause and interval, so that whoever can connect cannot fill
// the log. Pure: the clock is passed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "net/http_server.h"

namespace lastout::net {

struct LogLimits {
  std::chrono::seconds interval{60};
  // Pairs of peer and cause that are told apart in an interval; all others count as one more.
  size_t kinds = 256;
};

// Of one thread.
class LogLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LogLimiter(const LogLimits& limits) : limits_(limits) {}

  // Returns the event to log, with the number of equal events that were suppressed since the last logged one;
  // nullopt: it is suppressed, too. `now` never goes back.
  std::optional<HttpEvent> admit(HttpEvent event, Time now);

 private:
  using Kind = std::tuple<std::string, int, std::string>;  // the peer's address, the answer, the cause
  struct Told {
    Time since;  // when the last line was admitted
    uint64_t keptBack = 0;
  };
  Told* place(const HttpEvent& event, Time now, bool& isNew);
  void forgetOld(Time now);

  const LogLimits limits_;
  std::map<Kind, Told> told_;  // at most limits_.kinds
  std::optional<Told> others_;
};

// The log behind a limiter that goes by this clock. `log` is called as HttpServer calls its own.
HttpLog limited(HttpLog log, const LogLimits& limits,
                std::function<LogLimiter::Time()> now = std::chrono::steady_clock::now);

}  // namespace lastout::net
