#include "server/controllers/deferred_deletion_plan.h"

#include "criticalservice/critical_service.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using control::DeferralState;
using control::Fate;

// An object as it was read, for the plan.
class ReadDeletion {
 public:
  ReadDeletion(const LazyCheck& isWanted, const LazyCheck& isAllowed)
      : isWanted_(isWanted), isAllowed_(isAllowed) {}

  static bool isRecorded(const OwnedObject& /*object*/) { return true; }
  static bool isLive(const OwnedObject& object) { return object.isThere; }
  static DeferralState deferralState(const OwnedObject& object) {
    return control::deferralStateOf(object.facts);
  }
  bool isWanted(const OwnedObject& /*object*/) const { return isSo(isWanted_); }
  bool isAllowed(const OwnedObject& /*object*/) const { return isSo(isAllowed_); }

  const std::string& problem() const { return problem_; }

 private:
  // What cannot be told is not so.
  bool isSo(const LazyCheck& question) const {
    const auto answer = question();
    if (!answer) problem_ = answer.error();
    return answer && *answer;
  }

  const LazyCheck& isWanted_;
  const LazyCheck& isAllowed_;
  mutable std::string problem_;
};

}  // namespace

SeenDeletions::SeenDeletions(const std::vector<DeferredDeletionEntry>& entries,
                             const admission::ClusterView& view, const ProgressOf& progress,
                             client::TimePoint now)
    : entries_(entries), view_(view), progress_(progress), now_(now) {
  for (size_t i = 0; i < entries.size(); ++i) {
    inSpace_[object(i).namespaceName].push_back(i);
    ofType_[kube::crdName(object(i).type)].push_back(i);
    for (const DeferredDeletionEntry::StatusEntry& statusEntry : entries[i].statusEntries)
      in_[statusEntry.service].push_back(i);
  }
}

bool SeenDeletions::isLive(size_t entry) const {
  const DeferredDeletionProgress* progress = progress_(uid(entry));
  if ((progress != nullptr && progress->isUnderWay) || !isUnseen(entry)) return true;
  if (progress != nullptr && progress->isDone && now_ < progress->notBefore) return false;
  return (progress == nullptr || progress->refusals < kMostRefusals) && isOfUnknownType(entry);
}

DeferralState SeenDeletions::deferralState(size_t entry) const {
  const DeferredDeletionProgress* progress = progress_(uid(entry));
  return progress != nullptr && progress->waits && now_ < progress->notBefore ? DeferralState::Waits
                                                                              : DeferralState::Stands;
}

bool SeenDeletions::isUnseen(size_t entry) const {
  const auto found = view_.graph().find(object(entry));
  return !found || !view_.graph().hasUid(*found, uid(entry)) || view_.graph().isTerminating(*found);
}

bool SeenDeletions::isOfUnknownType(size_t entry) const {
  return !graph::isBelievable(view_.graph(), object(entry).type);
}

const std::vector<size_t>* SeenDeletions::beforeOf(size_t entry) const {
  const kube::ObjectKey& key = object(entry);
  const auto of = [&](const Entries& entries) {
    const auto found = entries.find(key.name);
    return found == entries.end() ? nullptr : &found->second;
  };
  if (key.type == kube::kNamespaces) return of(inSpace_);
  if (key.type == kube::kCustomResourceDefinitions) return of(ofType_);
  return key.type == criticalservice::criticalServiceType() ? of(in_) : nullptr;
}

DeferredDeletionJob jobOf(const SeenDeletions& seen, const std::vector<DeferredDeletionEntry>& entries,
                          size_t entry) {
  if (control::fateOf(seen, entry) == Fate::Delete) return DeferredDeletionJob::Delete;
  return seen.isGone(entry) || entries[entry].isRevoked ? DeferredDeletionJob::Look
                                                        : DeferredDeletionJob::None;
}

FateAsRead fateAsRead(const OwnedObject& object, const LazyCheck& isWanted, const LazyCheck& isAllowed) {
  const ReadDeletion facts(isWanted, isAllowed);
  FateAsRead read;
  read.fate = control::fateAlone(facts, object);
  if (read.fate != Fate::Wait) return read;
  read.waits = ReadDeletion::deferralState(object) == DeferralState::Waits;
  read.problem = read.waits ? object.heldBackBy : facts.problem();
  return read;
}

}  // namespace lastout::server
