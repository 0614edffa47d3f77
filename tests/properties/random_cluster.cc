#include "tests/properties/random_cluster.h"

#include <algorithm>

#include "criticalservice/provider_types.h"
#include "kube/well_known.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

namespace {

using cluster::ClientStep;
using cluster::PropagationPolicy;

class RandomGenerator {
 public:
  RandomGenerator(uint64_t seed, uint32_t objects)
      : dice_(seed), needs_(seed ^ 0x9e3779b97f4a7c15), size_(objects) {}

  ClusterSpec make() {
    addNamespaces();
    addCrds();
    while (spec_.objects.size() + spec_.works.size() < size_) addSomething();
    for (size_t i = 0; i < spec_.objects.size(); ++i) addOwners(i);
    addControllers();
    const uint32_t steps = 1 + dice_.below(std::min<uint32_t>(30, 3 + size_ / 2));
    for (uint32_t i = 0; i < steps; ++i) addSteps();
    return std::move(spec_);
  }

 private:
  ObjectSpec& add(kube::ObjectKey key) {
    spec_.objects.push_back({.key = std::move(key)});
    return spec_.objects.back();
  }

  std::string freshName(std::string_view stem) { return std::string(stem) + std::to_string(++names_); }

  const ObjectSpec& any() { return spec_.objects[dice_.below(static_cast<uint32_t>(spec_.objects.size()))]; }

  const ObjectSpec* anyOf(const kube::GroupResource& type) {
    std::vector<const ObjectSpec*> found;
    for (const ObjectSpec& object : spec_.objects) {
      if (object.key.type == type) found.push_back(&object);
    }
    return found.empty() ? nullptr : dice_.pick(found);
  }

  bool isPresent(const kube::ObjectKey& key) const {
    return std::any_of(spec_.objects.begin(), spec_.objects.end(),
                       [&](const ObjectSpec& object) { return object.key == key && object.present; });
  }

  std::vector<std::string> someFinalizers(uint32_t most) {
    static const std::vector<std::string> kNames{"example.com/a", "example.com/b", "other.example.com/c"};
    std::vector<std::string> result;
    for (uint32_t count = dice_.below(most + 1); count > 0; --count) {
      const std::string name = dice_.pick(kNames);
      if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
    }
    return result;
  }

  void addNamespaces() {
    const uint32_t count = 1 + dice_.below(1 + std::min<uint32_t>(size_ / 8, 7));
    for (uint32_t i = 0; i < count; ++i) {
      ObjectSpec& space = add(namespaceKey("ns" + std::to_string(i)));
      space.present = !dice_.oneIn(12);
      if (dice_.oneIn(10)) space.finalizers = someFinalizers(1);
      space.terminating = space.present && dice_.oneIn(20);
    }
    if (dice_.oneIn(4)) spec_.lastoutNamespace = "ns0";
  }

  void addCrds() {
    for (const kube::GroupResource& type :
         {types::kWidgets, types::kGadgets, types::kDatabases, types::kCriticalServices}) {
      if (dice_.oneIn(3)) continue;  // its instances may exist anyway: not every type is a CRD's
      ObjectSpec& crd = add(crdKey(type));
      crd.present = !dice_.oneIn(10);
      if (dice_.oneIn(8)) crd.finalizers = someFinalizers(1);
      crd.terminating = crd.present && !crd.finalizers.empty() && dice_.oneIn(4);
    }
  }

  // A new object of that type in some namespace, present if what it needs is there.
  ObjectSpec& addOf(const kube::GroupResource& type, std::string_view stem, bool mayBeAbsent = true) {
    const std::string space = isNamespaced(type) ? anyOf(types::kNamespaces)->key.name : "";
    ObjectSpec& object = add({type, space, freshName(stem)});
    const bool hasCrd = std::any_of(spec_.objects.begin(), spec_.objects.end(),
                                    [&](const ObjectSpec& other) { return other.key == crdKey(type); });
    const bool possible =
        (space.empty() || isPresent(namespaceKey(space))) && (!hasCrd || isPresent(crdKey(type)));
    object.present = possible && !(mayBeAbsent && dice_.oneIn(6));
    return object;
  }

  void addSomething() {
    switch (dice_.below(14)) {
      case 0:
      case 1:
      case 2:
        return addPlain(dice_.pick(std::vector{types::kWidgets, types::kGadgets}), "instance");
      case 3:
        return addPlain(types::kDatabases, "database");
      case 4:
        return addPlain(types::kConfigMaps, "config");
      case 5:
        return addPlain(types::kClusterRoles, "role");
      case 6:
      case 7:
        return addWorkload();
      case 8:
        return addClaim();
      case 9:
        return addWork();
      case 10:
        return addWebhook();
      default:
        return addService();
    }
  }

