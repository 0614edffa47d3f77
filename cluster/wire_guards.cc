// Who guards what: CriticalServices, and other people's webhooks.
#include <algorithm>

#include "admission/deferral.h"
#include "admission/guards.h"
#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/understanding.h"
#include "kube/match_resources.h"
#include "kube/selector.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

using criticalservice::CriticalService;

std::vector<ConditionHolder> holdersOf(const Model& model, const graph::Condition& condition) {
  std::vector<ConditionHolder> holders;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const SlotInfo& info = model.slots[slot];
    if (condition.kind == graph::Condition::Kind::Object) {
      if (info.key == kube::ObjectKey{condition.type, condition.namespaceName, condition.name})
        holders.push_back({.slot = slot, .mask = 0});
    } else if (condition.kind == graph::Condition::Kind::Instances && info.key.type == condition.type) {
      holders.push_back({.slot = slot, .mask = 0});
    } else if (condition.kind == graph::Condition::Kind::Finalizer && info.key.type == condition.type) {
      const uint16_t mask = knownFinalizerBit(info, condition.finalizer);
      if (mask != 0) holders.push_back({.slot = slot, .mask = mask});
    }
  }
  return holders;
}

uint32_t addCondition(Model& model, const graph::Condition& condition) {
  model.conditions.push_back(holdersOf(model, condition));
  model.conditionSpecs.push_back(condition);
  model.isUnderstood.push_back(condition.type != graph::notUnderstoodType());
  return static_cast<uint32_t>(model.conditions.size() - 1);
}

bool owns(const Model& model, const kube::ObjectKey& object, const kube::ObjectKey& provider) {
  const auto owner = model.find(object);
  const auto owned = model.find(provider);
  return owner && owned && std::ranges::any_of(model.slots[*owned].owners, [&](const OwnerLink& link) {
           return link.owner == *owner;
         });
}

void addService(Builder& builder, Slot slot, CriticalService service,
                const criticalservice::DependencyFinder& finder) {
  Model& model = builder.model;
  criticalservice::understand(service, criticalservice::knownTypes(builder.input.types));
  service = finder.withConverted(std::move(service));
  admission::Dependencies dependencies = finder.find(service);
  // The finder knows the owners only of what runs Pods.
  for (criticalservice::Dependency& dependency : dependencies)
    dependency.ownsProvider = dependency.ownsProvider || owns(model, dependency.object, service.provider);
  const auto number = static_cast<uint32_t>(model.services.size());
  admission::ServiceRule rule;
  rule.provider = addCondition(model, criticalservice::providerCondition(service));
  rule.firstCriterion = static_cast<uint32_t>(model.rules.criteria.size());
  rule.criterionCount = static_cast<uint32_t>(service.criteria.size());
  for (const criticalservice::Criterion& criterion : service.criteria)
    model.rules.criteria.push_back(addCondition(model, criticalservice::conditionOf(criterion)));
  model.rules.services.push_back(rule);
  std::vector<Slot> deferred;
  for (const admission::Guard& guard :
       admission::guardsOf(service, builder.input.types, builder.input.lastoutNamespace, dependencies)) {
    const auto guarded = model.find(guard.object);
    if (!guarded) continue;
    model.slots[*guarded].guardEntries.push_back({.role = guard.role, .service = number});
    if (admission::recordsDeferral(guard.role, false)) deferred.push_back(*guarded);
  }
  model.deferredByService.push_back(std::move(deferred));
  const std::vector<kube::GroupResource> followed = admission::followedTypes(service);
  for (SlotInfo& info : model.slots) {
    if (std::ranges::find(followed, info.key.type) != followed.end()) info.followers.push_back(number);
    const bool isReviewed = info.key.type == service.provider.type ||
                            std::ranges::any_of(dependencies, [&](const criticalservice::Dependency& one) {
                              return one.object.type == info.key.type;
                            });
    if (isReviewed) info.peers.push_back(number);
  }
  model.slots[slot].service = number;
  model.slots[slot].valueAtCreation = static_cast<uint8_t>(service.intent);
  model.services.push_back(slot);
  model.dependencies.push_back(std::move(dependencies));
  model.serviceSpecs.push_back(std::move(service));
}

