#include "server/review/confirming_reads.h"

#include <algorithm>
#include <utility>

namespace lastout::server {
namespace {

using graph::Condition;
using Holder = ConfirmingReads::Holder;
using std::chrono::steady_clock;

// How often is looked what is to be renewed.
constexpr std::chrono::milliseconds kLookAfter{1'000};
constexpr std::chrono::milliseconds kLongestGathering{5};  // of those who share a read

// What is read for that condition, and for others with it.
Condition whatToRead(const Condition& condition) {
  if (condition.kind == Condition::Kind::Object) return condition;
  Condition all;
  all.kind = Condition::Kind::Instances;
  all.type = condition.type;
  // Here the scope of an Instances condition is the list that is read; a graph has no such condition.
  if (const std::string space = onlyNamespaceOf(condition); !space.empty())
    all.scope = kube::NamespaceScope::within({space});
  return all;
}

bool isOfObject(const Condition& condition) { return condition.kind == Condition::Kind::Object; }

kube::Error unconfirmedAs(std::string why) { return {std::move(why), {}, {}}; }

std::string tookTooLong(const Condition& condition) {
  const std::string type = toString(condition.type);
  if (isOfObject(condition)) return "reading " + type + " took too long";
  return "reading " + type +
         " takes longer than a review may; it goes on in the background, so try again in a minute";
}

}  // namespace

ConfirmingReads::ConfirmingReads(const std::shared_ptr<client::Access>& access, const LiveView& view,
                                 Observer observer, ConfirmingReadsOptions options)
    : observer_(std::move(observer)),
      options_(options),
      reader_(access, view),
      loop_([this] { beginDue(); }, std::chrono::milliseconds(0)),
      readers_(options_.readers, options_.readers) {
  loop_.wake();  // each round sets the time of the next
  loop_.start();
}

ConfirmingReads::~ConfirmingReads() {
  stop();
  loop_.stop();
  readers_.stop();
}

void ConfirmingReads::stop() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& [subject, reads] : reads_) {
      for (const auto& read : {reads.running, reads.next}) {
        if (read) read->changed.notifyAll();
      }
    }
  }
  loop_.end();
  reader_.stop();
}

// --- those who ask

ConfirmingReads::Asked::~Asked() {
  if (reads_.empty()) return;
  const kube::MutexLock lock(owner_.mutex_);
  for (const std::shared_ptr<Read>& read : reads_) owner_.leave(read);
}

ConfirmingReads::Asked ConfirmingReads::ask(std::vector<Condition> conditions) {
  Asked asked(*this, std::move(conditions));
  asked.reads_.reserve(asked.conditions_.size());
  const kube::MutexLock lock(mutex_);
  const TimePoint now = steady_clock::now();
  for (const Condition& condition : asked.conditions_) asked.reads_.push_back(join(condition, now));
  return asked;
}

kube::Result<Holder> ConfirmingReads::holderOf(const Condition& condition, TimePoint deadline) {
  return std::move(holdersOf(ask({condition}), deadline).front());
}

std::vector<kube::Result<Holder>> ConfirmingReads::holdersOf(const Asked& asked, TimePoint deadline) {
  const std::vector<Condition>& conditions = asked.conditions_;
  const std::vector<std::shared_ptr<Read>>& reads = asked.reads_;
  kube::MutexLock lock(mutex_);
  for (size_t i = 0; i < reads.size(); ++i) {
    reads[i]->changed.waitUntil(lock, deadline, [&]() LASTOUT_REQUIRES(mutex_) {
      return stopping_ || reads[i]->done || reads[i]->found.contains(conditions[i]);
    });
  }
  std::vector<kube::Result<Holder>> holders;
  holders.reserve(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    const Read& read = *reads[i];
    if (const auto found = read.found.find(conditions[i]); found != read.found.end()) {
      holders.emplace_back(Holder(found->second));
    } else if (read.done && !read.failure) {
      holders.emplace_back(Holder());
    } else {
      holders.emplace_back(tl::unexpected(unconfirmedAs(stopping_   ? "lastout is about to end"
                                                        : read.done ? *read.failure
                                                                    : tookTooLong(conditions[i]))));
    }
  }
  return holders;
}

// Who comes while a read is under way waits for the next one.
std::shared_ptr<ConfirmingReads::Read> ConfirmingReads::join(const Condition& condition, TimePoint now) {
  if (condition.kind == Condition::Kind::NamespaceContent) {
    auto refused = std::make_shared<Read>();
    refused->done = true;
    refused->failure = "the content of a namespace cannot be read at one moment";
    return refused;
  }
  const Condition what = whatToRead(condition);
  bool again = false;
  if (const auto found = outlasting_.find(what); found != outlasting_.end()) {
    found->second.askedAt = now;
    again = found->second.unheld.contains(condition) && now < found->second.endedAt + options_.counts;
  }
  Reads& reads = reads_[{what, again}];
  std::shared_ptr<Read>& read = reads.running && reads.running->begun ? reads.next : reads.running;
  if (!read) {
    read = std::make_shared<Read>();
    read->wantedAt = now;
    read->notBefore = beginOf(what, now);
    if (read == reads.running) loop_.wake();
  }
  read->conditions.insert(condition);
  ++read->waiting;
  return read;
}

