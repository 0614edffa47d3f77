#include "tests/properties/cluster_spec.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "cluster/build.h"

namespace lastout::testing {

namespace types {
const kube::GroupResource kNamespaces{"", "namespaces"};
const kube::GroupResource kConfigMaps{"", "configmaps"};
const kube::GroupResource kClusterRoles{"rbac.authorization.k8s.io", "clusterroles"};
const kube::GroupResource kPods{"", "pods"};
const kube::GroupResource kDeployments{"apps", "deployments"};
const kube::GroupResource kStatefulSets{"apps", "statefulsets"};
const kube::GroupResource kDaemonSets{"apps", "daemonsets"};
const kube::GroupResource kReplicaSets{"apps", "replicasets"};
const kube::GroupResource kClaims{"", "persistentvolumeclaims"};
const kube::GroupResource kServices{"", "services"};
const kube::GroupResource kWebhooks{"admissionregistration.k8s.io", "validatingwebhookconfigurations"};
const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};
const kube::GroupResource kCriticalServices{"lastout.dev", "criticalservices"};
const kube::GroupResource kWorks{"work.open-cluster-management.io", "manifestworks"};
const kube::GroupResource kWidgets{"example.com", "widgets"};
const kube::GroupResource kGadgets{"example.com", "gadgets"};
const kube::GroupResource kDatabases{"db.example.com", "databases"};
}  // namespace types

namespace {

using cluster::Model;
using cluster::Slot;

using kube::Value;

Value text(std::string word) { return {std::move(word), {}}; }
Value map(const std::vector<std::pair<std::string, Value>>& members) {
  Value::Map result;
  result.reserve(members.size());
  for (const auto& [key, value] : members) result.push_back({key, {}, value});
  return {std::move(result), {}};
}
Value list(std::vector<Value> items) { return {Value::List(std::move(items)), {}}; }

Value podTemplate(const ObjectSpec& spec) {
  std::vector<Value> volumes;
  for (const std::string& claim : spec.claims)
    volumes.push_back(map({{"persistentVolumeClaim", map({{"claimName", text(claim)}})}}));
  return map({{"metadata", map({{"labels", map({{"app", text(spec.app)}})}})},
              {"spec", map({{"containers", list({})}, {"volumes", list(std::move(volumes))}})}});
}

Value webhookContent(const WebhookSpec& spec) {
  std::vector<Value> rules;
  for (const kube::GroupResource& type : spec.types) {
    std::vector<Value> operations;
    if (spec.onDelete) operations.push_back(text("DELETE"));
    if (spec.onUpdate) operations.push_back(text("UPDATE"));
    rules.push_back(map({{"apiGroups", list({text(type.group)})},
                         {"resources", list({text(type.resource)})},
                         {"operations", list(std::move(operations))}}));
  }
  Value service = map({{"namespace", text(spec.service.namespaceName)}, {"name", text(spec.service.name)}});
  return map({{"webhooks", list({map({{"clientConfig", map({{"service", std::move(service)}})},
                                      {"rules", list(std::move(rules))}})})}});
}

Value conversionContent(const kube::ObjectKey& crd, const kube::ObjectKey& service) {
  Value called = map({{"namespace", text(service.namespaceName)}, {"name", text(service.name)}});
  Value webhook = map({{"clientConfig", map({{"service", std::move(called)}})}});
  Value conversion = map({{"strategy", text("Webhook")}, {"webhook", std::move(webhook)}});
  const std::string& kind = specTypes().find(kube::definedBy(crd.name))->kind;
  return map(
      {{"spec", map({{"names", map({{"kind", text(kind)}})}, {"conversion", std::move(conversion)}})}});
}

Value namesOf(const ObjectSpec& spec) {
  std::vector<Value> names;
  for (const kube::ObjectKey& named : spec.names)
    names.push_back(map({{"name", text(named.name)}, {"namespace", text(named.namespaceName)}}));
  return map({{"spec", map({{"refs", list(std::move(names))}})}});
}

Value contentOf(const ObjectSpec& spec) {
  if (spec.service) return criticalservice::toManifest(*spec.service);
  if (spec.webhook) return webhookContent(*spec.webhook);
  if (spec.converter) return conversionContent(spec.key, *spec.converter);
  if (isWorkload(spec.key.type))
    return map(
        {{"spec", map({{"replicas", {int64_t{spec.replicas}, {}}}, {"template", podTemplate(spec)}})}});
  if (spec.key.type == types::kServices)
    return map({{"spec", map({{"selector", map({{"app", text(spec.app)}})}})}});
  return namesOf(spec);
}

std::string apiVersionOf(const kube::ResourceType& type) {
  return type.type.group.empty() ? type.version : type.type.group + "/" + type.version;
}

kube::Object toObject(const ObjectSpec& spec) {
  kube::Object object;
  const kube::ResourceType* type = specTypes().find(spec.key.type);
  object.apiVersion = apiVersionOf(*type);
  object.kind = type->kind;
  object.key = spec.key;
  object.meta.namespaceName = spec.key.namespaceName;
  object.meta.name = spec.key.name;
  object.meta.finalizers = spec.finalizers;
  if (spec.terminating) object.meta.deletionTimestamp = 1;
  for (const OwnerSpec& owner : spec.owners) {
    const kube::ResourceType* ownerType = specTypes().find(owner.object.type);
    object.meta.ownerReferences.push_back({.apiVersion = apiVersionOf(*ownerType),
                                           .kind = ownerType->kind,
                                           .name = owner.object.name,
                                           .uid = {},
                                           .controller = owner.controller,
                                           .blockOwnerDeletion = owner.blockOwnerDeletion});
  }
  object.content = contentOf(spec);
  return object;
}

cluster::BuildInput toInput(const ClusterSpec& spec) {
  cluster::BuildInput input;
  input.types = specTypes();
  input.kubernetes = spec.kubernetes;
  input.guarded = spec.guarded;
  input.runsDeferredDeletions = spec.runsDeferredDeletions;
  input.lastoutNamespace = spec.lastoutNamespace;
  std::unordered_map<kube::ObjectKey, size_t> places;
  std::vector<kube::Object> all;
  for (const ObjectSpec& object : spec.objects) {
    places.emplace(object.key, all.size());
    all.push_back(toObject(object));
    (object.present ? input.objects : input.later).push_back(all.back());
  }
  for (const WorkObjects& work : spec.works) {
    cluster::WorkSpec made;
    made.manifestWork = toObject({.key = work.key});
    made.appliedName = work.key.namespaceName + "-" + work.key.name;
    for (const kube::ObjectKey& key : work.applies) {
      if (const auto found = places.find(key); found != places.end())
        made.manifests.push_back(all[found->second]);
    }
    input.works.push_back(std::move(made));
  }
  return input;
}

std::optional<Slot> targetOf(const Model& model, const StepSpec& spec) {
  std::optional<Slot> slot = model.find(spec.object);
  for (int depth = static_cast<int>(spec.target); slot && depth > 0; --depth) {
    const std::vector<Slot>& children = model.slots[*slot].children;
    slot = children.empty() ? std::nullopt : std::optional<Slot>(children.front());
  }
  return slot;
}

kube::Result<uint32_t> addStep(Model& model, const StepSpec& spec, Slot slot) {
  cluster::ClientStep step;
  step.verb = spec.verb;
  step.object = slot;
  step.policy = spec.policy.value_or(cluster::PropagationPolicy::Background);
  step.hasPolicy = spec.policy.has_value();
  step.dryRun = spec.dryRun;
  step.retry = spec.retry;
  step.precondition = spec.precondition;
  step.serverSide = spec.serverSide;
  step.value = spec.value;
  step.document = spec.last ? 1 : 0;
  if (spec.verb == cluster::ClientStep::Verb::SetFinalizers) {
    const auto mask = cluster::finalizerMask(model, slot, spec.finalizers);
    if (!mask) return tl::unexpected(mask.error());
    step.value = *mask;
  }
  if (spec.verb == cluster::ClientStep::Verb::SetForm)
    step.change.labels = kube::Labels{{"value", std::to_string(spec.value)}};
  return cluster::addStep(model, std::move(step));
}

// For every object of the controller's type; an object neither needs itself nor waits for itself.
std::unordered_map<Slot, cluster::RemovalNeeds> needsOf(const Model& model, const ControllerSpec& spec) {
  std::unordered_map<Slot, cluster::RemovalNeeds> needs;
  const auto slotsOf = [&](const std::vector<kube::ObjectKey>& keys, Slot but) {
    std::vector<Slot> slots;
    for (const kube::ObjectKey& key : keys) {
      if (const auto slot = model.find(key); slot && *slot != but) slots.push_back(*slot);
    }
    return slots;
  };
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (model.slots[slot].key.type != spec.from) continue;
    cluster::RemovalNeeds& ofIt = needs[slot];
    ofIt.waitsFor = slotsOf(spec.waitsFor, slot);
    const std::vector<Slot> needed = slotsOf(spec.needs, slot);
    if (needed.empty()) continue;
    ofIt.needs.push_back({.what = "one of these", .ways = {}});
    for (const Slot one : needed) ofIt.needs.back().ways.push_back({one});
  }
  return needs;
}

}  // namespace