// One that is there although nobody wants it is lastout's, too.
void wireHeldBefore(Model& model) {
  for (SlotInfo& info : model.slots) {
    const bool isNamed =
        std::ranges::find(info.finalizers, kube::kCriteriaFinalizer) != info.finalizers.end();
    if (isNamed && criticalservice::canBeHeld(info.key.type))
      info.heldBit = finalizerBit(info, kube::kCriteriaFinalizer).value();
  }
}

// lastout's finalizer on a provider, which a criterion may name like any other.
void wireHolding(Builder& builder, const CriticalService& service) {
  const auto provider = builder.model.find(service.provider);
  if (!builder.model.guarded || !provider) return;
  if (service.enforcement != criticalservice::EnforcementMode::Hold) return;
  SlotInfo& info = builder.model.slots[*provider];
  info.heldBit = finalizerBit(info, kube::kCriteriaFinalizer).value_or(0);
  if (info.heldBit == 0)
    builder.fail(*provider, "has, with that by which lastout holds it, " + tooManyFinalizers(info));
}

// --- webhooks

// Returns the rules and selectors of the webhook. A selector that cannot be read selects everything.
kube::MatchResources matchesOf(const kube::Value& webhook) {
  kube::MatchResources matches;
  kube::Errors ignored;  // the machine takes what it understands of a configuration
  kube::Fields fields(webhook, "", "", ignored);
  for (kube::Fields& rule : fields.items("rules")) matches.rules.push_back(kube::readRule(rule));
  const auto selectorAt = [&](std::string_view field) {
    const kube::Value* selector = webhook.find(field);
    return selector == nullptr ? kube::LabelSelector()
                               : kube::parseSelector(*selector, "").value_or(kube::LabelSelector());
  };
  matches.namespaceSelector = selectorAt("namespaceSelector");
  matches.objectSelector = selectorAt("objectSelector");
  return matches;
}

// Which operations of a webhook's rules reach the slot. The machine knows no versions of a type: any is
// reached, as with matchPolicy Equivalent.
Interception reach(const kube::MatchResources& webhook, const Model& model, Slot slot) {
  Interception result;
  const SlotInfo& info = model.slots[slot];
  if (webhook.rules.empty() || !webhook.objectSelector.matches(info.forms.front().labels)) return result;
  const Slot space = info.key.type == kube::kNamespaces ? slot : info.namespaceSlot;
  const auto reaches = [&](std::string_view operation) {
    const kube::AdmissionAttributes request{.operation = operation,
                                            .type = info.key.type,
                                            .version = {},
                                            .subresource = {},
                                            .namespaceName = info.key.namespaceName,
                                            .name = info.key.name};
    return kube::matchesRules(webhook, request) &&
           (space == kNone ||
            kube::matchesNamespace(webhook, request, model.slots[space].forms.front().labels));
  };
  result.onCreate = reaches("CREATE");
  result.onUpdate = reaches("UPDATE");
  result.onDelete = reaches("DELETE");
  return result;
}

// The workloads whose Pods a Service selects.
std::vector<Slot> workloadsBehind(const Builder& builder, Slot service) {
  std::vector<Slot> result;
  const kube::Value* content = builder.content(service);
  if (content == nullptr) return result;
  const kube::Labels selector = criticalservice::labelsAt(*content, {"spec", "selector"});
  const std::string& space = builder.model.slots[service].key.namespaceName;
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    const kube::Value* workload = builder.content(slot);
    if (workload == nullptr || builder.model.slots[slot].key.namespaceName != space) continue;
    const kube::Labels labels =
        criticalservice::labelsAt(*workload, {"spec", "template", "metadata", "labels"});
    if (criticalservice::selects(selector, labels)) result.push_back(slot);
  }
  return result;
}

