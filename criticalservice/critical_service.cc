#include "criticalservice/critical_service.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/patterns.h"
#include "kube/selector.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {

namespace {

kube::Value text(std::string_view value) { return kube::Value{std::string(value), {}}; }

void add(kube::Value::Map& map, std::string_view key, kube::Value value) {
  map.push_back(kube::Member{std::string(key), {}, std::move(value)});
}

// An empty group is the core group, and an empty namespace a cluster-scoped object: both are left out.
kube::Value::Map typeFields(const kube::GroupResource& type) {
  kube::Value::Map map;
  if (!type.group.empty()) add(map, "group", text(type.group));
  add(map, "resource", text(type.resource));
  return map;
}

kube::Value objectFields(const kube::ObjectKey& key) {
  kube::Value::Map map = typeFields(key.type);
  if (!key.namespaceName.empty()) add(map, "namespace", text(key.namespaceName));
  add(map, "name", text(key.name));
  return kube::Value{std::move(map), {}};
}

template <class Texts>
kube::Value listOf(const Texts& texts) {
  kube::Value::List list;
  for (const std::string& one : texts) list.push_back(text(one));
  return kube::Value{std::move(list), {}};
}

kube::Value selectorFields(const std::string& selector) {
  kube::Value::List expressions;
  for (const kube::SelectorRequirement& one :
       kube::parseSelector(selector).value_or(kube::LabelSelector()).requirements) {
    kube::Value::Map expression;
    add(expression, "key", text(one.key));
    add(expression, "operator", text(kube::toString(one.op)));
    if (!one.values.empty()) add(expression, "values", listOf(one.values));
    expressions.push_back(kube::Value{std::move(expression), {}});
  }
  kube::Value::Map fields;
  add(fields, "matchExpressions", kube::Value{std::move(expressions), {}});
  return kube::Value{std::move(fields), {}};
}

void addScope(kube::Value::Map& finalizer, const kube::NamespaceScope& scope) {
  if (scope.kind == kube::NamespaceScope::Kind::All) return;
  if (fieldOf(scope) == kExceptField) return add(finalizer, kExceptField, kube::Value{true, {}});
  kube::Value::Map namespaces;
  if (scope.selector.empty())
    add(namespaces, "names", listOf(scope.names));
  else
    add(namespaces, "selector", selectorFields(scope.selector));
  add(finalizer, kNamespacesField, kube::Value{std::move(namespaces), {}});
}

kube::Value referenceFields(const ReferenceCriterion& criterion) {
  kube::Value::Map member = typeFields(criterion.type);
  const kube::ReferenceFields& fields = criterion.reference.fields;
  add(member, "field", text(fields.name.text));
  if (fields.namespaceName) add(member, "namespaceField", text(fields.namespaceName->text));
  if (fields.kind) add(member, "kindField", text(fields.kind->text));
  if (!criterion.reference.kind.empty()) add(member, "kind", text(criterion.reference.kind));
  add(member, "target", objectFields(criterion.reference.target));
  return kube::Value{std::move(member), {}};
}

kube::Value criterionFields(const Criterion& criterion) {
  kube::Value::Map map;
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) {
    kube::Value::Map member = typeFields(finalizer->type);
    add(member, "finalizerName", text(finalizer->finalizerName));
    addScope(member, finalizer->scope);
    add(map, "type", text("Finalizer"));
    add(map, "finalizer", kube::Value{std::move(member), {}});
  } else if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion)) {
    add(map, "type", text("Reference"));
    add(map, "reference", referenceFields(*reference));
  } else {
    add(map, "type", text("SpecificResource"));
    add(map, "specificResource", objectFields(std::get<SpecificResourceCriterion>(criterion).object));
  }
  if (isMetIfNotInstalled(criterion)) add(map, "ifNotInstalled", text("Met"));
  return kube::Value{std::move(map), {}};
}

