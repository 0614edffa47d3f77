// Clusters that must end empty, whatever the order, because of how they are made. Objects are made in levels,
// and goes-after leads downwards only:
//   plain objects and instances <- operators, each after those before it <- their namespaces and services.
// With ManifestWorks this holds only where nothing that a work applied waits for something else of that work
// whose deletion may be refused: the agent forgets what was refused, and the garbage collector asks again
// only once the AppliedManifestWork is gone (docs/concepts.md, "Deferred deletions"). Of what clients
// delete in the background, only a claim waits so, for the Pods that mount it. Works::Safe therefore keeps
// claims, and what is listed as needed, out of works; Works::WithClaims does not. There everything goes by
// itself only where lastout runs what it deferred; elsewhere, once somebody asks again for each object
// that is left. For the same reason nothing is orphaned where there are works: an object that a work gave up
// on, and that loses its last owner to an Orphan deletion, is nobody's to delete.
// A provider that is held and deleted waits, and its work with it, for what the work's agent may have given
// up on: with works there are such providers only where somebody asks again. Nobody replaces what they run:
// what a workload runs that terminates is left alone.
#include <algorithm>

#include "tests/properties/dice.h"
#include "tests/properties/random_cluster.h"

namespace lastout::testing {

namespace {

using cluster::ClientStep;
using cluster::PropagationPolicy;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::SpecificResourceCriterion;

// Its controller runs outside of the cluster.
constexpr const char* kFree = "example.com/free";

class Generator {
 public:
  Generator(uint64_t seed, uint32_t objects, Works works)
      : dice_(seed), size_(std::max<uint32_t>(objects, 8)), works_(works) {}

  ClusterSpec make() {
    addNamespaces();
    for (const kube::GroupResource& type : {types::kWidgets, types::kGadgets}) add(crdKey(type));
    if (dice_.oneIn(2)) add(crdKey(types::kCriticalServices));
    const uint32_t operators = 1 + dice_.below(std::min<uint32_t>(4, size_ / 4));
    while (spec_.objects.size() + 4 * operators < size_) addPlain();
    for (uint32_t i = 0; i < operators; ++i) addOperator(i);
    addFreeFinalizers();
    if (works_ != Works::None) addWorks();
    addDeletions();
    addChanges();
    return std::move(spec_);
  }

 private:
  ObjectSpec& add(kube::ObjectKey key) {
    spec_.objects.push_back({.key = std::move(key)});
    return spec_.objects.back();
  }

  std::string freshName(std::string_view stem) { return std::string(stem) + std::to_string(++names_); }

  template <class Predicate>
  std::vector<kube::ObjectKey> keysWhere(Predicate predicate) const {
    std::vector<kube::ObjectKey> keys;
    for (const ObjectSpec& object : spec_.objects) {
      if (predicate(object)) keys.push_back(object.key);
    }
    return keys;
  }

  ObjectSpec& at(const kube::ObjectKey& key) {
    return *std::find_if(spec_.objects.begin(), spec_.objects.end(),
                         [&](const ObjectSpec& object) { return object.key == key; });
  }

  void addNamespaces() {
    for (uint32_t i = 1 + dice_.below(4); i > 0; --i) spaces_.push_back(freshName("space"));
    for (const std::string& space : spaces_) add(namespaceKey(space));
    if (dice_.oneIn(4)) spec_.lastoutNamespace = spaces_.front();
  }

  ObjectSpec& addOf(const kube::GroupResource& type, std::string_view stem) {
    return add({type, isNamespaced(type) ? dice_.pick(spaces_) : "", freshName(stem)});
  }

  void addPlain() {
    switch (dice_.below(8)) {
      case 0:
        own(addOf(types::kClusterRoles, "role"));
        break;
      case 1:
        own(addOf(types::kConfigMaps, "config"));
        break;
      case 2:
        addOf(types::kClaims, "claim");
        break;
      case 3:
      case 4:
        addWorkload();
        break;
      default:
        own(addOf(dice_.oneIn(2) ? types::kWidgets : types::kGadgets, "instance"));
        break;
    }
  }

  void addWorkload() {
    ObjectSpec& workload =
        addOf(dice_.pick(std::vector{types::kDeployments, types::kStatefulSets, types::kDaemonSets}), "run");
    workload.app = workload.key.name;
    workload.replicas = static_cast<uint16_t>(dice_.below(3));
    mount(workload);
    own(workload);
  }

  void mount(ObjectSpec& workload) {
    for (const ObjectSpec& claim : spec_.objects) {
      if (claim.key.type != types::kClaims || claim.key.namespaceName != workload.key.namespaceName) continue;
      if (dice_.oneIn(2)) workload.claims.push_back(claim.key.name);
    }
  }

