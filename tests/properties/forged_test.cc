// What status.deferredDeletions says is a hint: whatever stands there, nothing is deleted that the API
// server's own facts do not let go.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/api_server.h"
#include "kube/parse.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/controllers/owned_object.h"
#include "tests/properties/cluster_spec.h"
#include "tests/properties/coverage.h"
#include "tests/properties/forged_history.h"
#include "tests/properties/runs.h"
#include "tests/properties/shrink.h"

namespace lastout::testing {
namespace {

using client::SyncStatus;
using criticalservice::DeferredDeletion;

std::string metadataOf(const ForgedObject& object) {
  std::string owners;
  for (const ForgedObject::Owner& owner : object.owners) {
    const kube::ResourceType* type = specTypes().find(owner.object.type);
    const std::string version =
        type->type.group.empty() ? type->version : type->type.group + "/" + type->version;
    owners += (owners.empty() ? "" : ",") + (R"({"apiVersion":")" + version) + R"(","kind":")" + type->kind +
              R"(","name":")" + owner.object.name + R"(","uid":")" + owner.uid + "\"}";
  }
  const std::string space =
      object.key.namespaceName.empty() ? "" : R"("namespace":")" + object.key.namespaceName + "\",";
  return R"({"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{)" + space +
         R"("name":")" + object.key.name + R"(","uid":")" + object.uid + R"(","resourceVersion":"1",)" +
         (object.isTerminating ? R"("deletionTimestamp":"2026-01-01T00:00:00Z",)" : "") +
         R"("finalizers":[)" + (object.isOrphaning ? R"("orphan")" : "") + R"(],"ownerReferences":[)" +
         owners + "]}}";
}

// Knows these objects, and nothing else.
class PlainServer : public client::ApiServer {
 public:
  explicit PlainServer(const ForgedCluster& cluster) {
    for (const ForgedObject& object : cluster.objects)
      answers_[client::objectPath(*specTypes().find(object.key.type), object.key.namespaceName,
                                  object.key.name)] = metadataOf(object);
  }
  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override {
    const auto found = answers_.find(request.target);
    const std::string name = request.target.substr(request.target.rfind('/') + 1);
    const std::string missing = R"({"kind":"Status","status":"Failure","reason":"NotFound","message":"\")" +
                                name + R"(\" not found","code":404})";
    const std::string& body = found != answers_.end() ? found->second : missing;
    const int status = found != answers_.end() ? 200 : 404;
    if (take(status, "")) take(status, body);
    return client::ApiAnswer{status, {}};
  }
  void stop() override {}

 private:
  std::map<std::string, std::string> answers_;
};

void tellTypes(server::LiveView& view, client::TimePoint now) {
  client::Discovery found;
  found.types = specTypes();
  for (const kube::ResourceType& type : specTypes().types()) {
    client::DiscoveredType served{.type = type, .versions = {type.version}};
    served.canGet = served.canList = served.canWatch = true;
    found.served.emplace(type.type, served);
  }
  view.discovered(std::move(found), now);
}

