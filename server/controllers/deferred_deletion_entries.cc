#include "server/controllers/deferred_deletion_entries.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "admission/deferral.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using criticalservice::DeferredDeletion;

// The usual controllers delete what owners or namespaces take along, and nothing else.
control::RequestProof proofOf(const DeferredDeletion& deletion, const Requesters& requesters) {
  using control::RequestProof;
  if (!requesters.personsCount) return RequestProof::None;
  if (!requesters.isController(deletion.requestedBy)) return RequestProof::OfPerson;
  const bool isUsual = usualControllers().contains(deletion.requestedBy);
  return isUsual || !deletion.owners.empty() ? RequestProof::None : RequestProof::OfUnowned;
}

// Of an object that has an entry already the annotation counts for more.
void addAnnotated(const admission::ClusterView& view, const AnnotationsNow& annotations,
                  std::map<std::string, DeferredDeletionEntry>& byUid) {
  for (const CountingAnnotation& one : countingAnnotations(view, annotations)) {
    DeferredDeletionEntry& entry = byUid.try_emplace(one.annotated.uid).first->second;
    entry.deletion = deletionBy(one.object, one.annotated.uid);
    entry.byController = false;
    entry.proof = control::RequestProof::OfPerson;
    entry.isWanted = true;
    entry.isRevoked = false;
    entry.isProvider = entry.isProvider || one.object == one.guard.provider;
    entry.neededBy = std::nullopt;
    entry.work.clear();
    entry.annotation = one.annotated.value;
    entry.until = one.until;
    entry.guard = one.guard.meta.name;
    entry.guardUid = one.guard.meta.uid;
  }
}

}  // namespace

// What a CriticalService neither guards nor could need was written by somebody else, and is not wanted. What
// its provider may have needed, although nothing tells so any more (the binding that named a role is gone),
// waits until the provider is gone. Of users that are no controllers to this lastout they may be to the next:
// what they asked for is kept, and left alone.
std::vector<DeferredDeletionEntry> deferredDeletionEntriesIn(const ViewOfWorks& works,
                                                             const Requesters& requesters,
                                                             const AnnotationsNow& annotations) {
  const admission::ClusterView& view = works.view;
  std::map<std::string, DeferredDeletionEntry> byUid;
  for (const criticalservice::CriticalService* service : view.services()) {
    const uint32_t number = view.guards().find(service->meta.name);
    for (const DeferredDeletion& deletion : service->deferredDeletions.deletions) {
      DeferredDeletionEntry& entry = byUid.try_emplace(deletion.uid).first->second;
      const bool byController = requesters.isController(deletion.requestedBy);
      const bool isGuarded = std::ranges::binary_search(view.servicesRecording(deletion.object), number);
      const bool isInDoubt = !isGuarded && criticalservice::couldNeed(*service, deletion.object);
      const bool isRevoked =
          service->deferral == criticalservice::DeferralMode::Never || (!isGuarded && !isInDoubt);
      const bool isWanted = !isRevoked && admission::isDeferred(service->deferral, byController) &&
                            (isGuarded || graph::isKnownToBeGone(view.graph(), service->provider));
      entry.isRevoked = entry.isRevoked && isRevoked;
      entry.isProvider = entry.isProvider || deletion.object == service->provider;
      entry.statusEntries.push_back({service->meta.name, service->meta.uid, deletion, isWanted});
      const control::RequestProof proof = proofOf(deletion, requesters);
      const auto weight = [](bool wanted, control::RequestProof proof, int64_t at) {
        return std::tuple(wanted, proof, at);
      };
      if (entry.statusEntries.size() > 1 &&
          weight(isWanted, proof, deletion.requestedAt) <=
              weight(entry.isWanted, entry.proof, entry.deletion.requestedAt))
        continue;
      entry.deletion = deletion;
      entry.byController = byController;
      entry.proof = proof;
      entry.isWanted = isWanted;
      entry.neededBy = isInDoubt ? std::optional(service->provider) : std::nullopt;
    }
  }
  for (const DeferredDeletionOfWork& left : deferredDeletionsOf(works)) {
    DeferredDeletionEntry& entry = byUid.try_emplace(left.deletion.uid).first->second;
    if (entry.isWanted) continue;
    entry.deletion = left.deletion;
    entry.byController = true;
    entry.proof = control::RequestProof::None;
    entry.isWanted = true;
    entry.isRevoked = false;
    entry.work = left.work;
    entry.workUid = left.workUid;
  }
  addAnnotated(view, annotations, byUid);
  std::vector<DeferredDeletionEntry> entries;
  entries.reserve(byUid.size());
  for (auto& [uid, entry] : byUid) entries.push_back(std::move(entry));
  std::ranges::stable_sort(entries, std::ranges::greater(), &DeferredDeletionEntry::isProvider);
  return entries;
}

tl::expected<std::optional<kube::Value>, std::string> readRecordingService(
    client::ApiServer& server, const LiveView& view, const std::string& service,
    std::chrono::milliseconds patience) {
  const auto type = view.find(criticalservice::criticalServiceType());
  if (!type) return std::nullopt;
  auto read = ObjectClient(server, patience).read(client::objectPath(*type, "", service));
  if (!read) return tl::unexpected(std::move(read.error().why));
  return std::move(*read);
}

}  // namespace lastout::server