void addWebhook(Builder& builder, Slot configuration, const kube::Value& webhook) {
  Model& model = builder.model;
  // Webhooks that may fail without harm, and those that are served outside this model, are left out.
  if (kube::textAt(webhook, {"failurePolicy"}) == "Ignore") return;
  const std::string& space = kube::textAt(webhook, {"clientConfig", "service", "namespace"});
  const std::string& name = kube::textAt(webhook, {"clientConfig", "service", "name"});
  const auto service = model.find({kube::kServices, space, name});
  if (!service) return;
  const std::vector<Slot> workloads = workloadsBehind(builder, *service);
  const kube::MatchResources matches = matchesOf(webhook);
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    // Webhook configurations themselves are exempt (docs/semantics.md, "The rules").
    if (model.slots[slot].key.type.group == kube::kAdmissionRegistrationGroup) continue;
    Interception interception = reach(matches, model, slot);
    if (!interception.onCreate && !interception.onUpdate && !interception.onDelete) continue;
    interception.configuration = configuration;
    interception.service = *service;
    interception.workloads = workloads;
    model.slots[slot].interceptions.push_back(std::move(interception));
  }
}

// A CRD's conversion webhook is called whenever somebody asks for another version than the one that is
// stored.
void addConversion(Builder& builder, Slot crd, const kube::Value& conversion) {
  Model& model = builder.model;
  if (kube::textAt(conversion, {"strategy"}) != "Webhook") return;
  const auto service = model.find(
      {kube::kServices, kube::textAt(conversion, {"webhook", "clientConfig", "service", "namespace"}),
       kube::textAt(conversion, {"webhook", "clientConfig", "service", "name"})});
  if (!service) return;
  const Interception interception{.configuration = crd,
                                  .service = *service,
                                  .workloads = workloadsBehind(builder, *service),
                                  .onCreate = true,
                                  .onUpdate = true,
                                  .onDelete = true};
  for (SlotInfo& info : model.slots) {
    if (info.crd == crd) info.interceptions.push_back(interception);
  }
}

}  // namespace

void wireServices(Builder& builder) {
  const size_t count = builder.model.slots.size();
  const criticalservice::DependencyFinder finder = whatIsNeeded(builder);
  std::vector<std::pair<Slot, CriticalService>> services;
  for (Slot slot = 0; slot < count; ++slot) {
    if (builder.model.slots[slot].role != ModelRole::CriticalService || builder.sources[slot] == nullptr)
      continue;
    auto service = criticalservice::parse(*builder.sources[slot], builder.input.types);
    if (service) {
      services.emplace_back(slot, std::move(*service));
    } else {
      builder.errors.insert(builder.errors.end(), service.error().begin(), service.error().end());
    }
  }
  if (builder.model.guarded) wireHeldBefore(builder.model);
  for (const auto& [slot, service] : services) wireHolding(builder, service);
  for (auto& [slot, service] : services) addService(builder, slot, std::move(service), finder);
}

void wireWebhooks(Builder& builder) {
  const size_t count = builder.model.slots.size();
  for (Slot slot = 0; slot < count; ++slot) {
    const kube::GroupResource& type = builder.model.slots[slot].key.type;
    const bool isConfiguration =
        type == kube::kValidatingWebhookConfigurations || type == kube::kMutatingWebhookConfigurations;
    const kube::Value* content = builder.content(slot);
    if (content == nullptr) continue;
    if (const kube::Value* conversion = content->at({"spec", "conversion"});
        conversion != nullptr && builder.model.slots[slot].role == ModelRole::Crd)
      addConversion(builder, slot, *conversion);
    if (!isConfiguration) continue;
    const kube::Value* webhooks = content->find("webhooks");
    if (webhooks == nullptr || webhooks->asList() == nullptr) continue;
    for (const kube::Value& webhook : *webhooks->asList()) addWebhook(builder, slot, webhook);
  }
}

}  // namespace lastout::cluster
