#include "kube/api_calls.h"

#include "kube/fields.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

CallAddress addressIn(const Value* client) {
  const Value* service = client == nullptr ? nullptr : client->find("service");
  if (service == nullptr) return {};
  return {{kServices, textAt(*service, {"namespace"}), textAt(*service, {"name"})}};
}

CalledWebhook webhookOf(const Value& webhook) {
  CalledWebhook result;
  result.name = textAt(webhook, {"name"});
  result.address = addressIn(webhook.find("clientConfig"));
  result.failureIsIgnored = textAt(webhook, {"failurePolicy"}) == "Ignore";
  result.hasMatchConditions = !listAt(webhook, {"matchConditions"}).empty();
  Errors ignored;  // what cannot be understood is left out
  Fields fields(webhook, "", "", ignored);
  for (Fields& rule : fields.items("rules")) result.matches.rules.push_back(readRule(rule));
  result.matches.namespaceSelector = selectorIn(webhook, "namespaceSelector");
  result.matches.objectSelector = selectorIn(webhook, "objectSelector");
  return result;
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
                                      const Labels& labels, const Labels* namespaceLabels) {
  ReviewedOperations result;
  // Webhook configurations themselves are exempt (docs/semantics.md, "The rules").
  if (object.type.group == kAdmissionRegistrationGroup) return result;
  if (webhook.matches.rules.empty() || !webhook.matches.objectSelector.matches(labels)) return result;
  // A manifest need not have the label that every Namespace gets.
  Labels labelsOfNamespace = namespaceLabels == nullptr ? Labels() : *namespaceLabels;
  labelsOfNamespace.emplace(kNamespaceNameLabel,
                            object.type == kNamespaces ? object.name : object.namespaceName);
  const auto reaches = [&](std::string_view operation) {
    const AdmissionAttributes request{.operation = operation,
                                      .type = object.type,
                                      .version = {},
                                      .subresource = {},
                                      .namespaceName = object.namespaceName,
                                      .name = object.name};
    return matchesRules(webhook.matches, request) &&
           (namespaceLabels == nullptr || matchesNamespace(webhook.matches, request, labelsOfNamespace));
  };
  result.onCreate = reaches("CREATE");
  result.onUpdate = reaches("UPDATE");
  result.onDelete = reaches("DELETE");
  return result;
}

std::optional<CallAddress> conversionOf(const Value& crd) {
  const Value* conversion = crd.at({"spec", "conversion"});
  if (conversion == nullptr || textAt(*conversion, {"strategy"}) != "Webhook") return std::nullopt;
  return addressIn(conversion->at({"webhook", "clientConfig"}));
}

std::optional<CallAddress> aggregatedServerOf(const Value& apiService) {
  const CallAddress address = addressIn(apiService.find("spec"));
  return address.isUrl() ? std::nullopt : std::optional<CallAddress>(address);
}

EndpointSource endpointSourceOf(const Value& service) {
  if (textAt(service, {"spec", "type"}) == "ExternalName") return EndpointSource::External;
  const Value* selector = service.at({"spec", "selector"});
  const bool selects = selector != nullptr && selector->asMap() != nullptr && !selector->asMap()->empty();
  return selects ? EndpointSource::Pods : EndpointSource::ByHand;
}

}  // namespace lastout::kube