  void addPlain(const kube::GroupResource& type, std::string_view stem) {
    ObjectSpec& object = addOf(type, stem);
    object.finalizers = someFinalizers(2);
    object.terminating = object.present && !object.finalizers.empty() && dice_.oneIn(10);
    while (dice_.oneIn(2)) {
      kube::ObjectKey named = someProvider();
      if (dice_.oneIn(3)) named.namespaceName.clear();
      object.names.push_back(std::move(named));
    }
  }

  void addWorkload() {
    ObjectSpec& workload =
        addOf(dice_.pick(std::vector{types::kDeployments, types::kStatefulSets, types::kDaemonSets}), "run");
    workload.app = workload.key.name;
    workload.replicas = static_cast<uint16_t>(dice_.below(3));
    if (dice_.oneIn(5)) workload.finalizers = someFinalizers(1);
    for (const ObjectSpec& claim : spec_.objects) {
      const bool near =
          claim.key.type == types::kClaims && claim.key.namespaceName == workload.key.namespaceName;
      if (near && dice_.oneIn(3)) workload.claims.push_back(claim.key.name);
    }
  }

  void addClaim() { addOf(types::kClaims, "claim"); }

  void addWork() {
    WorkObjects work{.key = {types::kWorks, "hub", freshName("work")}, .applies = {}};
    const uint32_t count = dice_.below(8);
    for (uint32_t i = 0; i < count; ++i) work.applies.push_back(any().key);
    spec_.works.push_back(std::move(work));
  }

  // A Service in front of a workload, and a webhook behind it that is called for a type or two, or converts
  // one.
  void addWebhook() {
    if (!dice_.oneIn(3)) return addClaim();
    const ObjectSpec* workload = anyOf(types::kDeployments);
    if (workload == nullptr) return addWorkload();
    const std::string app = workload->app;
    const kube::ObjectKey key{types::kServices, workload->key.namespaceName, freshName("front")};
    const bool present = isPresent(namespaceKey(key.namespaceName));
    ObjectSpec& service = add(key);
    service.app = app;
    service.present = present;
    for (ObjectSpec& object : spec_.objects) {
      if (object.key.type == types::kCrds && dice_.oneIn(4)) object.converter = key;
    }
    ObjectSpec& configuration = addOf(types::kWebhooks, "hook");
    configuration.webhook = WebhookSpec{.service = key, .types = {dice_.pick(commonTypes())}};
    configuration.webhook->onUpdate = dice_.oneIn(2);
  }

  static const std::vector<kube::GroupResource>& commonTypes() {
    static const std::vector kTypes{types::kWidgets, types::kGadgets, types::kConfigMaps,
                                    types::kDeployments};
    return kTypes;
  }

  void addService() {
    criticalservice::CriticalService service;
    service.meta.name = freshName("service");
    service.provider = someProvider();
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count) {
      criticalservice::Criterion criterion = someCriterion(service.provider.namespaceName);
      const bool again =
          std::find(service.criteria.begin(), service.criteria.end(), criterion) != service.criteria.end();
      if (!again) service.criteria.push_back(std::move(criterion));
    }
    if (dice_.oneIn(3)) addReference(service);
    service.intent = static_cast<criticalservice::DeletionIntent>(dice_.oneIn(4) ? dice_.below(3) : 0);
    service.dependencies.mode = static_cast<criticalservice::DependencyMode>(dice_.below(3));
    if (service.dependencies.mode == criticalservice::DependencyMode::Listed) listDependencies(service);
    if (namesItsOwn(service) || isInHome(service.provider)) return;  // refused
    if (criticalservice::canBeHeld(service.provider.type) && !dice_.oneIn(3))
      service.enforcement = criticalservice::EnforcementMode::Hold;
    ObjectSpec& object = addOf(types::kCriticalServices, "unused");
    object.key.name = service.meta.name;
    if (dice_.oneIn(6)) object.finalizers = someFinalizers(1);
    object.service = std::move(service);
  }

  // Whoever names the provider keeps it.
  void addReference(criticalservice::CriticalService& service) {
    const kube::GroupResource type = dice_.pick(std::vector{types::kWidgets, types::kGadgets});
    service.criteria.push_back(
        criticalservice::ReferenceCriterion{type, {namingFields(), service.provider, ""}});
  }

