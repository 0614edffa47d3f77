#include "server/uninstall/deferred_deletion_sweep.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::server {
namespace {

using criticalservice::DeferredDeletion;
using criticalservice::DeferredDeletions;

constexpr size_t kServicesPage = 50;  // of whole objects
constexpr int kMostForgetConflicts = 10;
constexpr const char* kDeferred = "deferred deletions";

size_t membersIn(const kube::Value& service) {
  size_t members = 0;
  for (const std::string_view field : criticalservice::kDeferredDeletionFields)
    members += kube::listAt(service, {"status", field}).size();
  return members;
}

std::optional<ServiceWithDeferredDeletions> deferredDeletionsIn(const kube::Value& service) {
  DeferredDeletions deferredDeletions = criticalservice::readDeferredDeletions(service);
  const size_t members = membersIn(service);
  if (members == 0 && deferredDeletions.dropped == 0) return std::nullopt;
  const size_t unread = members - deferredDeletions.deletions.size();
  return ServiceWithDeferredDeletions{
      kube::textAt(service, {"metadata", "name"}), kube::textAt(service, {"metadata", "uid"}),
      kube::textAt(service, {"metadata", "resourceVersion"}), std::move(deferredDeletions), unread};
}

std::string wordsOf(const DeferredDeletion& deletion) {
  return kube::printable(toString(deletion.object)) + ", asked for by " +
         kube::printable(deletion.requestedBy);
}

std::string deedOf(const ServiceWithDeferredDeletions& service) {
  const size_t count = service.deferredDeletions.deletions.size() + service.unread;
  if (count == 0) return "freed of what it says of deletions that were dropped";
  return "freed of " + std::to_string(count) + (count == 1 ? " deferred deletion" : " deferred deletions");
}

// Over the version that was seen; whoever was faster is read again.
RequestResult<void> forget(const ObjectClient& objectClient, const std::string& path,
                           ServiceWithDeferredDeletions service) {
  for (int conflicts = 0;; ++conflicts) {
    const auto written = objectClient.write(
        client::mergePatch(path + "/status", {{"metadata", {{"resourceVersion", service.resourceVersion}}},
                                              {"status", criticalservice::patchOf({})}}));
    if (written) return {};
    if (!isConflict(written.error()) || conflicts == kMostForgetConflicts)
      return tl::unexpected(written.error());
    const auto now = objectClient.read(path);
    if (!now) return tl::unexpected(now.error());
    auto withDeferredDeletions = *now ? deferredDeletionsIn(**now) : std::nullopt;
    if (!withDeferredDeletions) return {};
    service = std::move(*withDeferredDeletions);
  }
}

}  // namespace

size_t StandingServices::deletions() const {
  size_t count = 0;
  for (const ServiceWithDeferredDeletions& service : withDeferredDeletions)
    count += service.deferredDeletions.deletions.size() + service.unread;
  return count;
}

RequestResult<StandingServices> readServices(const ObjectClient& objectClient,
                                             const kube::ResourceType& type) {
  StandingServices services;
  std::set<std::string> names;
  std::map<std::string, ServiceWithDeferredDeletions> withDeferredDeletions;
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      names.insert(object.meta.name);
      withDeferredDeletions.erase(object.meta.name);
      if (auto found = deferredDeletionsIn(object.content))
        withDeferredDeletions.emplace(object.meta.name, std::move(*found));
    }
  };
  const auto listed =
      objectClient.list({client::collectionPath(type), client::Content::Whole, kServicesPage}, take);
  if (!listed) return tl::unexpected(listed.error());
  services.count = names.size();
  for (auto& [name, service] : withDeferredDeletions)
    services.withDeferredDeletions.push_back(std::move(service));
  return services;
}

void tellWaiting(const StandingServices& services, UninstallReport& report) {
  for (const ServiceWithDeferredDeletions& service : services.withDeferredDeletions) {
    for (const DeferredDeletion& deletion : service.deferredDeletions.deletions)
      report.noteOne(kDeferred, "  " + wordsOf(deletion));
    if (service.unread > 0)
      report.noteOne(kDeferred, "  of " + criticalservice::nameInWords(service.name) + " " +
                                    std::to_string(service.unread) + " that cannot be understood");
  }
  report.finish(kDeferred);
}

void forgetAll(const ObjectClient& objectClient, const kube::ResourceType& type,
               const StandingServices& services, UninstallReport& report) {
  for (const ServiceWithDeferredDeletions& service : services.withDeferredDeletions) {
    const std::string object = toString(kube::ObjectKey{type.type, "", service.name});
    const std::string deed = deedOf(service);
    if (!report.isDryRun()) {
      const auto forgotten = forget(objectClient, client::objectPath(type, "", service.name), service);
      if (!forgotten) {
        report.refusedOne(kDeferred, object, "be " + deed, forgotten.error());
        continue;
      }
    }
    report.didOne(kDeferred, object, deed);
  }
  report.finish(kDeferred);
}

}  // namespace lastout::server