// As lastout's watches would have told of the cluster.
std::unique_ptr<server::LiveView> viewOf(const ForgedCluster& cluster) {
  const client::TimePoint now{std::chrono::seconds(1'000)};
  auto view = std::make_unique<server::LiveView>(server::LiveViewOptions{});
  tellTypes(*view, now);
  for (const ForgedObject& object : cluster.objects) {
    const bool isSpace = object.key.type == types::kNamespaces;
    client::StreamedObject told;
    told.meta.namespaceName = object.key.namespaceName;
    told.meta.name = object.key.name;
    told.meta.uid = object.uid;
    if (object.isTerminating || (isSpace && cluster.seesAllTerminate)) told.meta.deletionTimestamp = 1;
    if (isSpace || object.key.type == types::kDeployments)
      view->upsert(*specTypes().find(object.key.type), std::move(told), now);
  }
  const kube::ResourceType& type = *specTypes().find(types::kCriticalServices);
  for (const criticalservice::CriticalService& service : cluster.services) {
    client::StreamedObject told;
    told.meta = service.meta;
    told.content = criticalservice::toManifest(service);
    const std::string patch = criticalservice::patchOf(service.deferredDeletions).dump();
    kube::Value status = kube::parseJson(patch, "").value();
    std::get<kube::Value::Map>(told.content.data).push_back({"status", {}, std::move(status)});
    view->upsert(type, std::move(told), now);
  }
  for (const kube::GroupResource& known : {types::kCriticalServices, types::kCrds, types::kNamespaces,
                                           types::kDeployments, types::kConfigMaps, types::kClusterRoles})
    view->know(known, {SyncStatus::State::Synced, true, now, {}}, now);
  return view;
}

// Some CriticalService that guards the object defers what its requester was denied.
bool isAskedFor(const ForgedCluster& cluster, const server::DeferredDeletionEntry& entry) {
  return std::ranges::any_of(cluster.services, [&](const criticalservice::CriticalService& service) {
    const std::vector<DeferredDeletion>& all = service.deferredDeletions.deletions;
    const bool isGuarded = entry.deletion.object == service.provider ||
                           entry.deletion.object == namespaceKey(service.provider.namespaceName) ||
                           std::ranges::count(service.dependencies.listed, entry.deletion.object) > 0;
    return isGuarded && service.deferral != criticalservice::DeferralMode::Never &&
           std::ranges::count(all, entry.deletion) > 0;
  });
}

// As DeferredDeletionRunner decides, but for the verdict, which is another property's.
bool wouldDelete(const server::DeferredDeletionEntry& entry, const server::OwnedObject& object) {
  return entry.isWanted && object.isThere &&
         control::deferralStateOf(object.facts) == control::DeferralState::Stands;
}

bool isAdopted(const ForgedObject& object, const DeferredDeletion& deletion) {
  return std::ranges::any_of(object.owners, [&](const ForgedObject::Owner& owner) {
    return std::ranges::count(deletion.owners, owner.uid) == 0;
  });
}

std::string checkEntry(const ForgedCluster& cluster, const server::LiveView& view,
                       const server::DeferredDeletionEntry& entry, Coverage& coverage) {
  PlainServer server(cluster);
  const auto object = server::OwnedObjects(server, view, std::chrono::seconds(1)).read(entry);
  if (!object) return "an object cannot be read: " + object.error();
  const bool deletes = wouldDelete(entry, *object);
  const std::string name = kube::toString(entry.deletion.object) + ", as \"" + entry.deletion.requestedBy +
                           "\" is said to have asked";
  const bool mayGo = isLawful(cluster, entry.deletion);
  if (deletes && !mayGo) return "lastout deletes what nobody may have deleted: " + name;
  if (deletes && !isAskedFor(cluster, entry)) return "lastout deletes what is not to be deferred: " + name;
  const ForgedObject* there = objectOf(cluster, entry.deletion);
  if (there != nullptr && entry.isWanted && !deletes && goesByTheDocument(cluster, *there) &&
      !isAdopted(*there, entry.deletion))
    return "lastout leaves what goes anyway: " + name;
  coverage.count(deletes ? "run" : there == nullptr ? "not there" : "left alone");
  if (!mayGo && there != nullptr && entry.isWanted) coverage.count("forged");
  if (deletes && !goesByTheDocument(cluster, *there)) coverage.count("asked for by a person that counts");
  if (deletes && there->owners.empty()) coverage.count("run, without owners");
  if (deletes && !there->owners.empty()) coverage.count("run, with owners");
  return {};
}

std::string forgedFailure(const ForgedCluster& cluster, Coverage& coverage) {
  const std::unique_ptr<server::LiveView> view = viewOf(cluster);
  server::Requesters requesters{.personsCount = cluster.personsCount};
  requesters.controllers.insert(kOtherController);
  std::vector<server::DeferredDeletionEntry> entries;
  view->inspectWorks([&](const server::ViewOfWorks& works) {
    entries = server::deferredDeletionEntriesIn(works, requesters);
  });
  for (const server::DeferredDeletionEntry& entry : entries) {
    if (std::string failure = checkEntry(cluster, *view, entry, coverage); !failure.empty()) return failure;
  }
  return {};
}

ForgedCluster shrinkForged(ForgedCluster cluster) {
  const std::function<bool(const ForgedCluster&)> fails = [](const ForgedCluster& candidate) {
    Coverage ignored;
    return !forgedFailure(candidate, ignored).empty();
  };
  for (bool smaller = true; smaller;) {
    smaller = shrinkList(
        cluster, fails, [](ForgedCluster & one) -> auto& { return one.services; });
    smaller |= shrinkList(
        cluster, fails, [](ForgedCluster & one) -> auto& { return one.objects; });
    for (size_t i = 0; i < cluster.services.size(); ++i)
      smaller |= shrinkList(
          cluster,
          fails, [i](ForgedCluster & one) -> auto& { return one.services[i].deferredDeletions.deletions; });
    for (size_t i = 0; i < cluster.objects.size(); ++i)
      smaller |= shrinkList(
          cluster, fails, [i](ForgedCluster & one) -> auto& { return one.objects[i].owners; });
  }
  return cluster;
}

TEST(ForgedEntries, DeleteNothingThatWouldStay) {
  constexpr uint32_t kRuns = 6'000;
  Coverage coverage;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    const ForgedCluster cluster = forgedCluster(seed);
    const std::string failure = forgedFailure(cluster, coverage);
    if (failure.empty()) continue;
    FAIL() << "seed " << seed << ": " << failure << "\nsmaller:\n" << describe(shrinkForged(cluster));
  }
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missingOf({"run, with owners", "run, without owners", "forged", "left alone",
                                  "not there", "asked for by a person that counts"}),
              "")
        << coverage.text();
  }
}

}  // namespace
}  // namespace lastout::testing
