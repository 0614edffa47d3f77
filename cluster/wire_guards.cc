// Who guards what: CriticalServices, and other people's webhooks.
#include <algorithm>

#include "admission/deferral.h"
#include "admission/guards.h"
#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/understanding.h"
#include "kube/api_calls.h"
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
      const uint16_t mask = knownFinalizerBit(info, condition.finalizer) & ~specFinalizers(info);
      if (mask != 0 && !graph::leavesOut(condition, info.key.namespaceName, info.key.name))
        holders.push_back({.slot = slot, .mask = mask});
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
    model.slots[*guarded].guardEntries.push_back({.guardedAs = guard.guardedAs, .service = number});
    if (admission::recordsDeferral(guard.guardedAs, false)) deferred.push_back(*guarded);
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

// The workloads and Pods behind a Service.
std::vector<Slot> workloadsBehind(const Builder& builder, const kube::Object& service) {
  std::vector<Slot> result;
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    const kube::Object* object = builder.sources[slot];
    if (object != nullptr && criticalservice::isBehind(service, *object)) result.push_back(slot);
  }
  return result;
}

// Returns a call by way of that Service, without its operations.
Interception called(const Builder& builder, Slot configuration, const kube::CallAddress& address) {
  const kube::ObjectKey& service = address.service;
  Interception interception;
  interception.configuration = configuration;
  interception.serviceKey = service;
  interception.service = builder.model.find(service).value_or(kNone);
  if (interception.service == kNone) return interception;
  const kube::Object* source = builder.sources[interception.service];
  if (source == nullptr) return interception;
  interception.unreachable = kube::whyUnreachable(source->content, address.port);
  interception.hasOtherEndpoints = kube::endpointSourceOf(source->content) != kube::EndpointSource::Pods;
  const std::string portName = kube::targetPortName(source->content, address.port);
  interception.workloads = workloadsBehind(builder, *source);
  const size_t selected = interception.workloads.size();
  std::erase_if(interception.workloads, [&](Slot workload) {
    return !criticalservice::hasPortNamed(*builder.sources[workload], portName);
  });
  if (interception.workloads.empty() && selected > 0 && interception.unreachable.empty())
    interception.unreachable = kube::lacksTargetPort(portName);
  return interception;
}

std::vector<std::string> versionsOf(const Builder& builder, const SlotInfo& info) {
  return kube::servedVersions(info.key.type, info.crd == kNone ? nullptr : builder.content(info.crd),
                              builder.model.kubernetes);
}

void addWebhook(Builder& builder, Slot configuration, const kube::CalledWebhook& webhook) {
  Model& model = builder.model;
  // Those that may fail without harm, and those that are called by a URL (replay/assumptions.h).
  if (webhook.failureIsIgnored || webhook.address.isUrl()) return;
  Interception interception = called(builder, configuration, webhook.address);
  // lastout itself, which runs outside of the files.
  if (webhook.isOfLastout() && interception.service == kNone) return;
  interception.webhook = webhook.name;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    SlotInfo& info = model.slots[slot];
    const Slot space = info.key.type == kube::kNamespaces ? slot : info.namespaceSlot;
    const kube::ReviewedOperations reviewed = kube::reviewedOperations(
        webhook, info.key, info.forms.front().labels,
        space == kNone ? nullptr : &model.slots[space].forms.front().labels, versionsOf(builder, info));
    if (!reviewed.any()) continue;
    interception.onCreate = reviewed.onCreate;
    interception.onUpdate = reviewed.onUpdate;
    interception.onDelete = reviewed.onDelete;
    interception.onCleanup = reviewed.onCleanup;
    interception.onStart = reviewed.onStart;
    info.interceptions.push_back(interception);
  }
}

// A CRD's conversion webhook is called whenever somebody asks for another version than the one that is
// stored.
void addConversion(Builder& builder, Slot crd, const kube::CallAddress& address) {
  if (address.isUrl()) return;
  Interception interception = called(builder, crd, address);
  interception.onCreate = interception.onUpdate = interception.onDelete = interception.onCleanup = true;
  interception.onCrdCleanup = kube::cleanupConverts(*builder.content(crd));
  for (SlotInfo& info : builder.model.slots) {
    if (info.crd == crd) info.interceptions.push_back(interception);
  }
}

}  // namespace

void wireServices(Builder& builder) {
  const size_t count = builder.model.slots.size();
  const criticalservice::DependencyFinder finder = whatIsNeeded(builder);
  std::vector<std::pair<Slot, CriticalService>> services;
  for (Slot slot = 0; slot < count; ++slot) {
    if (builder.model.slots[slot].kind != SlotKind::CriticalService || builder.sources[slot] == nullptr)
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
    const kube::Value* content = builder.content(slot);
    if (content == nullptr) continue;
    const SlotInfo& info = builder.model.slots[slot];
    const auto conversion = info.kind == SlotKind::Crd ? kube::calledConversionOf(*content) : std::nullopt;
    if (conversion) addConversion(builder, slot, *conversion);
    for (const kube::CalledWebhook& webhook : kube::webhooksOf(info.key.type, *content))
      addWebhook(builder, slot, webhook);
    if (info.key.type != kube::kApiServices) continue;
    if (const auto address = kube::aggregatedServerOf(*content))
      builder.model.apiServices.push_back(called(builder, slot, *address));
  }
}

}  // namespace lastout::cluster
