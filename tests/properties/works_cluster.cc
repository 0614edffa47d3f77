// Clusters for kept works: works that apply several CriticalServices of one provider type, their providers,
// namespaces, what these need, and what nobody guards; some of it has other owners, and somebody deletes,
// creates and changes any of it.
#include <algorithm>

#include "criticalservice/provider_types.h"
#include "tests/properties/dice.h"
#include "tests/properties/random_cluster.h"

namespace lastout::testing {

namespace {

using cluster::ClientStep;
using cluster::PropagationPolicy;

constexpr const char* kWorksFinalizer = "example.com/a";

class WorksGenerator {
 public:
  explicit WorksGenerator(uint64_t seed) : dice_(seed) {}

  ClusterSpec make() {
    spec_.runsDeferredDeletions = true;
    spec_.forges = dice_.oneIn(2);
    const uint32_t spaces = 1 + dice_.below(2);
    for (uint32_t i = 0; i < spaces; ++i) add(namespaceKey("ns" + std::to_string(i)));
    if (dice_.oneIn(4)) spec_.lastoutNamespace = "ns" + std::to_string(spaces - 1);
    if (dice_.oneIn(4)) add(crdKey(types::kCriticalServices));
    if (dice_.oneIn(2)) add(crdKey(types::kDatabases));
    for (uint32_t count = 1 + dice_.below(4); count > 0; --count) addPlain();
    const kube::GroupResource type = dice_.oneIn(4) ? types::kDatabases : types::kDeployments;
    const uint32_t services = 1 + dice_.below(3);
    for (uint32_t i = 0; i < services; ++i) addService(dice_.oneIn(5) ? types::kStatefulSets : type);
    for (ObjectSpec& object : spec_.objects) addOwners(object);
    for (uint32_t count = 1 + dice_.below(2); count > 0; --count) addWork();
    for (const kube::GroupResource& from : {types::kWidgets, types::kConfigMaps, type}) {
      if (!dice_.oneIn(3)) spec_.controllers.push_back({.finalizer = kWorksFinalizer, .from = from});
    }
    for (const WorkObjects& work : spec_.works) {
      if (!dice_.oneIn(5)) spec_.steps.push_back({.verb = ClientStep::Verb::Delete, .object = work.key});
    }
    for (uint32_t count = dice_.below(10); count > 0; --count) addStep();
    return std::move(spec_);
  }

 private:
  ObjectSpec& add(kube::ObjectKey key) {
    spec_.objects.push_back({.key = std::move(key)});
    return spec_.objects.back();
  }

  ObjectSpec& addOf(const kube::GroupResource& type, std::string_view stem) {
    const std::string space = isNamespaced(type) ? "ns" + std::to_string(dice_.below(2)) : "";
    const bool isThere = space.empty() || std::ranges::any_of(spec_.objects, [&](const ObjectSpec& object) {
                           return object.key == namespaceKey(space);
                         });
    ObjectSpec& object = add({type, isThere ? space : "ns0", std::string(stem) + std::to_string(++names_)});
    if (dice_.oneIn(4)) object.finalizers = {kWorksFinalizer};
    return object;
  }

  kube::ObjectKey any() { return dice_.pick(spec_.objects).key; }

  void addPlain() { addOf(dice_.pick(std::vector{types::kWidgets, types::kConfigMaps}), "plain"); }

  // Some guard a provider that another one guards already.
  kube::ObjectKey providerOf(const kube::GroupResource& type) {
    if (dice_.oneIn(4)) {
      for (const ObjectSpec& object : spec_.objects) {
        if (object.service && object.service->provider.type == type) return object.service->provider;
      }
    }
    ObjectSpec& provider = addOf(type, "provider");
    if (isWorkload(type)) {
      provider.app = provider.key.name;
      provider.replicas = 1;
    }
    return provider.key;
  }

  void addService(const kube::GroupResource& type) {
    criticalservice::CriticalService service;
    service.provider = providerOf(type);
    service.meta.name = "service" + std::to_string(++names_);
    if (service.provider.namespaceName == spec_.lastoutNamespace && !spec_.lastoutNamespace.empty()) return;
    service.criteria = {criticalservice::FinalizerCriterion{
        dice_.oneIn(2) ? types::kWidgets : types::kGadgets, kWorksFinalizer}};
    service.intent = static_cast<criticalservice::DeletionIntent>(dice_.below(3));
    service.deferral = static_cast<criticalservice::DeferralMode>(dice_.below(3));
    service.dependencies.mode = criticalservice::DependencyMode::None;
    if (dice_.oneIn(2)) listDependency(service);
    if (criticalservice::canBeHeld(type) && dice_.oneIn(3))
      service.enforcement = criticalservice::EnforcementMode::Hold;
    add({types::kCriticalServices, "", service.meta.name}).service = std::move(service);
  }

  void listDependency(criticalservice::CriticalService& service) {
    const kube::ObjectKey needed = any();
    if (needed.type != types::kConfigMaps && needed.type != types::kStatefulSets) return;
    if (needed == service.provider || needed.namespaceName == spec_.lastoutNamespace) return;
    service.dependencies.mode = criticalservice::DependencyMode::Listed;
    service.dependencies.listed = {needed};
  }

  void addOwners(ObjectSpec& object) {
    if (!dice_.oneIn(3)) return;
    const kube::ObjectKey owner = any();
    const bool isReachable = owner.namespaceName.empty() || owner.namespaceName == object.key.namespaceName;
    if (isReachable && owner != object.key) object.owners.push_back({.object = owner});
  }

  void addWork() {
    WorkObjects work{.key = {types::kWorks, "hub", "work" + std::to_string(++names_)}, .applies = {}};
    for (const ObjectSpec& object : spec_.objects) {
      if (!dice_.oneIn(3)) work.applies.push_back(object.key);
    }
    spec_.works.push_back(std::move(work));
  }

  void addStep() {
    StepSpec step{.verb = ClientStep::Verb::Delete, .object = any()};
    step.retry = !dice_.oneIn(3);
    if (dice_.oneIn(2)) step.policy = static_cast<PropagationPolicy>(dice_.below(3));
    if (dice_.oneIn(5)) {
      step.verb = ClientStep::Verb::Create;
    } else if (dice_.oneIn(6)) {
      step.verb = ClientStep::Verb::SetFinalizers;
      if (step.object.type == types::kCrds)
        step.finalizers.emplace_back("customresourcecleanup.apiextensions.k8s.io");
    } else if (step.object.type == types::kCriticalServices && dice_.oneIn(3)) {
      step.verb = ClientStep::Verb::SetIntent;
      step.value = static_cast<uint16_t>(dice_.below(3));
    }
    spec_.steps.push_back(std::move(step));
  }

  Dice dice_;
  uint32_t names_ = 0;
  ClusterSpec spec_;
};

}  // namespace

ClusterSpec worksCluster(uint64_t seed) { return WorksGenerator(seed).make(); }

}  // namespace lastout::testing
