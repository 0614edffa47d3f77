// What the server does next about deferred deletions (control/deferred_deletion_rule.h): first from its view
// of the cluster, then from what it reads from the API server.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "admission/cluster_view.h"
#include "client/backoff.h"
#include "control/deferred_deletion_rule.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/controllers/owned_object.h"

namespace lastout::server {

// What was done about the object with a uid.
struct DeferredDeletionProgress {
  client::TimePoint notBefore;  // of the next look
  bool isUnderWay = false;
  bool waits = false;   // somebody has to let go of it first
  bool isDone = false;  // as far as the API server has said; the watch may not have told yet
  int refusals = 0;     // by others than lastout, or by an owner, since its verdict has turned
};

inline constexpr int kMostRefusals = 10;  // in 5 to 10 s, before others are not to count on it

// nullptr: nothing was done yet.
using ProgressOf = std::function<const DeferredDeletionProgress*(const std::string& uid)>;

// The entries at first sight, by their numbers, for control::fateOf(). Borrows all of it.
class SeenDeletions {
 public:
  SeenDeletions(const std::vector<DeferredDeletionEntry>& entries, const admission::ClusterView& view,
                const ProgressOf& progress, client::TimePoint now);

  static bool isRecorded(size_t /*entry*/) { return true; }
  // Returns true while a DELETE is under way or the view shows the object, so that no later deletion
  // overtakes this one. For a type that is not watched, returns true until the API server has accepted the
  // DELETE.
  bool isLive(size_t entry) const;
  control::DeferralState deferralState(size_t entry) const;  // as it was found last
  bool isWanted(size_t entry) const { return entries_[entry].isWanted; }
  bool isAllowed(size_t entry) const { return view_.decide(object(entry)).allowed; }
  template <class Holds>
  bool anyBefore(size_t entry, Holds holds) const {
    const std::vector<size_t>* before = beforeOf(entry);
    if (before == nullptr) return false;
    return std::ranges::any_of(*before, [&](size_t other) { return other != entry && holds(other); });
  }

  // Returns true if the view shows that the object with this uid is gone or is being deleted; false for a
  // type that is not watched.
  bool isGone(size_t entry) const { return isUnseen(entry) && !isOfUnknownType(entry); }

 private:
  using Entries = std::map<std::string, std::vector<size_t>>;

  const kube::ObjectKey& object(size_t entry) const { return entries_[entry].deletion.object; }
  const std::string& uid(size_t entry) const { return entries_[entry].deletion.uid; }
  bool isUnseen(size_t entry) const;
  bool isOfUnknownType(size_t entry) const;
  const std::vector<size_t>* beforeOf(size_t entry) const;

  const std::vector<DeferredDeletionEntry>& entries_;
  const admission::ClusterView& view_;
  const ProgressOf& progress_;
  const client::TimePoint now_;
  Entries inSpace_;
  Entries ofType_;  // by the name of their CRD
  Entries in_;      // by the CriticalService that records them
};

// What to do about an entry at first sight.
enum class DeferredDeletionJob : uint8_t {
  None,
  Look,    // read what is there: it may be over. An object that the view lacks may still exist, as the watch
           // of CriticalServices may be ahead of the watch of the object's type
  Delete,  // read what is there, and delete it
};
DeferredDeletionJob jobOf(const SeenDeletions& seen, const std::vector<DeferredDeletionEntry>& entries,
                          size_t entry);

// What is to become of an entry, by what was read.
struct FateAsRead {
  control::Fate fate = control::Fate::Wait;
  bool waits = false;   // an owner has to let go of it first
  std::string problem;  // why it waits, where that is not the order of things; else empty
};

// Called only if the decision depends on the result; may take long. Fails with why it cannot be answered.
using LazyCheck = std::function<tl::expected<bool, std::string>()>;

// Returns what to do about an object from what was read. `isWanted`: a CriticalService still wants lastout to
// delete it; `isAllowed`: a confirming read allows the DELETE. The caller first takes care of the objects
// that go before it.
FateAsRead fateAsRead(const OwnedObject& object, const LazyCheck& isWanted, const LazyCheck& isAllowed);

}  // namespace lastout::server
