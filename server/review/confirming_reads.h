// ConfirmingReads: reads from the API server, past all caches, before a DELETE is allowed because no object
// blocks it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "net/worker_pool.h"
#include "server/review/consistent_reader.h"
#include "server/runtime/loop.h"

namespace lastout::server {

struct ConfirmingReadsOptions {
  size_t readers = 8;                          // reads under way at once
  std::chrono::milliseconds longest{120'000};  // one read, whoever still waits for it
  // For a read that outlasted all callers: how long its result counts, when it is repeated so that its result
  // counts without a gap, and for how long after the last caller it is repeated: Kubernetes' garbage
  // collector retries after 1,000 s at most.
  std::chrono::milliseconds counts{60'000};
  std::chrono::milliseconds renewAfter{30'000};
  std::chrono::milliseconds renewFor{1'200'000};
};

// Safe for any number of threads. Those that ask about the same object, or about objects of the same type,
// share one read, if it began after they asked: what was read before that proves nothing to them. It is read
// by threads of this, so that nobody waits beyond their own deadline. A type that takes longer to read than
// anybody waits is read to its end all the same; for a while after that its first page is enough, as long as
// the watch knows of as many objects as the API server has (docs/verdicts.md, "Before an ALLOW").
class ConfirmingReads {
 public:
  using Holder = std::optional<admission::ObservedObject>;

  // What came of one read, for the metrics.
  enum class ReadOutcome : uint8_t { Free, Held, Failed };
  struct Done {
    ReadOutcome outcome = ReadOutcome::Free;
    std::chrono::microseconds took{0};
  };
  using Observer = std::function<void(const Done& read)>;  // called by any thread, after the read

  ConfirmingReads(const std::shared_ptr<client::Access>& access, const LiveView& view, Observer observer = {},
                  ConfirmingReadsOptions options = {});
  ~ConfirmingReads();  // as stop()
  ConfirmingReads(const ConfirmingReads&) = delete;
  ConfirmingReads& operator=(const ConfirmingReads&) = delete;

  class Asked;
  // Asks for reads that begin from now on, without waiting for them.
  Asked ask(std::vector<graph::Condition> conditions);
  // Returns for each condition an object that holds it; nullopt: no object did at one moment after ask().
  // Each result fails by itself, with why it is not known at `deadline`.
  std::vector<kube::Result<Holder>> holdersOf(const Asked& asked, TimePoint deadline);
  kube::Result<Holder> holderOf(const graph::Condition& condition, TimePoint deadline);
  size_t waiting();  // how many conditions callers wait for now
  // Ends what is under way; from now on everything fails.
  void stop();

 private:
  // What one read covers: one object, all objects of a type, or those in one namespace. `again`: readAgain().
  struct ReadTarget {
    graph::Condition what;
    bool again = false;
    auto operator<=>(const ReadTarget&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  // Its members are guarded by the mutex of its owner, mutex_.
  struct Read {
    kube::ConditionVariable changed;          // something was found, or it is done
    ConsistentReader::Conditions conditions;  // others join until it has begun
    TimePoint wantedAt;
    TimePoint notBefore;
    bool begun = false;
    bool done = false;
    int waiting = 0;  // how many want it
    std::map<graph::Condition, admission::ObservedObject> found;
    std::optional<std::string> failure;  // when done; nullopt: what was not found is not there
  };
  struct Reads {
    std::shared_ptr<Read> running;  // or about to
    std::shared_ptr<Read> next;     // for all who came since that began
  };
  // The type that was read last, with when that ended and how long it took.
  struct Ended {
    graph::Condition what;
    TimePoint at;
    TimePoint::duration took{0};
  };
  // A type was read to its end when nobody waited for that any more.
  struct Outlasting {
    ConsistentReader::Conditions unheld;
    TimePoint endedAt;
    TimePoint askedAt;  // the last time
  };

  std::shared_ptr<Read> join(const graph::Condition& condition, TimePoint now) LASTOUT_REQUIRES(mutex_);
  void leave(const std::shared_ptr<Read>& read) LASTOUT_REQUIRES(mutex_);
  void beginDue();
  void renew(TimePoint now) LASTOUT_REQUIRES(mutex_);
  std::map<ReadTarget, Reads>::iterator firstToBegin() LASTOUT_REQUIRES(mutex_);
  void begin(const ReadTarget& subject, const std::shared_ptr<Read>& read) LASTOUT_REQUIRES(mutex_);
  TimePoint beginOf(const graph::Condition& what, TimePoint now) const LASTOUT_REQUIRES(mutex_);
  Done execute(const ReadTarget& subject, const ConsistentReader::Conditions& conditions, Read& read)
      LASTOUT_EXCLUDES(mutex_);
  void ended(const ReadTarget& subject, const Read& read, TimePoint now) LASTOUT_REQUIRES(mutex_);

  const Observer observer_;
  const ConfirmingReadsOptions options_;
  ConsistentReader reader_;

  kube::Mutex mutex_;
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  std::map<ReadTarget, Reads> reads_ LASTOUT_GUARDED_BY(mutex_);  // each with one that runs, or is about to
  std::map<graph::Condition, Outlasting> outlasting_ LASTOUT_GUARDED_BY(mutex_);
  Ended lastEnded_ LASTOUT_GUARDED_BY(mutex_);
  size_t underWay_ LASTOUT_GUARDED_BY(mutex_) = 0;  // reads
  Loop loop_;                                       // begins reads when they are due
  net::WorkerPool readers_;                         // as many as may be under way
};

// Reads that somebody has asked for, and wants until this goes.
class ConfirmingReads::Asked {
 public:
  ~Asked();
  Asked(Asked&&) = default;
  Asked& operator=(Asked&&) = delete;
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  const std::vector<graph::Condition>& conditions() const { return conditions_; }

 private:
  friend class ConfirmingReads;
  Asked(ConfirmingReads& reads, std::vector<graph::Condition> conditions)
      : owner_(reads), conditions_(std::move(conditions)) {}

  ConfirmingReads& owner_;
  std::vector<graph::Condition> conditions_;
  std::vector<std::shared_ptr<Read>> reads_;  // one for each; none after a move
};

}  // namespace lastout::server
