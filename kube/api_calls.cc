#include "kube/api_calls.h"

#include <algorithm>

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

// The subresource by which Kubernetes takes its own finalizer off an object of that type; empty: the object
// itself.
std::string_view cleanupSubresource(const GroupResource& type) {
  if (type == kNamespaces) return "finalize";
  return type == kCustomResourceDefinitions ? std::string_view("status") : std::string_view();
}

bool isServed(const Value& version) {
  const Value* served = version.find("served");
  return served == nullptr || served->asBool() == nullptr || *served->asBool();
}

bool isStorage(const Value& version) {
  const Value* storage = version.find("storage");
  return storage != nullptr && storage->asBool() != nullptr && *storage->asBool();
}

// All objects are stored in the only version that is served.
bool hasOneVersion(const Value& crd) {
  std::string_view stored;
  size_t served = 0;
  for (const Value& version : listAt(crd, {"spec", "versions"})) {
    if (!isServed(version)) continue;
    ++served;
    if (isStorage(version)) stored = textAt(version, {"name"});
  }
  const Value::List& storedVersions = listAt(crd, {"status", "storedVersions"});
  return served == 1 && !stored.empty() &&
         std::all_of(storedVersions.begin(), storedVersions.end(), [&](const Value& version) {
           return version.asString() != nullptr && *version.asString() == stored;
         });
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
  const auto reaches = [&](std::string_view operation, std::string_view subresource,
                           const Labels& labelsOfObject) {
    AdmissionAttributes request{.operation = operation,
                                .type = object.type,
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
  result.onCreate = reaches("CREATE", {}, labels);
  result.onUpdate = reaches("UPDATE", {}, labels);
  result.onDelete = reaches("DELETE", {}, labels);
  result.onCleanup = reaches("UPDATE", cleanupSubresource(object.type), labels);
  // The scheduler's Binding has no labels.
  if (object.type == kPods)
    result.onStart = reaches("CREATE", "binding", {}) || reaches("UPDATE", "status", labels);
  return result;
}

std::vector<std::string> servedVersions(const GroupResource& type, const Value* crd) {
  // Kubernetes serves one version of these, and a few of other built-in types.
  const bool isBuiltIn = type.group.empty() || type.group == kAppsGroup || type.group == kBatchGroup;
  if (crd == nullptr) return isBuiltIn ? std::vector<std::string>{"v1"} : std::vector<std::string>();
  std::vector<std::string> versions;
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

std::optional<CallAddress> aggregatedServerOf(const Value& apiService) {
  const CallAddress address = addressIn(apiService.find("spec"));
  return address.isUrl() ? std::nullopt : std::optional<CallAddress>(address);
}

std::optional<std::set<int64_t>> calledPortsOf(const Value& service) {
  const Value::List& list = listAt(service, {"spec", "ports"});
  if (list.empty() || endpointSourceOf(service) == EndpointSource::External) return std::nullopt;
  std::set<int64_t> ports;
  for (const Value& one : list) {
    const Value* number = one.find("port");
    const std::string& protocol = textAt(one, {"protocol"});
    const bool isTcp = protocol.empty() || protocol == "TCP";
    if (isTcp && number != nullptr && number->asInteger() != nullptr) ports.insert(*number->asInteger());
  }
  return ports;
}

bool hasPort(const Value& service, int64_t port) {
  const auto ports = calledPortsOf(service);
  return !ports || ports->contains(port);
}

EndpointSource endpointSourceOf(const Value& service) {
  if (textAt(service, {"spec", "type"}) == "ExternalName") return EndpointSource::External;
  const Value* selector = service.at({"spec", "selector"});
  const bool selects = selector != nullptr && selector->asMap() != nullptr && !selector->asMap()->empty();
  return selects ? EndpointSource::Pods : EndpointSource::ByHand;
}

}  // namespace lastout::kube
