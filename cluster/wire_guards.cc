// Who guards what: CriticalServices, and other people's webhooks.
#include <algorithm>
#include <map>
#include <optional>

#include "admission/deferral.h"
#include "admission/guards.h"
#include "cluster/builder.h"
#include "cluster/unwritten.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/provider_types.h"
#include "criticalservice/understanding.h"
#include "kube/api_calls.h"
#include "kube/object_references.h"
#include "kube/patterns.h"
#include "kube/pods.h"
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
    } else if (condition.kind == graph::Condition::Kind::Finalizer && graph::isAbout(condition, info.key)) {
      const auto isMeant = [&](const std::string& one) {
        return kube::meansFinalizer(condition.finalizer, one);
      };
      // The machine does not change these fields: an object names the same others as long as it exists.
      if (std::ranges::any_of(info.references, isMeant)) holders.push_back({.slot = slot, .mask = 0});
      if (const uint16_t mask = finalizersMeantBy(info, condition.finalizer); mask != 0)
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

std::map<std::string, kube::Labels> labelsOfNamespaces(const Model& model) {
  std::map<std::string, kube::Labels> labels;
  for (const SlotInfo& info : model.slots)
    if (info.kind == SlotKind::Namespace) labels.emplace(info.key.name, info.forms.front().labels);
  return labels;
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
  admission::Dependencies dependencies =
      finder.find(service, [&](const kube::ObjectKey& object, const std::string& finalizer) {
        const auto found = model.find(object);
        const kube::Object* source = found ? builder.sources[*found] : nullptr;
        return source != nullptr && kube::hasFinalizer(source->meta, finalizer);
      });
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
    const bool isFollowed = std::ranges::any_of(
        followed, [&](const kube::GroupResource& type) { return kube::meansType(type, info.key.type); });
    if (isFollowed) info.followers.push_back(number);
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

// The workloads behind a Service, and the Pods whose workload is not.
std::vector<Slot> workloadsBehind(const Builder& builder, const kube::Object& service) {
  const Model& model = builder.model;
  std::vector<Slot> result;
  const auto runs = [&](Slot workload, Slot pod) {
    const std::vector<Slot> pods = podsOf(model, workload);
    return std::ranges::find(pods, pod) != pods.end();
  };
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const kube::Object* object = builder.sources[slot];
    const bool isBehind = object != nullptr
                              ? criticalservice::isBehind(service, *object)
                              : selectsPlaceOf(service, model.slots[slot]) &&
                                    std::ranges::none_of(result, [&](Slot one) { return runs(one, slot); });
    if (isBehind) result.push_back(slot);
  }
  return result;
}

// Returns true if the files have an EndpointSlice that says that somebody answers, as those of a cluster do
// that were read without its Pods.
bool hasAnsweringEndpoint(const Builder& builder, const kube::Object& service, int64_t port) {
  return std::ranges::any_of(builder.sources, [&](const kube::Object* one) {
    return one != nullptr && kube::hasAnsweringEndpoint(*one, service, port);
  });
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
  const std::string portName = kube::targetPortName(source->content, address.port);
  interception.workloads = workloadsBehind(builder, *source);
  const size_t selected = interception.workloads.size();
  interception.hasOtherEndpoints = kube::endpointSourceOf(source->content) != kube::EndpointSource::Pods ||
                                   (selected == 0 && hasAnsweringEndpoint(builder, *source, address.port));
  std::erase_if(interception.workloads, [&](Slot workload) {
    const kube::Object* manifest = manifestBehind(builder, workload);
    return manifest != nullptr && !criticalservice::hasPortNamed(*manifest, portName);
  });
  if (interception.workloads.empty() && selected > 0 && interception.unreachable.empty())
    interception.unreachable = kube::lacksTargetPort(portName);
  return interception;
}

std::vector<std::string> versionsOf(const Builder& builder, const SlotInfo& info) {
  return kube::servedVersions(info.key.type, info.crd == kNone ? nullptr : builder.content(info.crd),
                              builder.model.kubernetes);
}

// What Kubernetes makes and stays, by Namespace.
using UnwrittenBySpace = std::map<Slot, std::vector<UnwrittenObject>>;

UnwrittenBySpace unwrittenBySpace(const Builder& builder) {
  UnwrittenBySpace bySpace;
  for (UnwrittenObject& one : unwrittenObjects(builder.model, builder.sources))
    if (one.stays) bySpace[one.space].push_back(std::move(one));
  return bySpace;
}

// Returns what of that in the Namespace the webhook is asked about when it is deleted; of another slot,
// nothing.
std::vector<kube::ObjectKey> reviewedIn(const Model& model, Slot space, const kube::CalledWebhook& webhook,
                                        const UnwrittenBySpace& unwritten) {
  std::vector<kube::ObjectKey> reviewed;
  const auto made = unwritten.find(space);
  if (made == unwritten.end()) return reviewed;
  for (const UnwrittenObject& one : made->second)
    if (isReviewedAtEnd(model, webhook, one)) reviewed.push_back(one.key);
  return reviewed;
}

void addWebhook(Builder& builder, Slot configuration, const kube::CalledWebhook& webhook,
                const UnwrittenBySpace& unwritten) {
  Model& model = builder.model;
  // Those that may fail without harm, and those that are called by a URL (replay/assumptions.h).
  if (webhook.failureIsIgnored || webhook.address.isUrl()) return;
  Interception interception = called(builder, configuration, webhook.address);
  // lastout itself, which runs outside of the files.
  if (webhook.isOfLastout() && interception.service == kNone) return;
  interception.webhook = webhook.name;
  if (isAskedAboutLeader(model, webhook)) model.namespaceCalls.push_back(interception);
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    SlotInfo& info = model.slots[slot];
    const Slot space = info.key.type == kube::kNamespaces ? slot : info.namespaceSlot;
    const kube::ReviewedOperations reviewed = kube::reviewedOperations(
        webhook, info.key, info.forms.front().labels,
        space == kNone ? nullptr : &model.slots[space].forms.front().labels, versionsOf(builder, info));
    interception.unwritten = reviewedIn(model, slot, webhook, unwritten);
    interception.onContent = !interception.unwritten.empty();
    if (!reviewed.any() && !interception.onContent) continue;
    interception.onCreate = reviewed.onCreate;
    interception.onUpdate = interception.onRelease = reviewed.onUpdate;
    interception.onDelete = reviewed.onDelete;
    interception.onCleanup =
        reviewed.onCleanup ||
        (reviewed.onVolumeRelease && kube::hasToBeReleased(builder.content(slot), !info.children.empty()));
    interception.onStart = reviewed.onStart;
    interception.onStop = reviewed.onStop;
    info.interceptions.push_back(interception);
  }
}

