#include <algorithm>

#include "tests/properties/dice.h"
#include "tests/properties/random_cluster.h"

namespace lastout::testing {

namespace {

using cluster::ClientStep;
using cluster::PropagationPolicy;

constexpr const char* kServed = "example.com/served";

class RacingGenerator {
 public:
  explicit RacingGenerator(uint64_t seed) : dice_(seed) {}

  ClusterSpec make() {
    addObjects();
    addWork();
    addDeletions();
    for (uint32_t i = 2 + dice_.below(5); i > 0; --i) toggle();
    for (uint32_t i = 3 + dice_.below(6); i > 0; --i) touch();
    if (dice_.oneIn(2)) create(provider_);
    return std::move(spec_);
  }

 private:
  ObjectSpec& add(const kube::ObjectKey& key) {
    spec_.objects.push_back({.key = key});
    return spec_.objects.back();
  }

  void addObjects() {
    add(namespaceKey("home")).terminating = dice_.oneIn(3);
    if (dice_.oneIn(2)) add(crdKey(types::kWidgets));
    add(carrier_);
    add(config_).present = dice_.oneIn(2);
    add(role_);
    ObjectSpec& provider = add(provider_);
    provider.app = "provider";
    if (!dice_.oneIn(3)) provider.owners.push_back({.object = role_, .blockOwnerDeletion = dice_.oneIn(2)});
    if (dice_.oneIn(2)) provider.finalizers.emplace_back("example.com/own");
    criticalservice::CriticalService service;
    service.meta.name = "service";
    service.provider = provider_;
    if (dice_.oneIn(2)) service.enforcement = criticalservice::EnforcementMode::Hold;
    byFinalizer_ = dice_.oneIn(2);
    if (byFinalizer_)
      service.criteria.emplace_back(criticalservice::FinalizerCriterion{types::kWidgets, kServed});
    else
      service.criteria.emplace_back(criticalservice::SpecificResourceCriterion{config_});
    add(criticalservice::keyOf(service)).service = service;
    if (dice_.oneIn(2))
      spec_.controllers.push_back({.finalizer = "example.com/own", .from = types::kDeployments});
    if (dice_.oneIn(2))
      spec_.controllers.push_back({.finalizer = kServed, .from = types::kWidgets, .runsIn = provider_});
  }

  void addWork() {
    if (dice_.oneIn(3)) return;
    WorkObjects work{.key = {types::kWorks, "hub", "work"}};
    for (const ObjectSpec& object : spec_.objects) {
      if (object.key == provider_ || dice_.oneIn(3)) work.applies.push_back(object.key);
    }
    spec_.works.push_back(std::move(work));
  }

  void erase(const kube::ObjectKey& key) {
    StepSpec step{.object = key};
    step.policy = static_cast<PropagationPolicy>(dice_.below(3));
    spec_.steps.push_back(std::move(step));
  }

  void create(const kube::ObjectKey& key) {
    spec_.steps.push_back({.verb = ClientStep::Verb::Create, .object = key, .serverSide = dice_.oneIn(2)});
  }

  // Sometimes nobody deletes the provider itself, and the others get their chance.
  void addDeletions() {
    for (uint32_t i = dice_.below(3); i > 0; --i) erase(provider_);
    if (dice_.oneIn(2)) erase(namespaceKey("home"));
    if (!dice_.oneIn(4)) spec_.steps.push_back({.object = role_});
    if (dice_.oneIn(3)) erase({types::kCriticalServices, "", "service"});
    for (const WorkObjects& work : spec_.works) erase(work.key);
  }

  // The criterion stops holding, and holds again.
  void toggle() {
    if (!byFinalizer_) {
      create(config_);
      erase(config_);
      return;
    }
    spec_.steps.push_back(
        {.verb = ClientStep::Verb::SetFinalizers, .object = carrier_, .finalizers = {kServed}});
    spec_.steps.push_back({.verb = ClientStep::Verb::SetFinalizers, .object = carrier_});
  }

  // A change of the provider, or of its namespace, for which a DELETE in flight is reviewed again.
  void touch() {
    StepSpec step{.verb = ClientStep::Verb::SetForm,
                  .object = dice_.oneIn(4) ? namespaceKey("home") : provider_};
    step.value = static_cast<uint16_t>(1 + dice_.below(5));
    spec_.steps.push_back(std::move(step));
  }

  Dice dice_;
  ClusterSpec spec_;
  bool byFinalizer_ = false;
  const kube::ObjectKey provider_{types::kDeployments, "home", "provider"};
  const kube::ObjectKey carrier_{types::kWidgets, "", "carrier"};
  const kube::ObjectKey config_{types::kConfigMaps, "elsewhere", "config"};
  const kube::ObjectKey role_{types::kClusterRoles, "", "role"};
};

}  // namespace

ClusterSpec racingCluster(uint64_t seed) { return RacingGenerator(seed).make(); }

}  // namespace lastout::testing
