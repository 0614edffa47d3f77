#include "net/log_limiter.h"

#include <memory>
#include <utility>

namespace lastout::net {
namespace {

// "10.1.2.3" of "10.1.2.3:41234": each connection has a port of its own.
std::string addressOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

// What was kept back of a kind that is forgotten is told with the others.
void LogLimiter::forgetOld(Time now) {
  for (auto kind = told_.begin(); kind != told_.end();) {
    if (now - kind->second.since < limits_.interval) {
      ++kind;
      continue;
    }
    if (kind->second.keptBack != 0) {
      if (!others_) others_ = Told{kind->second.since, 0};
      others_->keptBack += kind->second.keptBack;
    }
    kind = told_.erase(kind);
  }
}

LogLimiter::Told* LogLimiter::place(const HttpEvent& event, Time now, bool& isNew) {
  isNew = false;
  Kind kind{addressOf(event.peer), event.status, event.cause.empty() ? event.message : event.cause};
  if (const auto found = told_.find(kind); found != told_.end()) return &found->second;
  if (told_.size() >= limits_.kinds) forgetOld(now);
  if (told_.size() < limits_.kinds) {
    isNew = true;
    return &told_.emplace(std::move(kind), Told{now, 0}).first->second;
  }
  isNew = !others_;
  if (!others_) others_ = Told{now, 0};
  return &*others_;
}

std::optional<HttpEvent> LogLimiter::admit(HttpEvent event, Time now) {
  bool isNew = false;
  Told* told = place(event, now, isNew);
  if (isNew) return event;
  if (now - told->since < limits_.interval) {
    ++told->keptBack;
    return std::nullopt;
  }
  told->since = now;
  if (const uint64_t keptBack = std::exchange(told->keptBack, 0); keptBack != 0) {
    event.message += " (" + std::to_string(keptBack) + " more ";
    event.message += others_ && told == &*others_ ? "of many peers" : "like it";
    event.message += " since the last line)";
  }
  return event;
}

HttpLog limited(HttpLog log, const LogLimits& limits, std::function<LogLimiter::Time()> now) {
  auto limiter = std::make_shared<LogLimiter>(limits);
  return [log = std::move(log), now = std::move(now), limiter](const HttpEvent& event) {
    if (const auto admitted = limiter->admit(event, now())) log(*admitted);
  };
}

}  // namespace lastout::net