const kube::ResourceMap& specTypes() {
  static const kube::ResourceMap kTypes = [] {
    kube::ResourceMap map = kube::ResourceMap::builtIn();
    map.add({types::kWidgets, "Widget", "v1", "widget", {}, false, false});
    map.add({types::kGadgets, "Gadget", "v1", "gadget", {}, true, false});
    map.add({types::kDatabases, "Database", "v1", "database", {}, true, false});
    return map;
  }();
  return kTypes;
}

kube::ReferenceFields namingFields() {
  return {*kube::parseFieldPath("spec.refs.name"), kube::parseFieldPath("spec.refs.namespace"), std::nullopt};
}

bool isWorkload(const kube::GroupResource& type) {
  return type == types::kDeployments || type == types::kStatefulSets || type == types::kDaemonSets;
}

bool isNamespaced(const kube::GroupResource& type) { return specTypes().find(type)->namespaced; }

kube::ObjectKey namespaceKey(const std::string& name) { return {types::kNamespaces, "", name}; }

tl::expected<Model, kube::Errors> toModel(const ClusterSpec& spec) {
  auto model = cluster::build(toInput(spec));
  if (!model) return model;
  model->confirms = spec.confirms;
  for (const ControllerSpec& controller : spec.controllers) {
    const std::optional<Slot> runsIn = controller.runsIn ? model->find(*controller.runsIn) : std::nullopt;
    if (controller.runsIn && !runsIn) continue;
    const auto added = cluster::addController(*model, {.name = controller.finalizer,
                                                       .runsIn = runsIn.value_or(cluster::kNone),
                                                       .finalizer = controller.finalizer,
                                                       .from = controller.from,
                                                       .needs = needsOf(*model, controller)});
    if (!added) return tl::unexpected(kube::Errors{added.error()});
  }
  for (const StepSpec& step : spec.steps) {
    const std::optional<Slot> slot = targetOf(*model, step);
    if (!slot) continue;
    if (const auto added = addStep(*model, step, *slot); !added)
      return tl::unexpected(kube::Errors{added.error()});
  }
  return model;
}

}  // namespace lastout::testing
