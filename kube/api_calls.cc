#include "kube/api_calls.h"

#include <algorithm>

#include "kube/builtin_types.h"
#include "kube/crd.h"
#include "kube/fields.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

CallAddress addressIn(const Value* client) {
  const Value* service = client == nullptr ? nullptr : client->find("service");
  if (service == nullptr) return {};
  CallAddress address{.service = {kServices, textAt(*service, {"namespace"}), textAt(*service, {"name"})}};
  if (const Value* port = service->find("port"); port != nullptr && port->asInteger() != nullptr)
    address.port = *port->asInteger();
  return address;
}

CalledWebhook webhookOf(const Value& webhook) {
  CalledWebhook result;
  result.name = textAt(webhook, {"name"});
  result.address = addressIn(webhook.find("clientConfig"));
  result.failureIsIgnored = textAt(webhook, {"failurePolicy"}) == "Ignore";
  result.hasMatchConditions = !listAt(webhook, {"matchConditions"}).empty();
  result.matchesExactly = textAt(webhook, {"matchPolicy"}) == "Exact";
  Errors ignored;  // what cannot be understood is left out
  Fields fields(webhook, "", "", ignored);
  for (Fields& rule : fields.items("rules")) result.matches.rules.push_back(readRule(rule));
  result.matches.namespaceSelector = selectorIn(webhook, "namespaceSelector");
  result.matches.objectSelector = selectorIn(webhook, "objectSelector");
  return result;
}

// What is updated when the controller of the type takes its own finalizer off an object, and before that: the
// Pods of a Job are counted in its status. Empty: the object itself.
std::vector<std::string_view> cleanupSubresources(const GroupResource& type) {
  if (type == kNamespaces) return {"finalize"};
  if (type == kCustomResourceDefinitions || type == kServices || type == kJobs) return {"status"};
  if (type == kAppliedManifestWorks) return {"", "status"};
  return {""};
}

bool isServed(const Value& version) {
  const Value* served = version.find("served");
  return served == nullptr || served->asBool() == nullptr || *served->asBool();
}

bool isStorage(const Value& version) {
  const Value* storage = version.find("storage");
  return storage != nullptr && storage->asBool() != nullptr && *storage->asBool();
}

// Returns the number of an entry of spec.ports that API servers can call (over TCP); nullopt: they cannot.
std::optional<int64_t> calledPortIn(const Value& entry) {
  const Value* number = entry.find("port");
  const std::string& protocol = textAt(entry, {"protocol"});
  const bool isTcp = protocol.empty() || protocol == "TCP";
  if (!isTcp || number == nullptr || number->asInteger() == nullptr) return std::nullopt;
  return *number->asInteger();
}

// Returns the entry of spec.ports with that number, over TCP; nullptr: there is none.
const Value* portOf(const Value& service, int64_t port) {
  for (const Value& one : listAt(service, {"spec", "ports"}))
    if (calledPortIn(one) == port) return &one;
  return nullptr;
}

// `otherwise`: what it is where the endpoint does not say.
bool hasCondition(const Value& endpoint, std::string_view name, bool otherwise) {
  const Value* value = endpoint.at({"conditions", name});
  return value == nullptr || value->asBool() == nullptr ? otherwise : *value->asBool();
}

// All objects are stored in the storage version.
bool hasOneStoredVersion(const Value& crd) {
  const std::string_view stored = storageVersionOf(crd);
  const Value::List& storedVersions = listAt(crd, {"status", "storedVersions"});
  return !stored.empty() &&
         std::all_of(storedVersions.begin(), storedVersions.end(), [&](const Value& version) {
           return version.asString() != nullptr && *version.asString() == stored;
         });
}

// All objects are stored in the only version that is served.
bool hasOneVersion(const Value& crd) {
  size_t served = 0;
  bool servesStored = false;
  for (const Value& version : listAt(crd, {"spec", "versions"})) {
    if (!isServed(version)) continue;
    ++served;
    servesStored = servesStored || isStorage(version);
  }
  return served == 1 && servesStored && hasOneStoredVersion(crd);
}

}  // namespace