// Those who were answered by one read often ask again together, and are to share the next one, too. A read
// that began with the first of them would leave the others to one after it.
TimePoint ConfirmingReads::beginOf(const Condition& what, TimePoint now) const {
  if (what != lastEnded_.what) return now;
  return std::max(now, lastEnded_.at + std::min<TimePoint::duration>(lastEnded_.took / 8, kLongestGathering));
}

// A read that nobody waits for any more is begun all the same, unless another is under way: its end may help
// those who ask again.
void ConfirmingReads::leave(const std::shared_ptr<Read>& read) {
  if (--read->waiting > 0 || read->begun) return;
  for (auto& [subject, reads] : reads_) {
    if (reads.next == read) reads.next = nullptr;
  }
}

size_t ConfirmingReads::waiting() {
  const kube::MutexLock lock(mutex_);
  size_t count = 0;
  for (const auto& [subject, reads] : reads_) {
    for (const auto& read : {reads.running, reads.next}) count += read ? read->waiting : 0;
  }
  return count;
}

// --- those who read

// A read whose time has come waits for a reader, of which the next one wakes this; until it begins, others
// join it.
void ConfirmingReads::beginDue() {
  const kube::MutexLock lock(mutex_);
  const TimePoint now = steady_clock::now();
  renew(now);
  for (auto first = firstToBegin(); first != reads_.end() && underWay_ < options_.readers;
       first = firstToBegin()) {
    const auto& [subject, reads] = *first;
    if (reads.running->notBefore > now) return loop_.wakeAt(reads.running->notBefore);
    begin(subject, reads.running);
  }
  loop_.wakeAt(now + kLookAfter);
}

void ConfirmingReads::begin(const ReadTarget& subject, const std::shared_ptr<Read>& read) {
  read->begun = true;
  ++underWay_;
  readers_.add([this, subject, read, conditions = read->conditions] {
    const Done done = execute(subject, conditions, *read);
    if (observer_) observer_(done);
    {
      const kube::MutexLock lock(mutex_);
      --underWay_;
    }
    loop_.wake();
  });
}

// The one that may begin first.
std::map<ConfirmingReads::ReadTarget, ConfirmingReads::Reads>::iterator ConfirmingReads::firstToBegin() {
  auto first = reads_.end();
  for (auto each = reads_.begin(); each != reads_.end(); ++each) {
    if (each->second.running->begun) continue;
    if (first == reads_.end() || each->second.running->notBefore < first->second.running->notBefore)
      first = each;
  }
  return first;
}

// `read` has begun with these conditions.
ConfirmingReads::Done ConfirmingReads::execute(const ReadTarget& subject,
                                               const ConsistentReader::Conditions& conditions, Read& read) {
  const TimePoint begunAt = steady_clock::now();
  const TimePoint deadline = begunAt + options_.longest;
  const auto found = [&](const Condition& condition, admission::ObservedObject holder) {
    const kube::MutexLock lock(mutex_);
    read.found.emplace(condition, std::move(holder));
    read.changed.notifyAll();
  };
  const auto result = subject.again ? reader_.readAgain(conditions, deadline, found)
                                    : reader_.readAll(conditions, deadline, found);
  const TimePoint now = steady_clock::now();
  const kube::MutexLock lock(mutex_);
  if (!isOfObject(subject.what)) lastEnded_ = {subject.what, now, now - begunAt};
  read.done = true;
  if (!result) read.failure = result.error().message;
  if (!subject.again && !isOfObject(subject.what)) ended(subject, read, now);
  const auto reads = reads_.find(subject);
  reads->second.running = std::exchange(reads->second.next, nullptr);
  if (!reads->second.running) reads_.erase(reads);
  read.changed.notifyAll();
  const ReadOutcome outcome = !result              ? ReadOutcome::Failed
                              : read.found.empty() ? ReadOutcome::Free
                                                   : ReadOutcome::Held;
  return {outcome, std::chrono::duration_cast<std::chrono::microseconds>(now - begunAt)};
}

// What is small enough to be read while somebody waits is always read whole.
void ConfirmingReads::ended(const ReadTarget& subject, const Read& read, TimePoint now) {
  const auto before = outlasting_.find(subject.what);
  if (read.failure) return;  // what counts still does, for a while
  ConsistentReader::Conditions unheld;
  for (const Condition& condition : read.conditions) {
    if (!read.found.contains(condition)) unheld.insert(condition);
  }
  if (read.waiting > 0 || unheld.empty()) {
    if (before != outlasting_.end()) outlasting_.erase(before);
    return;
  }
  const TimePoint askedAt = before == outlasting_.end() ? read.wantedAt : before->second.askedAt;
  outlasting_[subject.what] = {std::move(unheld), now, askedAt};
}

// Half of the readers are left to those who wait, whose reads count whether or not they have begun.
void ConfirmingReads::renew(TimePoint now) {
  std::erase_if(outlasting_, [&](const auto& each) {
    const Outlasting& read = each.second;
    return now >= read.endedAt + options_.counts && now >= read.askedAt + options_.renewFor;
  });
  for (const auto& [what, read] : outlasting_) {
    if (now < read.endedAt + options_.renewAfter || now >= read.askedAt + options_.renewFor) continue;
    if (reads_.size() * 2 >= options_.readers || reads_.contains({what, false})) continue;
    auto renewed = std::make_shared<Read>();
    renewed->wantedAt = now;
    renewed->notBefore = now;
    renewed->conditions = read.unheld;
    reads_[{what, false}].running = std::move(renewed);
  }
}

}  // namespace lastout::server