  // Owners among earlier objects. A role is owned by roles alone, so that roles may own operators without a
  // criterion ever waiting for an operator's owner.
  void own(ObjectSpec& object) {
    if (!dice_.oneIn(3)) return;
    const bool rolesOnly = object.key.type == types::kClusterRoles;
    for (uint32_t count = 1 + dice_.below(2); count > 0; --count) {
      const ObjectSpec owner = dice_.pick(spec_.objects);
      // What goes after an operator owns nothing that this may wait for.
      const bool isPlain = owner.key.type != types::kNamespaces && owner.key.type != types::kCrds &&
                           !owner.key.name.starts_with("needed");
      const bool reachable =
          owner.key.namespaceName.empty() || owner.key.namespaceName == object.key.namespaceName;
      const bool known = std::any_of(object.owners.begin(), object.owners.end(),
                                     [&](const OwnerSpec& other) { return other.object == owner.key; });
      if (!isPlain || !reachable || known || owner.key == object.key) continue;
      if (rolesOnly && owner.key.type != types::kClusterRoles) continue;
      object.owners.push_back(
          {.object = owner.key, .controller = false, .blockOwnerDeletion = dice_.oneIn(2)});
    }
  }

  // --- operators

  void addOperator(uint32_t level) {
    std::string space = dice_.oneIn(4) ? dice_.pick(spaces_) : freshName("operator");
    if (space == spec_.lastoutNamespace) space = freshName("operator");  // nobody asks about what is there
    if (std::find(spaces_.begin(), spaces_.end(), space) == spaces_.end()) add(namespaceKey(space));
    criticalservice::CriticalService service;
    service.meta.name = freshName("service");
    service.provider = {
        dice_.pick(std::vector{types::kDeployments, types::kStatefulSets, types::kDaemonSets}), space,
        freshName("operator")};
    const bool serves = !dice_.oneIn(4);
    if (serves) serve(service, level);
    wait(service);
    chooseDependencies(service);
    if (works_ != Works::Safe && dice_.oneIn(2)) service.enforcement = criticalservice::EnforcementMode::Hold;
    if (!serves && dice_.oneIn(2)) service.intent = static_cast<DeletionIntent>(dice_.below(3));
    ObjectSpec& provider = add(service.provider);
    provider.app = provider.key.name;
    provider.replicas = static_cast<uint16_t>(1 + dice_.below(2));
    mount(provider);
    ownByRole(provider);
    if (serves && dice_.oneIn(3)) addWebhook(service);
    if (serves) convertWidgets(service);
    addServices(service, serves);
    providers_.push_back(service.provider);
  }

  // Of ConfigMaps lastout knows nothing but what reviews and works tell. The new one goes after this
  // operator, and only later ones wait for it. Of a type whose finalizers are awaited none can be listed.
  void chooseDependencies(criticalservice::CriticalService& service) {
    using criticalservice::DependencyMode;
    service.dependencies.mode = static_cast<DependencyMode>(dice_.below(3));
    if (service.dependencies.mode != DependencyMode::Listed) return;
    const bool areAwaited =
        std::ranges::any_of(service.criteria, [](const criticalservice::Criterion& criterion) {
          const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
          return finalizer != nullptr && finalizer->type == types::kConfigMaps;
        });
    if (areAwaited) {
      service.dependencies.mode = DependencyMode::None;
      return;
    }
    const kube::ObjectKey needed{types::kConfigMaps, service.provider.namespaceName, freshName("needed")};
    add(needed);
    service.dependencies.listed = {needed};
  }

  void addServices(const criticalservice::CriticalService& service, bool serves) {
    const kube::ObjectKey key = criticalservice::keyOf(service);
    add(key).service = service;
    services_.push_back(key);
    if (!serves) free_.push_back(key);
    if (!dice_.oneIn(4)) return;
    // A second service on the same provider, which wants less.
    criticalservice::CriticalService second = service;
    second.meta.name = freshName("service");
    second.criteria = {service.criteria.front()};
    if (dice_.oneIn(3)) second.enforcement = criticalservice::EnforcementMode::Deny;
    add(criticalservice::keyOf(second)).service = second;
    services_.push_back(criticalservice::keyOf(second));
  }