kube::Value dependencyFields(const DependencySpec& dependencies) {
  if (dependencies.mode == DependencyMode::None) return text("None");
  kube::Value::List listed;
  for (const kube::ObjectKey& object : dependencies.listed) listed.push_back(objectFields(object));
  return kube::Value{std::move(listed), {}};
}

}  // namespace

kube::GroupResource criticalServiceType() { return {std::string(kube::kLastoutGroup), "criticalservices"}; }

kube::ObjectKey keyOf(const CriticalService& service) {
  return {criticalServiceType(), "", service.meta.name};
}

std::string nameInWords(std::string_view name) {
  return kube::toString(kube::ObjectKey{criticalServiceType(), "", std::string(name)});
}

std::string_view toString(DeletionIntent intent) {
  switch (intent) {
    case DeletionIntent::Ordered:
      return "Ordered";
    case DeletionIntent::BestEffortDeletion:
      return "BestEffortDeletion";
    case DeletionIntent::OrphanResources:
      return "OrphanResources";
  }
  return "";
}

std::string_view toString(EnforcementMode enforcement) {
  switch (enforcement) {
    case EnforcementMode::Deny:
      return "Deny";
    case EnforcementMode::Hold:
      return "Hold";
  }
  return "";
}

const kube::GroupResource& typeOf(const Criterion& criterion) {
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) return finalizer->type;
  if (const auto* instances = std::get_if<InstancesCriterion>(&criterion)) return instances->type;
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion)) return reference->type;
  return std::get<SpecificResourceCriterion>(criterion).object.type;
}

std::string_view doubtOf(const Criterion& criterion) {
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) return finalizer->doubt;
  if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion)) return specific->doubt;
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion)) return reference->doubt;
  return {};
}

bool isMetIfNotInstalled(const Criterion& criterion) {
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion))
    return finalizer->metIfNotInstalled;
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion))
    return reference->metIfNotInstalled;
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  return specific != nullptr && specific->metIfNotInstalled;
}

bool isAbout(const FinalizerCriterion& criterion, const kube::ObjectKey& object) {
  return kube::meansType(criterion.type, object.type) &&
         criterion.scope.includes(object.type, object.namespaceName, object.name);
}

std::vector<Criterion> stillAsking(const std::vector<Criterion>& criteria, const Criterion& criterion) {
  const graph::Condition wanted = conditionOf(criterion);
  std::vector<Criterion> asking;
  std::ranges::copy_if(criteria, std::back_inserter(asking),
                       [&](const Criterion& one) { return covers(conditionOf(one), wanted); });
  return asking;
}

namespace {

// Returns the criterion with the scope of `other`.
Criterion rescoped(Criterion criterion, const Criterion& other) {
  auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
  const auto* model = std::get_if<FinalizerCriterion>(&other);
  if (finalizer != nullptr && model != nullptr) finalizer->scope = model->scope;
  return criterion;
}

// Returns true if the two say the same of what they leave open, and are in the same doubt.
bool isOtherwiseSame(const Criterion& one, const Criterion& other) {
  const auto* finalizer = std::get_if<FinalizerCriterion>(&one);
  const auto* wanted = std::get_if<FinalizerCriterion>(&other);
  if (finalizer == nullptr || wanted == nullptr) return one == other;
  return finalizer->metIfNotInstalled == wanted->metIfNotInstalled && finalizer->doubt == wanted->doubt;
}

}  // namespace

bool isStillIn(const std::vector<Criterion>& criteria, const Criterion& criterion) {
  return std::ranges::any_of(criteria, [&](const Criterion& one) {
    return isOtherwiseSame(one, criterion) && covers(conditionOf(one), conditionOf(criterion));
  });
}