std::vector<CalledWebhook> webhooksOf(const GroupResource& type, const Value& configuration) {
  std::vector<CalledWebhook> webhooks;
  if (type != kValidatingWebhookConfigurations && type != kMutatingWebhookConfigurations) return webhooks;
  const Value::List& items = listAt(configuration, {"webhooks"});
  webhooks.reserve(items.size());
  for (const Value& webhook : items) webhooks.push_back(webhookOf(webhook));
  return webhooks;
}

ReviewedOperations reviewedOperations(const CalledWebhook& webhook, const ObjectKey& object,
                                      const Labels& labels, const Labels* namespaceLabels,
                                      const std::vector<std::string>& versions) {
  ReviewedOperations result;
  // Webhook configurations themselves are exempt (docs/semantics.md, "The rules").
  if (object.type.group == kAdmissionRegistrationGroup) return result;
  if (webhook.matches.rules.empty()) return result;
  // A manifest need not have the label that every Namespace gets.
  Labels labelsOfNamespace = namespaceLabels == nullptr ? Labels() : *namespaceLabels;
  labelsOfNamespace.emplace(kNamespaceNameLabel,
                            object.type == kNamespaces ? object.name : object.namespaceName);
  const auto reachesType = [&](std::string_view operation, const GroupResource& type,
                               std::string_view subresource, const Labels& labelsOfObject) {
    AdmissionAttributes request{.operation = operation,
                                .type = type,
                                .version = {},
                                .subresource = subresource,
                                .namespaceName = object.namespaceName,
                                .name = object.name};
    const auto matches = [&](std::string_view version) {
      request.version = version;
      return matchesRules(webhook.matches, request);
    };
    const bool matchesAny =
        versions.empty() ? matches({}) : std::any_of(versions.begin(), versions.end(), matches);
    return webhook.matches.objectSelector.matches(labelsOfObject) && matchesAny &&
           (namespaceLabels == nullptr || matchesNamespace(webhook.matches, request, labelsOfNamespace));
  };
  // Events are served in two groups, and webhooks are called for requests in an equivalent one, too.
  const auto reaches = [&](std::string_view operation, const GroupResource& type,
                           std::string_view subresource, const Labels& labelsOfObject) {
    return reachesType(operation, type, subresource, labelsOfObject) ||
           (type == kEvents && reachesType(operation, kEventsOfLater, subresource, labelsOfObject));
  };
  result.onCreate = reaches("CREATE", object.type, {}, labels);
  result.onUpdate = reaches("UPDATE", object.type, {}, labels);
  result.onStatus = reaches("UPDATE", object.type, "status", labels);
  result.onDelete = reaches("DELETE", object.type, {}, labels);
  for (const std::string_view subresource : cleanupSubresources(object.type))
    result.onCleanup = result.onCleanup || reaches("UPDATE", object.type, subresource, labels);
  result.onVolumeRelease = object.type == kPersistentVolumes && result.onStatus;
  // The scheduler's Binding and a TokenRequest have no labels.
  const bool onToken = reaches("CREATE", kServiceAccounts, "token", {});
  result.onToken = object.type == kServiceAccounts && onToken;
  if (object.type == kPods) {
    result.onStop = result.onStatus || result.onDelete;
    result.onStart = reaches("CREATE", kPods, "binding", {}) || onToken || result.onStatus;
  }
  return result;
}

bool isRemovedByStatus(const GroupResource& type, std::string_view finalizer) {
  return type == kServices && finalizer == kLoadBalancerFinalizer;
}

std::vector<std::string> servedVersions(const GroupResource& type, const Value* crd,
                                        KubernetesVersion kubernetes) {
  std::vector<std::string> versions;
  if (crd == nullptr) {
    const KnownType* known = findBuiltInType(type);
    if (known == nullptr) return versions;
    versions.emplace_back(known->version);
    if (!known->otherVersion.empty() && servesOtherVersion(*known, kubernetes))
      versions.emplace_back(known->otherVersion);
    return versions;
  }
  for (const Value& version : listAt(*crd, {"spec", "versions"})) {
    if (isServed(version)) versions.push_back(textAt(version, {"name"}));
  }
  return versions;
}