  // Puts a finalizer that this operator removes on objects that are there, and what must be gone before it.
  void serve(criticalservice::CriticalService& service, uint32_t level) {
    const std::string finalizer = "level" + std::to_string(level) + ".example.com/clean-up";
    const std::vector<kube::GroupResource> served{types::kWidgets, types::kGadgets, types::kConfigMaps,
                                                  types::kDeployments};
    for (uint32_t count = 1 + dice_.below(2); count > 0; --count) {
      const kube::GroupResource type = dice_.pick(served);
      const FinalizerCriterion criterion{type, finalizer};
      if (std::find(service.criteria.begin(), service.criteria.end(),
                    criticalservice::Criterion(criterion)) != service.criteria.end())
        continue;
      for (ObjectSpec& object : spec_.objects) {
        if (object.key.type == type && dice_.oneIn(3)) object.finalizers.push_back(finalizer);
      }
      service.criteria.emplace_back(criterion);
      // No new instance can appear once the CRD is gone; where there is no CRD, nobody creates any.
      if (type == types::kWidgets || type == types::kGadgets)
        service.criteria.emplace_back(SpecificResourceCriterion{crdKey(type)});
      spec_.controllers.push_back({.finalizer = finalizer, .from = type, .runsIn = service.provider});
    }
  }

  // Other things that it goes after: plain objects, and operators made before it with what holds them.
  void wait(criticalservice::CriticalService& service) {
    std::vector<kube::ObjectKey> lower = keysWhere([&](const ObjectSpec& object) {
      return object.key.type == types::kConfigMaps || object.key.type == types::kWidgets ||
             object.key.type == types::kGadgets;
    });
    lower.insert(lower.end(), providers_.begin(), providers_.end());
    lower.insert(lower.end(), services_.begin(), services_.end());
    uint32_t count = dice_.below(3);
    if (service.criteria.empty()) ++count;
    if (lower.empty()) lower.push_back({types::kConfigMaps, spaces_.front(), "never-there"});
    for (; count > 0; --count) {
      const SpecificResourceCriterion criterion{dice_.pick(lower)};
      const bool again = std::find(service.criteria.begin(), service.criteria.end(),
                                   criticalservice::Criterion(criterion)) != service.criteria.end();
      if (!again) service.criteria.emplace_back(criterion);
    }
  }

  void ownByRole(ObjectSpec& object) {
    const std::vector<kube::ObjectKey> roles =
        keysWhere([](const ObjectSpec& other) { return other.key.type == types::kClusterRoles; });
    if (roles.empty() || !dice_.oneIn(3)) return;
    object.owners.push_back({.object = dice_.pick(roles), .controller = false, .blockOwnerDeletion = true});
  }

  // A webhook that the operator serves; its configuration must be gone before the operator.
  void addWebhook(criticalservice::CriticalService& service) {
    ObjectSpec& front = add({types::kServices, service.provider.namespaceName, freshName("front")});
    front.app = service.provider.name;
    const kube::ObjectKey frontKey = front.key;
    ObjectSpec& configuration = add({types::kWebhooks, "", freshName("hook")});
    configuration.webhook = WebhookSpec{.service = frontKey, .types = {types::kWidgets, types::kDeployments}};
    configuration.webhook->onUpdate = dice_.oneIn(2);
    service.criteria.emplace_back(SpecificResourceCriterion{configuration.key});
  }

  // The operator converts them, and so waits for all of them: where dependencies are found, that is.
  void convertWidgets(const criticalservice::CriticalService& service) {
    if (service.dependencies.mode != criticalservice::DependencyMode::Auto || !dice_.oneIn(2)) return;
    const kube::ObjectKey front{types::kServices, service.provider.namespaceName, freshName("front")};
    const auto crd = std::ranges::find(spec_.objects, crdKey(types::kWidgets), &ObjectSpec::key);
    if (crd->converter) return;
    crd->converter = front;
    add(front).app = service.provider.name;
  }

  void addFreeFinalizers() {
    for (ObjectSpec& object : spec_.objects) {
      if (dice_.oneIn(5) && object.key.type != types::kWebhooks) object.finalizers.emplace_back(kFree);
    }
    for (const kube::GroupResource& type :
         {types::kNamespaces, types::kCrds, types::kCriticalServices, types::kWidgets, types::kGadgets,
          types::kConfigMaps, types::kClusterRoles, types::kDeployments, types::kStatefulSets,
          types::kDaemonSets, types::kClaims, types::kServices})
      spec_.controllers.push_back({.finalizer = kFree, .from = type, .runsIn = {}});
  }

  // --- what clients ask