  void listDependencies(criticalservice::CriticalService& service) {
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count) {
      const kube::ObjectKey object = any().key;
      const bool isPlain = object.type == types::kConfigMaps || object.type == types::kClusterRoles ||
                           object.type == types::kClaims || object.type == types::kWidgets;
      // Refused when it is read.
      const bool isAwaited =
          std::ranges::any_of(service.criteria, [&](const criticalservice::Criterion& criterion) {
            const auto* specific = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion);
            return specific != nullptr ? specific->object == object : typeOf(criterion) == object.type;
          });
      if (isPlain && !isAwaited && !isInHome(object)) service.dependencies.listed.push_back(object);
    }
  }

  kube::ObjectKey someProvider() {
    const kube::GroupResource type =
        dice_.pick(std::vector{types::kDeployments, types::kDeployments, types::kStatefulSets,
                               types::kDaemonSets, types::kDatabases});
    const ObjectSpec* object = anyOf(type);
    if (object != nullptr && !dice_.oneIn(10)) return object->key;
    return {type, "ns0", "nobody"};
  }

  // Some leave out the provider's namespace, which is `home`; some are about one or two namespaces alone.
  criticalservice::Criterion someCriterion(const std::string& home) {
    if (dice_.oneIn(2)) return criticalservice::SpecificResourceCriterion{someObject()};
    criticalservice::FinalizerCriterion criterion = someFinalizerCriterion();
    const bool isKnown = std::ranges::count(commonTypes(), criterion.type) > 0;
    if (isKnown && isNamespaced(criterion.type) && dice_.oneIn(3) && !home.empty())
      criterion.scope = kube::NamespaceScope::outside(home);
    else if (isKnown && isNamespaced(criterion.type) && dice_.oneIn(3))
      criterion.scope = kube::NamespaceScope::within({"ns0", home.empty() || dice_.oneIn(2) ? "ns1" : home});
    return criterion;
  }

  criticalservice::FinalizerCriterion someFinalizerCriterion() {
    const std::vector<std::string> names{"example.com/a", "example.com/b", "other.example.com/c"};
    std::string finalizer = dice_.pick(names);
    if (dice_.oneIn(10)) finalizer = dice_.oneIn(2) ? kube::kForegroundFinalizer : kube::kOrphanFinalizer;
    // Slips of the pen; and one that is said not to matter.
    if (dice_.oneIn(20))
      return criticalservice::FinalizerCriterion{{types::kWidgets.group, "widgtes"}, finalizer};
    if (dice_.oneIn(20))
      return criticalservice::FinalizerCriterion{
          {"nowhere.example.com", "widgets"}, finalizer, dice_.oneIn(2)};
    if (dice_.oneIn(8)) finalizer = "example.com/*";
    if (dice_.oneIn(8)) return criticalservice::FinalizerCriterion{{types::kWidgets.group, "*"}, finalizer};
    return criticalservice::FinalizerCriterion{dice_.pick(commonTypes()), finalizer};
  }

  kube::ObjectKey someObject() {
    if (dice_.oneIn(20)) return {types::kCrds, "", dice_.oneIn(2) ? "widgtes.example.com" : "widgets"};
    if (dice_.oneIn(3)) return crdKey(dice_.oneIn(2) ? types::kWidgets : types::kGadgets);
    if (const ObjectSpec* set = anyOf(types::kStatefulSets); set != nullptr && dice_.oneIn(4))
      return {types::kPods, set->key.namespaceName, set->key.name + "-" + std::to_string(dice_.below(3))};
    return any().key;
  }

  // A criterion on the provider, on the service, or on what holds either: kube would say it is never met.
  // About what is in lastout's own namespace nobody asks.
  bool isInHome(const kube::ObjectKey& object) const {
    return !object.namespaceName.empty() && object.namespaceName == spec_.lastoutNamespace;
  }

  static bool namesItsOwn(const criticalservice::CriticalService& service) {
    const std::vector<kube::ObjectKey> own{service.provider, criticalservice::keyOf(service),
                                           namespaceKey(service.provider.namespaceName),
                                           crdKey(service.provider.type), crdKey(types::kCriticalServices)};
    return std::any_of(service.criteria.begin(), service.criteria.end(), [&](const auto& criterion) {
      const auto* specific = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion);
      return specific != nullptr && std::find(own.begin(), own.end(), specific->object) != own.end();
    });
  }

  // Mostly earlier objects, so that most references form no circle, but some do.
  void addOwners(size_t index) {
    if (!dice_.oneIn(4)) return;
    ObjectSpec& object = spec_.objects[index];
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count) {
      const auto among = static_cast<uint32_t>(dice_.oneIn(8) ? spec_.objects.size() : index);
      if (among == 0) return;
      const kube::ObjectKey& owner = spec_.objects[dice_.below(among)].key;
      const bool reachable = owner.namespaceName.empty() || owner.namespaceName == object.key.namespaceName;
      const bool known = std::any_of(object.owners.begin(), object.owners.end(),
                                     [&](const OwnerSpec& other) { return other.object == owner; });
      if (!reachable || known || owner == object.key) continue;
      object.owners.push_back({.object = owner, .controller = false, .blockOwnerDeletion = dice_.oneIn(2)});
    }
  }

  void addControllers() {
    for (const kube::GroupResource& type : commonTypes()) {
      for (const char* finalizer : {"example.com/a", "example.com/b", "other.example.com/c"}) {
        if (dice_.oneIn(4)) continue;
        ControllerSpec controller{.finalizer = finalizer, .from = type, .runsIn = {}};
        const ObjectSpec* workload = anyOf(types::kDeployments);
        if (workload != nullptr && dice_.oneIn(2)) controller.runsIn = workload->key;
        for (uint32_t count = needs_.oneIn(6) ? 1 + needs_.below(2) : 0; count > 0; --count)
          controller.needs.push_back(needs_.pick(spec_.objects).key);
        if (needs_.oneIn(6)) controller.waitsFor.push_back(needs_.pick(spec_.objects).key);
        spec_.controllers.push_back(std::move(controller));
      }
    }
  }

  StepSpec deletion(const kube::ObjectKey& key) {
    StepSpec step{.verb = ClientStep::Verb::Delete, .object = key};
    if (!dice_.oneIn(3)) step.policy = static_cast<PropagationPolicy>(dice_.below(3));
    step.dryRun = dice_.oneIn(12);
    step.retry = !dice_.oneIn(5);
    if (dice_.oneIn(5)) step.precondition = static_cast<cluster::Precondition>(dice_.below(3));
    return step;
  }

  void addSteps() {
    switch (dice_.below(10)) {
      case 0:
        return addPatch();
      case 1:
        return addCreation();
      case 2:
        return addScale();
      case 3:
        return addIntent();
      case 4:
        return addCollection();
      case 5:
        if (spec_.works.empty()) break;
        spec_.steps.push_back(deletion(dice_.pick(spec_.works).key));
        return;
      case 6:
        return addChildDeletion();
      default:
        break;
    }
    spec_.steps.push_back(deletion(any().key));
  }

  void addPatch() {
    const ObjectSpec& object = any();
    StepSpec step{.verb = ClientStep::Verb::SetForm, .object = object.key};
    step.value = static_cast<uint16_t>(dice_.below(4));
    if (!dice_.oneIn(4)) {
      step.verb = ClientStep::Verb::SetFinalizers;
      step.finalizers = someFinalizers(2);
      // Taking a CRD's own finalizer away leaves instances that nobody serves: not Kubernetes' deletion any
      // more.
      if (object.key.type == types::kCrds)
        step.finalizers.emplace_back("customresourcecleanup.apiextensions.k8s.io");
      step.value = 0;
    }
    spec_.steps.push_back(std::move(step));
  }

  void addCreation() {
    StepSpec step{.verb = ClientStep::Verb::Create, .object = any().key};
    step.serverSide = dice_.oneIn(2);
    // Deleted and created again, too: a new object of the same name.
    if (dice_.oneIn(2)) spec_.steps.push_back(deletion(step.object));
    spec_.steps.push_back(std::move(step));
  }

  void addScale() {
    const ObjectSpec* workload = anyOf(dice_.oneIn(2) ? types::kDeployments : types::kStatefulSets);
    if (workload == nullptr) return;
    StepSpec step{.verb = ClientStep::Verb::SetReplicas, .object = workload->key};
    step.value = static_cast<uint16_t>(dice_.below(4));
    spec_.steps.push_back(std::move(step));
  }

  void addIntent() {
    const ObjectSpec* service = anyOf(types::kCriticalServices);
    if (service == nullptr) return;
    StepSpec step{.verb = ClientStep::Verb::SetIntent, .object = service->key};
    step.value = static_cast<uint16_t>(dice_.below(3));
    spec_.steps.push_back(std::move(step));
  }

  // What deletecollection asks of a namespace: every object of one type.
  void addCollection() {
    const kube::ObjectKey first = any().key;
    const StepSpec like = deletion(first);
    for (const ObjectSpec& object : spec_.objects) {
      if (object.key.type != first.type || object.key.namespaceName != first.namespaceName) continue;
      StepSpec step = like;
      step.object = object.key;
      spec_.steps.push_back(std::move(step));
    }
  }

  void addChildDeletion() {
    const ObjectSpec* workload = anyOf(dice_.oneIn(2) ? types::kDeployments : types::kStatefulSets);
    if (workload == nullptr) return;
    StepSpec step = deletion(workload->key);
    step.target = dice_.oneIn(2) ? StepSpec::Target::Child : StepSpec::Target::Grandchild;
    spec_.steps.push_back(std::move(step));
  }

  Dice dice_;
  Dice needs_;  // of what controllers need, so that the rest of a seed's cluster is the same without
  uint32_t size_;
  uint32_t names_ = 0;
  ClusterSpec spec_;
};

}  // namespace

ClusterSpec randomCluster(uint64_t seed, uint32_t objects) { return RandomGenerator(seed, objects).make(); }

}  // namespace lastout::testing
