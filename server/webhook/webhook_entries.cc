#include "server/webhook/webhook_entries.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "criticalservice/critical_service.h"
#include "criticalservice/validation.h"
#include "kube/names.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "server/webhook/sentinel.h"
#include "tls/openssl.h"

namespace lastout::server {
namespace {

using kube::Json;
using Literals = std::vector<std::string>;

constexpr const char* kServicesWebhook = "criticalservices.lastout.dev";
constexpr const char* kPolicyWritesWebhook = "policy-writes.lastout.dev";
constexpr const char* kNamespacesWebhook = "namespaces.lastout.dev";
constexpr const char* kDeletionsWebhook = "deletions.lastout.dev";
constexpr const char* kOwnDomain = ".lastout.dev";
constexpr const char* kPoliciesWebhook = "deletionpolicies.lastout.dev";
constexpr size_t kDigestBytes = 8;
constexpr size_t kMostLiteralBytes = 2'000;  // of one object; names of Roles may be of any length
// request.name is not there when a collection is deleted; oldObject is, in every DELETE and UPDATE.
constexpr const char* kNamespacedName = "(oldObject.metadata.namespace + '/' + oldObject.metadata.name) in [";
constexpr const char* kClusterName = "oldObject.metadata.name in [";

Json rule(const std::vector<std::string>& operations, const std::string& group,
          std::vector<std::string> resources, const char* scope = "*") {
  return {{"operations", operations},
          {"apiGroups", {group}},
          {"apiVersions", {"*"}},
          {"resources", std::move(resources)},
          {"scope", scope}};
}

Json deletionsOf(const kube::GroupResource& type, const char* scope = "*") {
  return rule({"DELETE"}, type.group, {type.resource}, scope);
}

Json updatesOf(const kube::GroupResource& type, const char* scope = "*") {
  return rule({"UPDATE"}, type.group, {type.resource, type.resource + "/scale"}, scope);
}

Json selector(const char* how, const Json& namespaces) {
  Json expression = {{"key", kube::kNamespaceNameLabel}, {"operator", how}};
  if (!namespaces.empty()) expression["values"] = namespaces;
  return {{"matchExpressions", Json::array({std::move(expression)})}};
}

Json outsideOf(const std::string& ownNamespace) { return selector("NotIn", unaskedNamespaces(ownNamespace)); }

// What is in no namespace matches every selector by namespace, also the one that no namespace does, as each
// has this label.
Json withinAny(const std::set<std::string>& namespaces) {
  return namespaces.empty() ? selector("DoesNotExist", {}) : selector("In", namespaces);
}

// Every CriticalService is guarded, so whatever is done to one is reviewed, also to one that is not known
// yet.
WebhookEntry entryOfServices(bool withDeletions) {
  const kube::GroupResource type = criticalservice::criticalServiceType();
  std::vector<std::string> operations{"CREATE", "UPDATE"};
  if (withDeletions) operations.emplace_back("DELETE");
  return {kServicesWebhook, Json::array({rule(operations, type.group, {type.resource})}), Json::object()};
}

// A selector by namespace looks at a Namespace's own labels, so Namespaces have a webhook of their own.
void addNamespaces(std::vector<WebhookEntry>& entries, const ReviewedObjects& objects) {
  Json names = Json::array();
  for (const kube::ObjectKey& object : objects.deleted)
    if (object.type == kube::kNamespaces) names.push_back(object.name);
  if (!names.empty())
    entries.push_back(
        {kNamespacesWebhook, Json::array({deletionsOf(kube::kNamespaces)}), selector("In", names)});
}

// Names of webhooks, each given once. Anybody may name a type whose name would be another webhook's.
class EntryNames {
 public:
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int salt = 0; !kube::isDnsSubdomain(name) || taken_.contains(name); ++salt)
      name = "webhook-" + tls::digestOf(std::to_string(salt) + wanted, kDigestBytes) + kOwnDomain;
    taken_.insert(name);
    return name;
  }

 private:
  std::set<std::string> taken_{kServicesWebhook, kPolicyWritesWebhook, kNamespacesWebhook, kDeletionsWebhook,
                               kSentinelWebhookName};
};

// One webhook for the listed objects of one type, or several where they are many.
void addListed(std::vector<WebhookEntry>& entries, EntryNames& names, const std::string& name,
               const WebhookEntry& common, const char* begin, const Literals& literals) {
  std::string condition;
  size_t part = 0;
  const auto end = [&] {
    WebhookEntry entry = common;
    entry.name = names.take((++part == 1 ? "" : std::to_string(part) + ".") + name);
    entry.condition = std::exchange(condition, "") + "]";
    entries.push_back(std::move(entry));
  };
  for (const std::string& literal : literals) {
    if (!condition.empty() && condition.size() + literal.size() + 2 > kMostConditionBytes) end();
    condition += (condition.empty() ? begin : ",") + literal;
  }
  if (!condition.empty()) end();
}

std::string nameFor(const kube::GroupResource& type) { return kube::toString(type) + kOwnDomain; }

using ListedByType = std::map<kube::GroupResource, Literals>;

ListedByType listed(const std::set<kube::ObjectKey>& objects, bool namespaced, const Places& whole = {}) {
  ListedByType byType;
  for (const kube::ObjectKey& object : objects) {
    if (object.type == kube::kNamespaces || object.namespaceName.empty() == namespaced) continue;
    if (!whole.contains(placeOf(object))) byType[object.type].push_back(literalOf(object));
  }
  return byType;
}