  void addWorks() {
    for (uint32_t count = 1 + dice_.below(4); count > 0; --count)
      spec_.works.push_back({.key = {types::kWorks, "hub", freshName("work")}, .applies = {}});
    for (const ObjectSpec& object : spec_.objects) {
      const bool mayWait = object.key.type == types::kClaims || object.key.name.starts_with("needed");
      if ((mayWait && works_ == Works::Safe) || dice_.oneIn(3)) continue;
      const uint32_t first = dice_.below(static_cast<uint32_t>(spec_.works.size()));
      const uint32_t second = dice_.below(static_cast<uint32_t>(spec_.works.size()));
      spec_.works[first].applies.push_back(object.key);
      if (second != first && dice_.oneIn(6)) spec_.works[second].applies.push_back(object.key);
    }
  }

  bool isInWork(const kube::ObjectKey& key) const {
    return std::any_of(spec_.works.begin(), spec_.works.end(), [&](const WorkObjects& work) {
      return std::find(work.applies.begin(), work.applies.end(), key) != work.applies.end();
    });
  }

  StepSpec deletion(const kube::ObjectKey& key) {
    StepSpec step{.verb = ClientStep::Verb::Delete, .object = key};
    const uint32_t policies = works_ == Works::None ? 3 : 2;
    if (!dice_.oneIn(3)) step.policy = static_cast<PropagationPolicy>(dice_.below(policies));
    return step;
  }

  void addDeletions() {
    for (const WorkObjects& work : spec_.works) spec_.steps.push_back(deletion(work.key));
    for (const ObjectSpec& object : spec_.objects) {
      if (!isInWork(object.key)) spec_.steps.push_back(deletion(object.key));
    }
    if (works_ != Works::WithClaims) return;
    for (const ObjectSpec& object : spec_.objects) {
      StepSpec again = deletion(object.key);
      again.last = true;
      spec_.steps.push_back(std::move(again));
    }
  }

  // A provider whose lost Pod may not come back: it is terminating while it is held, or mounts what nobody
  // guards, and no Pod starts that mounts a terminating claim.
  bool needsItsPods(const ObjectSpec& workload) const {
    return std::any_of(spec_.objects.begin(), spec_.objects.end(), [&](const ObjectSpec& object) {
      if (!object.service || object.service->provider != workload.key) return false;
      const bool guardsClaims = object.service->dependencies.mode == criticalservice::DependencyMode::Auto;
      return object.service->enforcement == criticalservice::EnforcementMode::Hold ||
             (!guardsClaims && !workload.claims.empty());
    });
  }

  // Changes during the teardown that do no harm.
  void addChanges() {
    for (uint32_t count = dice_.below(8); count > 0; --count) {
      const ObjectSpec object = dice_.pick(spec_.objects);
      StepSpec step = deletion(object.key);
      switch (dice_.below(6)) {
        case 0:
          step.dryRun = true;
          break;
        case 1:
          step.verb = ClientStep::Verb::SetForm;
          step.value = 1;
          break;
        case 2:
          if (!isWorkload(object.key.type) || needsItsPods(object)) continue;
          step.target = StepSpec::Target::Child;
          break;
        case 3:
          if (object.key.type != types::kDeployments && object.key.type != types::kStatefulSets) continue;
          step.verb = ClientStep::Verb::SetReplicas;
          step.value = static_cast<uint16_t>(1 + dice_.below(3));
          break;
        case 4:
          if (free_.empty()) continue;
          step.verb = ClientStep::Verb::SetIntent;
          step.object = dice_.pick(free_);
          step.value = static_cast<uint16_t>(dice_.below(3));
          break;
        default:
          createInstance(object.key.type);
          continue;
      }
      spec_.steps.push_back(std::move(step));
    }
  }

  // An instance that appears during the teardown goes with its CRD.
  void createInstance(const kube::GroupResource& like) {
    const kube::GroupResource& type = like == types::kWidgets ? types::kWidgets : types::kGadgets;
    ObjectSpec& instance = addOf(type, "late");
    instance.present = false;
    for (const ControllerSpec& controller : spec_.controllers) {
      if (controller.from == type && dice_.oneIn(2)) instance.finalizers.push_back(controller.finalizer);
    }
    StepSpec step{.verb = ClientStep::Verb::Create, .object = instance.key};
    step.serverSide = dice_.oneIn(2);
    spec_.steps.push_back(std::move(step));
  }

  Dice dice_;
  uint32_t size_;
  Works works_;
  uint32_t names_ = 0;
  std::vector<std::string> spaces_;
  std::vector<kube::ObjectKey> providers_;
  std::vector<kube::ObjectKey> services_;
  std::vector<kube::ObjectKey> free_;  // services whose provider runs no controller: any intent will do
  ClusterSpec spec_;
};

}  // namespace

ClusterSpec emptyingCluster(uint64_t seed, uint32_t objects, Works works) {
  return Generator(seed, objects, works).make();
}

}  // namespace lastout::testing
