// The writes of DeferredDeletionStore to the status of one CriticalService.
#include <algorithm>
#include <utility>

#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/value.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

using criticalservice::DeferredDeletion;
using criticalservice::DeferredDeletions;

// Reads the status as it is now, so that nothing is lost that another lastout wrote. If the result is too
// large for the API server, it tries half as many deletions, and half of that, down to the count of what was
// not recorded.
DeferredDeletionStore::Written DeferredDeletionStore::write(const std::string& service,
                                                            const Changes& changes) {
  const auto type = view_.find(criticalservice::criticalServiceType());
  if (!type) {
    const bool isGone = view_.knowledge(criticalservice::criticalServiceType()) == graph::Knowledge::Absent;
    return isGone ? Written::Done : Written::Later;
  }
  client::ApiRequest request;
  request.target = client::objectPath(*type, "", service);
  const auto object = ask(service, request);
  if (!object) return object.error();
  const DeferredDeletions standing = criticalservice::readDeferredDeletions(*object);
  for (size_t most = criticalservice::kMostDeferredDeletions;;) {
    const StatusUpdate wanted = outcomeOf(changes, *object, most);
    if (wanted.deferredDeletions == standing) {
      problems_.note("");
      return Written::Done;
    }
    const Written written = patch(request.target, service, *object, wanted);
    if (written != Written::TooLarge || most == 0) return written;
    most = std::min(most, wanted.deferredDeletions.deletions.size()) / 2;
  }
}

// Nothing new beside so many.
DeferredDeletionStore::StatusUpdate DeferredDeletionStore::outcomeOf(const Changes& changes,
                                                                     const kube::Value& object,
                                                                     size_t most) const {
  const criticalservice::DeferralMode deferral = criticalservice::readDeferralMode(object);
  StatusUpdate wanted{criticalservice::readDeferredDeletions(object), {}};
  std::erase_if(wanted.deferredDeletions.deletions, [&](const DeferredDeletion& deletion) {
    const auto forgotten = changes.forgotten.find(deletion.uid);
    return forgotten != changes.forgotten.end() && forgotten->second == deletion;
  });
  for (const auto& [uid, deletion] : changes.recorded) {
    if (isRecordedIn(deferral, wanted.deferredDeletions, deletion)) continue;
    const bool isRecorded = criticalservice::add(wanted.deferredDeletions, deletion, most);
    wanted.news.push_back(
        {isRecorded ? DeferredDeletionEvent::Kind::Recorded : DeferredDeletionEvent::Kind::NotRecorded,
         deletion,
         kube::textAt(object, {"metadata", "name"}),
         kube::textAt(object, {"metadata", "uid"}),
         {}});
  }
  return wanted;
}

DeferredDeletionStore::Written DeferredDeletionStore::patch(const std::string& path,
                                                            const std::string& service,
                                                            const kube::Value& object,
                                                            const StatusUpdate& wanted) {
  client::ApiRequest request = client::mergePatch(
      path + "/status",
      {{"metadata", {{"resourceVersion", kube::textAt(object, {"metadata", "resourceVersion"})}}},
       {"status", criticalservice::patchOf(wanted.deferredDeletions)}});
  const auto written = ask(service, request);
  if (!written) return written.error();
  if (criticalservice::readDeferredDeletions(*written) != wanted.deferredDeletions) {
    problems_.note(criticalservice::nameInWords(service) +
                   " does not keep them: its CRD is of an older lastout");
    return Written::Later;
  }
  problems_.note("");
  for (const DeferredDeletionEvent& one : wanted.news) options_.told(one);
  return Written::Done;
}

// What the API server answers with: the CriticalService. Fails with what to do about its refusal.
tl::expected<kube::Value, DeferredDeletionStore::Written> DeferredDeletionStore::ask(
    const std::string& service, const client::ApiRequest& request) {
  auto object = ObjectClient(*server_, options_.patience).askForObject(request);
  if (object) return std::move(*object);
  const NotDone& refusal = object.error();
  if (isConflict(refusal)) return tl::unexpected(Written::Conflict);
  // It is gone, and guards nothing any more.
  if (client::isAboutObject(refusal.refusal, service)) return tl::unexpected(Written::Done);
  problems_.note(criticalservice::nameInWords(service) + ": " + refusal.why);
  return tl::unexpected(client::isTooLarge(refusal.refusal) ? Written::TooLarge : Written::Later);
}

}  // namespace lastout::server