// One webhook for all places of a type.
void addWhole(std::vector<WebhookEntry>& entries, EntryNames& names, const Places& whole) {
  std::map<kube::GroupResource, std::set<std::string>> namespaces;
  for (const kube::ObjectKey& place : whole) {
    std::set<std::string>& ofType = namespaces[place.type];
    if (!place.namespaceName.empty()) ofType.insert(place.namespaceName);
  }
  for (const auto& [type, spaces] : namespaces)
    entries.push_back({names.take("all." + nameFor(type)),
                       Json::array({deletionsOf(type, spaces.empty() ? "Cluster" : "Namespaced")}),
                       withinAny(spaces)});
}

void addClusterScoped(std::vector<WebhookEntry>& entries, EntryNames& names, const ReviewedObjects& objects,
                      const Places& whole) {
  for (const auto& [type, literals] : listed(objects.scaled, false))
    addListed(entries, names, "scale." + nameFor(type),
              {"", Json::array({updatesOf(type, "Cluster")}), Json::object()}, kClusterName, literals);
  for (const auto& [type, literals] : listed(objects.deleted, false, whole))
    addListed(entries, names, nameFor(type),
              {"", Json::array({deletionsOf(type, "Cluster")}), Json::object()}, kClusterName, literals);
}

}  // namespace

std::vector<std::string> unaskedNamespaces(const std::string& ownNamespace) {
  std::vector<std::string> spaces{std::string(criticalservice::kExcludedNamespace)};
  if (!ownNamespace.empty()) spaces.push_back(ownNamespace);
  return spaces;
}

std::vector<WebhookEntry> entriesByObject(const ReviewedObjects& objects, const std::string& ownNamespace,
                                          Places whole) {
  std::vector<WebhookEntry> entries{entryOfServices(true)};
  EntryNames names;
  for (const kube::ObjectKey& object : objects.deleted) {
    if (literalOf(object).size() > kMostLiteralBytes) whole.insert(placeOf(object));
  }
  addWhole(entries, names, whole);
  for (const auto& [type, literals] : listed(objects.deleted, true, whole))
    addListed(entries, names, nameFor(type),
              {"", Json::array({deletionsOf(type, "Namespaced")}), outsideOf(ownNamespace)}, kNamespacedName,
              literals);
  for (const auto& [type, literals] : listed(objects.scaled, true))
    addListed(entries, names, "scale." + nameFor(type),
              {"", Json::array({updatesOf(type, "Namespaced")}), outsideOf(ownNamespace)}, kNamespacedName,
              literals);
  addClusterScoped(entries, names, objects, whole);
  addNamespaces(entries, objects);
  return entries;
}

std::vector<WebhookEntry> entriesByType(const ReviewedObjects& objects, const std::string& ownNamespace) {
  std::set<kube::GroupResource> everywhere = objects.providers;
  everywhere.insert({kube::kCustomResourceDefinitions, criticalservice::criticalServiceType()});
  Json deletions = Json::array();
  for (const kube::GroupResource& type : everywhere) deletions.push_back(deletionsOf(type));
  std::set<kube::GroupResource> scaled;
  for (const kube::ObjectKey& object : objects.scaled) scaled.insert(object.type);
  for (const kube::GroupResource& type : scaled) deletions.push_back(updatesOf(type));
  std::vector<WebhookEntry> entries{
      entryOfServices(false),
      {kDeletionsWebhook, std::move(deletions), outsideOf(ownNamespace)},
      {kNamespacesWebhook, Json::array({deletionsOf(kube::kNamespaces)}), outsideOf("")}};
  std::set<kube::GroupResource> needed;
  std::set<std::string> neededIn;
  for (const kube::ObjectKey& object : objects.deleted) {
    if (everywhere.contains(object.type) || object.type == kube::kNamespaces) continue;
    needed.insert(object.type);
    if (!object.namespaceName.empty()) neededIn.insert(object.namespaceName);
  }
  Json rules = Json::array();
  for (const kube::GroupResource& type : needed) rules.push_back(deletionsOf(type));
  if (!needed.empty()) entries.push_back({"dependencies.lastout.dev", std::move(rules), withinAny(neededIn)});
  return entries;
}

std::vector<WebhookEntry> entriesOfPolicies(const ReviewedObjects& objects,
                                            const std::vector<WebhookEntry>& others, bool withConditions) {
  std::vector<WebhookEntry> entries = objects.policies;
  EntryNames names;
  for (const WebhookEntry& other : others) names.take(other.name);
  std::map<std::string, size_t> parts;  // of each name
  for (WebhookEntry& entry : entries) {
    const std::string name = entry.name.empty() ? kPoliciesWebhook : entry.name;
    const size_t part = ++parts[name];
    entry.name = names.take((part == 1 ? "" : std::to_string(part) + ".") + name);
    if (!withConditions) entry.condition.clear();
  }
  return entries;
}

WebhookEntry entryOfPolicyWrites() {
  const kube::GroupResource type = protection::deletionPolicyType();
  WebhookEntry entry{kPolicyWritesWebhook,
                     Json::array({rule({"CREATE", "UPDATE"}, type.group, {type.resource})}), Json::object()};
  entry.failsClosed = false;
  return entry;
}

// Policies name theirs as they like (webhookName); all others are of lastout.dev.
bool isNameForPolicies(std::string_view name) {
  return name.ends_with(kPoliciesWebhook) || !name.ends_with(kOwnDomain);
}

}  // namespace lastout::server
