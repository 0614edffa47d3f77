// What is to become of deferred deletions (control/deferred_deletion.h), by what the server knows: at first
// sight by its view of the cluster, and then by what it has read past all caches.
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
#include "control/deferred_deletion.h"
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

  static bool isRemembered(size_t /*entry*/) { return true; }
  // Until the API server has answered, and the watch has told: what the view shows may go is not to be
  // overtaken by what goes after that. Of what nobody follows the answer is all there is.
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

  // The very object is not to be seen any more, or is being deleted. What nobody follows, or may, is there as
  // far as anybody knows.
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
  Entries in_;      // by the CriticalService that remembers them
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

// Asked only where the deletion depends on the answer; may take long. Fails with why that cannot be told.
using Question = std::function<tl::expected<bool, std::string>()>;

// `isWanted`: somebody still wants lastout to delete it; `isAllowed`: that was confirmed. What goes before
// the object has to be seen to before.
FateAsRead fateAsRead(const OwnedObject& object, const Question& isWanted, const Question& isAllowed);

}  // namespace lastout::server