const FinalizerCriterion* narrowedOf(const std::vector<Criterion>& criteria, const Criterion& criterion) {
  const graph::Condition wanted = conditionOf(criterion);
  for (const Criterion& one : criteria) {
    const auto* finalizer = std::get_if<FinalizerCriterion>(&one);
    const bool isSame = finalizer != nullptr && conditionOf(rescoped(one, criterion)) == wanted;
    if (isSame && minus(wanted.scope, finalizer->scope) != wanted.scope) return finalizer;
  }
  return nullptr;
}

Criterion lostOf(const Criterion& criterion, const FinalizerCriterion& narrowed) {
  Criterion lost = criterion;
  auto& finalizer = std::get<FinalizerCriterion>(lost);
  finalizer.scope = minus(finalizer.scope, narrowed.scope);
  return lost;
}

std::string_view fieldOf(const kube::NamespaceScope& scope) {
  const bool isExcept = scope.kind == kube::NamespaceScope::Kind::Outside && scope.selector.empty();
  return isExcept ? kExceptField : kNamespacesField;
}

void selectNamespaces(CriticalService& service, const std::map<std::string, kube::Labels>& namespaces) {
  for (Criterion& criterion : service.criteria) {
    auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
    if (finalizer == nullptr || finalizer->scope.selector.empty()) continue;
    finalizer->scope.names.clear();
    for (const auto& [name, labels] : namespaces) {
      if (!kube::isSelected(finalizer->scope.selector, name, labels)) finalizer->scope.names.insert(name);
    }
  }
}

bool isWeaker(DeletionIntent former, DeletionIntent now) { return now > former; }

bool isWeaker(EnforcementMode former, EnforcementMode now) { return now != former; }

std::optional<kube::GroupResource> definedBy(const Criterion& criterion) {
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  if (specific == nullptr || specific->object.type != kube::kCustomResourceDefinitions) return std::nullopt;
  return kube::definedBy(specific->object.name);
}

std::string toString(const Criterion& criterion) {
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) {
    return "finalizer " + finalizer->finalizerName + " on " + kube::toString(finalizer->type) +
           kube::inWords(finalizer->scope, SIZE_MAX);
  }
  if (const auto* instances = std::get_if<InstancesCriterion>(&criterion))
    return "any " + kube::toString(instances->type);
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion))
    return kube::toString(reference->type) + " that name " + kube::toString(reference->reference.target) +
           " in " + kube::toString(reference->reference.fields) +
           (reference->reference.kind.empty() ? "" : " as " + reference->reference.kind);
  return kube::toString(std::get<SpecificResourceCriterion>(criterion).object);
}

std::vector<Criterion> writtenCriteria(const CriticalService& service) {
  if (!service.notUnderstood.empty()) return {};
  std::vector<Criterion> written = service.criteria;
  std::erase_if(written, [](const Criterion& criterion) {
    return std::holds_alternative<InstancesCriterion>(criterion);
  });
  for (Criterion& criterion : written) {
    if (auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) finalizer->doubt.clear();
    if (auto* specific = std::get_if<SpecificResourceCriterion>(&criterion)) specific->doubt.clear();
    if (auto* reference = std::get_if<ReferenceCriterion>(&criterion)) reference->doubt.clear();
  }
  return written;
}

void addFields(const CriticalService& service, FieldsByType& fields) {
  for (const Criterion& criterion : service.criteria) {
    if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion))
      fields[reference->type].insert(reference->reference.fields);
  }
}

std::vector<std::string> referencesOf(const kube::Object& object, const FieldsByType& fields) {
  const auto asked = fields.find(object.key.type);
  if (asked == fields.end()) return {};
  return kube::referencesIn(object.content, object.key.namespaceName, asked->second);
}

std::string fieldOf(const CriticalService& service, size_t criterion) {
  if (std::holds_alternative<InstancesCriterion>(service.criteria[criterion]))
    return std::string(kDependenciesField);
  if (!service.notUnderstood.empty()) return "spec";
  return "spec.criteria[" + std::to_string(criterion) + "]";
}

std::string fieldOfDependency(size_t place) {
  return std::string(kDependenciesField) + "[" + std::to_string(place) + "]";
}