// The Job controller's finalizer is left out where nothing keeps that controller from taking it off.
void trackPodsOfJobs(Builder& builder) {
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    SlotInfo& info = builder.model.slots[slot];
    const bool isReviewed = std::ranges::any_of(info.interceptions, &Interception::onUpdate) ||
                            reviewedJobOf(builder.model, slot) != kNone;
    if (!isReviewed || !isTrackedByJob(builder.model, slot, builder.sources[slot])) continue;
    const auto bit = finalizerBit(info, kube::kJobTrackingFinalizer);
    if (!bit) builder.fail(slot, "has " + tooManyFinalizers(info));
    info.finalizersAtCreation |= bit.value_or(0);
  }
}

// The agent deletes an object in the version of its manifest.
bool agentConverts(const Builder& builder, Slot slot, const kube::Value& crd) {
  const kube::Object* source = builder.sources[slot];
  return !builder.model.slots[slot].links.empty() && source != nullptr &&
         kube::versionOf(kube::textAt(source->content, {"apiVersion"})) != kube::storageVersionOf(crd);
}

// A CRD's conversion webhook is called whenever somebody asks for another version than the one that is
// stored: which one a controller writes is not known.
void addConversion(Builder& builder, Slot crd, const kube::CallAddress& address) {
  if (address.isUrl()) return;
  Interception interception = called(builder, crd, address);
  const kube::Value& content = *builder.content(crd);
  interception.onCreate = interception.onUpdate = interception.onCleanup = true;
  interception.onCrdCleanup = kube::cleanupConverts(content);
  interception.onRelease = kube::preferredVersionConverts(content);
  for (Slot slot = 0; slot < builder.model.slots.size(); ++slot) {
    SlotInfo& info = builder.model.slots[slot];
    if (info.crd != crd) continue;
    interception.onDelete = interception.onRelease || agentConverts(builder, slot, content);
    info.interceptions.push_back(interception);
  }
}

}  // namespace

void wireServices(Builder& builder) {
  const size_t count = builder.model.slots.size();
  const criticalservice::DependencyFinder finder = whatIsNeeded(builder);
  std::vector<std::pair<Slot, CriticalService>> services;
  const std::map<std::string, kube::Labels> namespaces = labelsOfNamespaces(builder.model);
  for (Slot slot = 0; slot < count; ++slot) {
    if (builder.model.slots[slot].kind != SlotKind::CriticalService || builder.sources[slot] == nullptr)
      continue;
    auto service = criticalservice::parse(*builder.sources[slot], builder.input.types);
    if (service) {
      selectNamespaces(*service, namespaces);
      services.emplace_back(slot, std::move(*service));
    } else {
      builder.errors.insert(builder.errors.end(), service.error().begin(), service.error().end());
    }
  }
  for (Slot slot = 0; slot < count; ++slot)
    if (const kube::Object* source = builder.sources[slot])
      builder.model.slots[slot].references = criticalservice::referencesOf(*source, builder.askedFields);
  if (builder.model.guarded) wireHeldBefore(builder.model);
  for (const auto& [slot, service] : services) wireHolding(builder, service);
  for (auto& [slot, service] : services) addService(builder, slot, std::move(service), finder);
}

void wireWebhooks(Builder& builder) {
  const size_t count = builder.model.slots.size();
  std::optional<UnwrittenBySpace> unwritten;  // looked for where there is a webhook
  for (Slot slot = 0; slot < count; ++slot) {
    const kube::Value* content = builder.content(slot);
    if (content == nullptr) continue;
    const SlotInfo& info = builder.model.slots[slot];
    const auto conversion = info.kind == SlotKind::Crd ? kube::calledConversionOf(*content) : std::nullopt;
    if (conversion) addConversion(builder, slot, *conversion);
    for (const kube::CalledWebhook& webhook : kube::webhooksOf(info.key.type, *content)) {
      if (!unwritten) unwritten = unwrittenBySpace(builder);
      addWebhook(builder, slot, webhook, *unwritten);
    }
    if (info.key.type != kube::kApiServices) continue;
    if (const auto address = kube::aggregatedServerOf(*content))
      builder.model.namespaceCalls.push_back(called(builder, slot, *address));
  }
  trackPodsOfJobs(builder);
}

}  // namespace lastout::cluster
