// ConfirmedFacts: the facts about other objects for one review. Reads a fact that would allow the request
// from the API server before it counts.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "protection/evaluate.h"
#include "protection/fact_index.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

struct ConfirmingLimits {
  TimePoint deadline;
  size_t mostReads = 0;  // what would take more of them is unknown
  // Read once more where no child, and nothing active, is known: one page of objects at most; where there are
  // more, what the watches told counts. Otherwise it always does.
  bool confirmsCounts = false;
};

// Of one review; safe for any number of its threads, which share what was read. Keeps references to its first
// three arguments.
class ConfirmedFacts {
 public:
  ConfirmedFacts(const LiveView& live, PolicyView& view, const PolicyReads& reads, ConfirmingLimits limits)
      : live_(live), view_(view), reads_(reads), limits_(limits) {}
  ConfirmedFacts(const ConfirmedFacts&) = delete;
  ConfirmedFacts& operator=(const ConfirmedFacts&) = delete;

  // The labels of a Namespace, as the request tells them: before judge() alone.
  void knowNamespace(std::string name, kube::Labels labels) {
    namespaceName_ = std::move(name);
    namespaceLabels_ = std::move(labels);
  }
  // Calls `judge` with what is known, and once more each time that something was read for it: what it found
  // last counts. It must not keep the facts.
  void judge(const std::function<void(const protection::Facts& facts)>& judge);

 private:
  // An object or, without a name, objects of a type.
  struct Wanted {
    std::string cluster;  // of an object; empty: the one that is reviewed
    kube::ObjectKey key;
    std::string labelSelector;                        // of several
    bool withContent = true;                          // of several
    auto operator<=>(const Wanted&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  };
  struct Found {
    std::vector<kube::Object> objects;  // of several those of one page
    std::string problem;                // why they could not be read; empty: they were
  };
  class Asking;

  std::shared_ptr<const Found> found(const Wanted& wanted) const;
  bool isAnyReadLeft() const;
  void read(const Wanted& wanted);
  Found readNow(const Wanted& wanted) const;
  Found readObject(const Wanted& wanted) const;
  Found readPage(const Wanted& wanted) const;

  const LiveView& live_;
  PolicyView& view_;
  const PolicyReads& reads_;
  const ConfirmingLimits limits_;
  std::string namespaceName_;
  kube::Labels namespaceLabels_;
  kube::Mutex reading_;        // of the thread that reads; taken before the next
  mutable kube::Mutex mutex_;  // never held while something is read
  std::map<Wanted, std::shared_ptr<const Found>> found_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