kube::Value toManifest(const CriticalService& service) {
  kube::Value::Map metadata;
  add(metadata, "name", text(service.meta.name));
  if (!service.meta.uid.empty()) add(metadata, "uid", text(service.meta.uid));

  kube::Value::List criteria;
  for (const Criterion& criterion : writtenCriteria(service)) criteria.push_back(criterionFields(criterion));
  kube::Value::Map spec;
  add(spec, "provider", objectFields(service.provider));
  add(spec, "criteria", kube::Value{std::move(criteria), {}});
  add(spec, "deletionIntent", text(toString(service.intent)));
  if (service.enforcement != EnforcementMode::Deny)
    add(spec, "enforcement", text(toString(service.enforcement)));
  if (service.deferral != DeferralMode::Controllers)
    add(spec, "deferredDeletions", text(toString(service.deferral)));
  kube::Value::Map guard;
  if (service.guardsScaling) add(guard, "scaleToZero", kube::Value{true, {}});
  if (service.dependencies.mode != DependencyMode::Auto)
    add(guard, "dependencies", dependencyFields(service.dependencies));
  if (!guard.empty()) add(spec, "guard", kube::Value{std::move(guard), {}});

  kube::Value::Map manifest;
  add(manifest, "apiVersion", text(kube::kLastoutApiVersion));
  add(manifest, "kind", text(kKind));
  add(manifest, "metadata", kube::Value{std::move(metadata), {}});
  add(manifest, "spec", kube::Value{std::move(spec), {}});
  kube::Value::Map status;
  if (!service.providerUid.empty()) {
    kube::Value::Map provider;
    add(provider, "uid", text(service.providerUid));
    add(status, "provider", kube::Value{std::move(provider), {}});
  }
  kube::Value::List seen;
  for (const kube::GroupResource& type : service.seenTypes) seen.push_back(text(kube::crdName(type)));
  if (!seen.empty()) add(status, "seenTypes", kube::Value{std::move(seen), {}});
  if (!status.empty()) add(manifest, "status", kube::Value{std::move(status), {}});
  return kube::Value{std::move(manifest), {}};
}

graph::Condition conditionOf(const Criterion& criterion) {
  graph::Condition condition;
  if (!doubtOf(criterion).empty()) {
    condition.type = graph::notUnderstoodType();
    condition.name = toString(criterion);
    return condition;
  }
  if (const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion)) {
    condition.kind = graph::Condition::Kind::Finalizer;
    condition.type = finalizer->type;
    condition.finalizer = finalizer->finalizerName;
    condition.scope = finalizer->scope;
    return condition;
  }
  if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion)) {
    condition.kind = graph::Condition::Kind::Finalizer;
    condition.type = reference->type;
    condition.finalizer = kube::toText(reference->reference);
    return condition;
  }
  if (const auto* instances = std::get_if<InstancesCriterion>(&criterion)) {
    condition.kind = graph::Condition::Kind::Instances;
    condition.type = instances->type;
    return condition;
  }
  const kube::ObjectKey& object = std::get<SpecificResourceCriterion>(criterion).object;
  condition.kind = graph::Condition::Kind::Object;
  condition.type = object.type;
  condition.namespaceName = object.namespaceName;
  condition.name = object.name;
  return condition;
}

graph::Condition providerCondition(const CriticalService& service) {
  return conditionOf(SpecificResourceCriterion{service.provider});
}

ProviderStatus observeProvider(const CriticalService& service, std::optional<std::string_view> presentUid) {
  ProviderStatus status;
  status.uid = service.providerUid;
  status.present = presentUid.has_value();
  if (!presentUid || presentUid->empty())
    return status;  // a manifest that was never applied has no uid to compare
  if (status.uid.empty()) status.uid = *presentUid;
  status.replaced = status.uid != *presentUid;
  return status;
}

}  // namespace lastout::criticalservice
