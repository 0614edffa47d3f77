#include "server/runtime/controller.h"

#include <algorithm>
#include <utility>

namespace lastout::server {

void Controller::wake(const std::vector<kube::ObjectKey>& objects) {
  const kube::MutexLock lock(mutex_);
  woken_.insert(objects.begin(), objects.end());
}

void Controller::forget() {
  {
    const kube::MutexLock lock(mutex_);
    woken_.clear();
  }
  records_.clear();
  knowsAll_ = false;
}

Controller::Record& Controller::recordOf(const kube::ObjectKey& object) {
  const auto found = records_.find(object);
  if (found != records_.end()) return found->second;
  const std::string name = options_.subject + ": " + toString(object) + ": ";
  return records_
      .emplace(object, Record{std::nullopt, client::Backoff(options_.backoff, options_.random),
                              ProblemLog(options_.log, name, name + "settled again")})
      .first->second;
}

// What has changed is looked at even where an attempt has failed: the change may be what it waits for.
void Controller::takeWoken(TimePoint now) {
  std::set<kube::ObjectKey> woken;
  {
    const kube::MutexLock lock(mutex_);
    woken.swap(woken_);
  }
  if (!std::exchange(knowsAll_, true)) {
    const std::vector<kube::ObjectKey> all = options_.all();
    woken.insert(all.begin(), all.end());
  }
  for (const kube::ObjectKey& object : woken) recordOf(object).due = now;
}

std::optional<TimePoint> Controller::pass(TimePoint now, const std::function<bool()>& goesOn) {
  takeWoken(now);
  std::optional<TimePoint> next;
  for (auto one = records_.begin(); one != records_.end();) {
    Record& record = one->second;
    const bool isDue = record.due && *record.due <= now;
    if (isDue && goesOn() && !settle(one->first, record, now)) {
      one = records_.erase(one);
      continue;
    }
    if (record.due) next = next ? std::min(*next, *record.due) : *record.due;
    ++one;
  }
  return next;
}

bool Controller::settle(const kube::ObjectKey& object, Record& record, TimePoint now) {
  Settled settled = options_.settle(object);
  if (options_.isStopping()) settled.problem.clear();
  record.due.reset();
  record.problems.note(settled.problem);
  if (settled.lookAgain) record.due = now + *settled.lookAgain;
  if (settled.problem.empty()) {
    record.backoff.reset();
    return record.due.has_value();
  }
  const TimePoint retry = now + record.backoff.next();
  record.due = record.due ? std::min(*record.due, retry) : retry;
  return true;
}

}  // namespace lastout::server