std::optional<CallAddress> conversionOf(const Value& crd) {
  const Value* conversion = crd.at({"spec", "conversion"});
  if (conversion == nullptr || textAt(*conversion, {"strategy"}) != "Webhook") return std::nullopt;
  return addressIn(conversion->at({"webhook", "clientConfig"}));
}

std::optional<CallAddress> calledConversionOf(const Value& crd) {
  return hasOneVersion(crd) ? std::nullopt : conversionOf(crd);
}

std::string_view storageVersionOf(const Value& crd) {
  std::string_view stored;
  for (const Value& version : listAt(crd, {"spec", "versions"})) {
    if (isStorage(version)) stored = textAt(version, {"name"});
  }
  return stored;
}

bool cleanupConverts(const Value& crd) { return !hasOneStoredVersion(crd); }

bool preferredVersionConverts(const Value& crd) {
  Errors ignored;  // what cannot be understood is left out
  const std::string preferred = readCrd(crd, {}, ignored).resourceType().version;
  return cleanupConverts(crd) || storageVersionOf(crd) != preferred;
}

std::optional<CallAddress> aggregatedServerOf(const Value& apiService) {
  const CallAddress address = addressIn(apiService.find("spec"));
  return address.isUrl() ? std::nullopt : std::optional<CallAddress>(address);
}

bool isHeadless(const Value& service) { return textAt(service, {"spec", "clusterIP"}) == "None"; }

// As ResolveCluster() of k8s.io/apiserver resolves it.
std::string whyUnreachable(const Value& service, int64_t port) {
  if (endpointSourceOf(service) == EndpointSource::External) return {};
  if (isHeadless(service))
    return "is headless (clusterIP: None), which API servers cannot route to without "
           "--enable-aggregator-routing";
  const bool hasPort = listAt(service, {"spec", "ports"}).empty() || portOf(service, port) != nullptr;
  return hasPort ? std::string() : "has no port " + std::to_string(port);
}

std::map<int64_t, std::string> calledPortsOf(const Value& service) {
  std::map<int64_t, std::string> ports;
  for (const Value& one : listAt(service, {"spec", "ports"}))
    if (const auto number = calledPortIn(one)) ports.emplace(*number, textAt(one, {"targetPort"}));
  return ports;
}

std::string targetPortName(const Value& service, int64_t port) {
  const Value* found = portOf(service, port);
  return found == nullptr ? std::string() : textAt(*found, {"targetPort"});
}

bool isReadyEndpoint(const Value& endpoint) { return hasCondition(endpoint, "ready", true); }

bool mayAnswer(const Value& endpoint) {
  return isReadyEndpoint(endpoint) ||
         (hasCondition(endpoint, "serving", false) && hasCondition(endpoint, "terminating", false));
}

bool hasEndpointPort(const Value& slice, const Value& service, int64_t port) {
  const Value* called = portOf(service, port);
  const Value::List& ports = listAt(slice, {"ports"});
  return called == nullptr || std::any_of(ports.begin(), ports.end(), [&](const Value& one) {
           return textAt(one, {"name"}) == textAt(*called, {"name"});
         });
}

bool isSliceOf(const Object& slice, const ObjectKey& service) {
  const auto label = slice.meta.labels.find(std::string(kServiceNameLabel));
  return slice.key.type == kEndpointSlices && slice.key.namespaceName == service.namespaceName &&
         label != slice.meta.labels.end() && label->second == service.name;
}

bool hasAnsweringEndpoint(const Object& slice, const Object& service, int64_t port) {
  return isSliceOf(slice, service.key) && hasEndpointPort(slice.content, service.content, port) &&
         std::ranges::any_of(listAt(slice.content, {"endpoints"}), mayAnswer);
}

std::string lacksTargetPort(const std::string& name) {
  return "calls the port " + name + " of its Pods, which no container of theirs has";
}

EndpointSource endpointSourceOf(const Value& service) {
  if (textAt(service, {"spec", "type"}) == "ExternalName") return EndpointSource::External;
  const Value* selector = service.at({"spec", "selector"});
  const bool selects = selector != nullptr && selector->asMap() != nullptr && !selector->asMap()->empty();
  return selects ? EndpointSource::Pods : EndpointSource::ByHand;
}

}  // namespace lastout::kube
