#include "server/recorded_deletions.h"

#include <map>
#include <nlohmann/json.hpp>

#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/value.h"
#include "server/controllers/deferred_deletion_event.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/deferred_deletion_sweep.h"

namespace lastout::server {
namespace {

using criticalservice::DeferredDeletion;
using kube::Json;

constexpr size_t kMostReads = 1'000;  // of objects
constexpr int kMostCancelConflicts = 10;
constexpr std::chrono::milliseconds kAnswerPatience{30'000};

// The change of the status; null: the deletion is not recorded there. What else is recorded stays letter by
// letter: an API server with lastout's policy refuses all else.
Json withoutDeletion(const kube::Value& service, const DeferredDeletion& deletion) {
  Json change;
  for (const std::string_view field : criticalservice::kDeferredDeletionFields) {
    const auto& all = kube::listAt(service, {"status", field});
    Json kept = Json::array();
    for (const kube::Value& entry : all) {
      const kube::ObjectKey object{{kube::textAt(entry, {"group"}), kube::textAt(entry, {"resource"})},
                                   kube::textAt(entry, {"namespace"}),
                                   kube::textAt(entry, {"name"})};
      if (object != deletion.object || kube::textAt(entry, {"uid"}) != deletion.uid)
        kept.push_back(Json(kube::toJson(entry)));
    }
    if (kept.size() != all.size()) change[std::string(field)] = std::move(kept);
  }
  return change;
}

std::string stateOf(const ObjectClient& objects, const client::Discovery& discovery,
                    const DeferredDeletion& deletion) {
  const kube::ObjectKey& key = deletion.object;
  const client::DiscoveredType* type = discovery.find(key.type);
  if (type == nullptr) return "Unknown";
  const auto meta = objects.getMetadata(type->type, key.namespaceName, key.name);
  if (!meta) return "Unknown";
  if (!*meta || (*meta)->uid != deletion.uid) return "Gone";
  return (*meta)->deletionTimestamp ? "Terminating" : "Waiting";
}

kube::Error inWords(const NotDone& failure) { return {failure.why, {}, {}}; }

}  // namespace

kube::Result<RecordedDeletions> recordedDeletions(
    client::ApiServer& server, const client::Discovery& discovery,
    const std::function<bool(const kube::ObjectKey& object)>& isMeant) {
  const client::DiscoveredType* type = discovery.find(criticalservice::criticalServiceType());
  if (type == nullptr)
    return tl::unexpected(
        kube::Error{"the cluster serves no CriticalServices: lastout is not installed there", {}, {}});
  const ObjectClient objects(server, kAnswerPatience);
  const auto services = readServices(objects, type->type);
  if (!services) return tl::unexpected(inWords(services.error()));
  RecordedDeletions recorded;
  std::map<std::string, std::string> states;  // by uid: several CriticalServices may record one deletion
  for (const ServiceWithDeferredDeletions& service : services->withDeferredDeletions) {
    if (service.unread > 0) recorded.unclear[service.name] = service.unread;
    for (const DeferredDeletion& deletion : service.deferredDeletions.deletions) {
      if (!isMeant(deletion.object)) continue;
      if (states.size() < kMostReads && !states.contains(deletion.uid))
        states[deletion.uid] = stateOf(objects, discovery, deletion);
      const auto state = states.find(deletion.uid);
      recorded.all.push_back(
          {service.name, service.uid, deletion, state == states.end() ? "Unknown" : state->second});
    }
  }
  return recorded;
}

// Over the version that was read; whoever was faster is read again.
kube::Result<bool> cancelDeletion(client::ApiServer& server, const RecordedDeletion& recorded,
                                  std::chrono::sys_seconds now, std::string& untold) {
  const ObjectClient objects(server, kAnswerPatience);
  const std::string path = client::objectPath({criticalservice::criticalServiceType(), "", recorded.service});
  for (int conflicts = 0;; ++conflicts) {
    const auto service = objects.read(path);
    if (!service) return tl::unexpected(inWords(service.error()));
    Json change = *service ? withoutDeletion(**service, recorded.deletion) : Json();
    if (change.is_null()) return false;
    const std::string& version = kube::textAt(**service, {"metadata", "resourceVersion"});
    const auto written = objects.write(client::mergePatch(
        path + "/status", {{"metadata", {{"resourceVersion", version}}}, {"status", std::move(change)}}));
    if (written && !*written) return false;
    if (written) break;
    if (!isConflict(written.error()) || conflicts == kMostCancelConflicts)
      return tl::unexpected(inWords(written.error()));
  }
  const Event event = eventOf({DeferredDeletionEvent::Kind::TakenBack, recorded.deletion, recorded.service,
                               recorded.serviceUid, "it was cancelled by lastout deferred cancel"});
  const auto told = objects.ask(eventCreation(event, "lastout", "lastout-deferred-cancel", now));
  if (!told) untold = told.error().why;
  return true;
}

}  // namespace lastout::server
