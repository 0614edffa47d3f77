#include "replay/manifest_graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "criticalservice/granted_rights.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/understanding.h"
#include "criticalservice/validation.h"
#include "graph/algorithms.h"
#include "graph/names.h"
#include "kube/api_calls.h"
#include "kube/well_known.h"
#include "manifestwork/ordering.h"
#include "replay/controller_needs.h"
#include "replay/sources.h"

namespace lastout::replay {
namespace {

// An admission::ClusterView has no call for the requirements of works, which stand in manifests as they do in
// no watch: so this fills a graph and its guards by itself.
class GraphBuilder {
 public:
  explicit GraphBuilder(const Manifests& manifests) : manifests_(manifests) {}

  tl::expected<ManifestGraph, kube::Errors> build() {
    findFields();
    addObjects();
    addCriticalServices();
    addPolicies();
    setKnowledge();
    addCycles();
    addSpecs();
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(result_);
  }

 private:
  // What criteria ask about, before the objects are read. One that cannot be understood is told of later.
  void findFields() {
    for (const kube::Object* object : allObjects()) {
      if (object->key.type != criticalservice::criticalServiceType()) continue;
      if (const auto service = criticalservice::parse(*object, manifests_.types))
        criticalservice::addFields(*service, fields_);
    }
  }

  void upsert(const kube::Object& object) {
    // An object by itself counts before one inside a work.
    if (!seen_.insert(object.key).second) return;
    kube::ObjectMeta meta = object.meta;
    meta.references = criticalservice::referencesOf(object, fields_);
    result_.graph.upsert(result_.graph.internType(object.key.type), meta);
    finder_.put(object);
    if (object.key.type == criticalservice::criticalServiceType()) services_.push_back(&object);
  }

  // Of each name the first, as upsert() has it.
  std::vector<const kube::Object*> allObjects() const {
    std::vector<const kube::Object*> objects;
    std::unordered_set<kube::ObjectKey> names;
    const auto add = [&](const kube::Object& object) {
      if (names.insert(object.key).second) objects.push_back(&object);
    };
    for (const kube::Object& object : manifests_.objects) add(object);
    for (const manifestwork::AppliedManifestWork& applied : manifests_.applied) add(applied.object);
    for (const manifestwork::ManifestWork& work : manifests_.works) {
      add(work.object);
      for (const kube::Object& manifest : work.manifests) add(manifest);
    }
    return objects;
  }

  void addSpecs() {
    const std::vector<const kube::Object*> objects = allObjects();
    admission::SpecSource source;
    for (const ScenarioController& controller : manifests_.controllers)
      source.written.push_back(written(controller, objects));
    result_.specs = admission::findInSpecs(objects, manifests_.types, source);
    admission::requireSpecBlockers(result_.graph, result_.specs.blockers);
  }

  // Keeps references to both.
  static admission::WrittenController written(const ScenarioController& controller,
                                              const std::vector<const kube::Object*>& objects) {
    admission::WrittenController result{
        .name = controller.name,
        .finalizer = controller.finalizer,
        .from = controller.from,
        .runsIn = std::nullopt,
        .lacks = [&](const kube::Object& object) { return whatLacks(controller, object, objects); }};
    if (!controller.runsIn) return result;
    const auto found = std::ranges::find_if(
        objects, [&](const kube::Object* one) { return controller.runsIn->pattern.matches(one->key); });
    result.runsIn = found == objects.end() ? controller.runsIn->pattern.key : (*found)->key;
    return result;
  }

  void require(const std::vector<manifestwork::WorkRequirement>& requirements) {
    for (const manifestwork::WorkRequirement& one : requirements)
      result_.graph.require(one.subject, one.condition, one.origin);
  }

  void addObjects() {
    for (const kube::Object& object : manifests_.objects) upsert(object);
    for (manifestwork::AppliedManifestWork applied : manifests_.applied) {
      upsert(applied.object);
      markOrphans(applied);
      require(manifestwork::requirementsOf(applied));
    }
    for (const manifestwork::ManifestWork& work : manifests_.works) addWork(work);
  }

  // The agent's note does not say what the work leaves behind.
  void markOrphans(manifestwork::AppliedManifestWork& applied) const {
    for (const manifestwork::ManifestWork& work : manifests_.works) {
      if (!manifestwork::isAppliedFrom(applied, work)) continue;
      for (manifestwork::AppliedResource& resource : applied.resources)
        resource.orphaned = resource.orphaned || work.deleteOption.orphans(resource.key);
    }
  }

  void addWork(const manifestwork::ManifestWork& work) {
    upsert(work.object);
    for (const kube::Object& manifest : work.manifests) upsert(manifest);
    require(manifestwork::requirementsOf(work, manifests_.applied));
    const auto isAppliedFrom = [&](const manifestwork::AppliedManifestWork& applied) {
      return manifestwork::isAppliedFrom(applied, work);
    };
    if (std::any_of(manifests_.applied.begin(), manifests_.applied.end(), isAppliedFrom)) return;
    const manifestwork::AppliedManifestWork applied = manifestwork::appliedBy(work);
    upsert(applied.object);
    require(manifestwork::requirementsOf(applied));
  }

  void addCriticalServices() {
    criticalservice::ValidationContext context = criticalservice::contextIn(result_.graph);
    context.exists = [this](const kube::ObjectKey& key) { return result_.graph.find(key).has_value(); };
    for (const kube::Object* object : services_) {
      auto service = criticalservice::parse(*object, manifests_.types);
      if (!service) {
        std::move(service.error().begin(), service.error().end(), std::back_inserter(errors_));
        continue;
      }
      const auto carries = criticalservice::carriesIn(result_.graph);
      context.awaited = finder_.needs(*service, carries).awaited;
      kube::Errors warnings = criticalservice::warnings(*service, manifests_.types, context);
      for (kube::Error& warning : warnings) {
        if (warning.file.empty()) warning.file = object->file;
        if (warning.position.line == 0) warning.position = object->content.position;
        result_.warnings.push_back(std::move(warning));
      }
      criticalservice::understand(*service, criticalservice::knownTypes(manifests_.types));
      *service = finder_.withConverted(std::move(*service));
      result_.guards.put(result_.graph, *service, manifests_.types, finder_.find(*service, carries));
      types_.insert(service->provider.type);
      for (const criticalservice::Criterion& criterion : service->criteria) {
        types_.insert(criticalservice::typeOf(criterion));
      }
    }
  }

  // Policies of profiles are no objects of a scenario, and yet there all the time.
  void addProfiles() {
    for (const protection::DeletionPolicy& policy : manifests_.profiles)
      result_.graph.upsert(result_.graph.internType(protection::deletionPolicyType()), policy.meta);
  }

  void addPolicies() {
    addProfiles();
    std::vector<kube::Object> objects = manifests_.objects;
    for (const manifestwork::ManifestWork& work : manifests_.works) {
      objects.push_back(work.object);
      objects.insert(objects.end(), work.manifests.begin(), work.manifests.end());
    }
    std::vector<protection::DeletionPolicy> policies = manifests_.profiles;
    for (protection::DeletionPolicy& policy : policiesOf(objects, errors_))
      policies.push_back(std::move(policy));
    for (kube::Object& object : objects) holdAsWritten(policies, object);
    result_.protections = protection::denialsOf(policies, std::move(objects), manifests_.types);
    for (const auto& [key, denials] : result_.protections) {
      const auto object = result_.graph.find(key);
      if (!object || result_.graph.isTerminating(*object)) continue;
      for (const protection::Denial& denial : denials) require(key, denial.policy);
    }
  }

  // What was written by hand, and not read from an API server, is held from its creation on.
  static void holdAsWritten(const std::vector<protection::DeletionPolicy>& policies, kube::Object& object) {
    if (!object.meta.uid.empty() || object.meta.deletionTimestamp) return;
    for (const protection::DeletionPolicy& policy : policies) {
      if (!policy.hold || kube::hasFinalizer(object.meta, policy.hold->finalizer) ||
          !protection::concerns(policy, object.key, object.meta.labels))
        continue;
      object.meta.finalizers.push_back(policy.hold->finalizer);
    }
  }

  // The policy protects it: it does not go while the policy is there.
  void require(const kube::ObjectKey& object, const std::string& policy) {
    const kube::ObjectKey key{protection::deletionPolicyType(), "", policy};
    types_.insert(key.type);
    graph::Condition isThere;
    isThere.type = key.type;
    isThere.name = policy;
    require({{object, std::move(isThere), {key, "spec"}}});
  }

  // Where there is no order in which everything could go.
  void addCycles() {
    constexpr size_t kMostCycles = 10;
    for (const graph::Cycle& cycle : graph::cycles(result_.graph, kMostCycles).cycles) {
      std::vector<kube::ObjectKey> objects;
      for (const graph::Edge& edge : cycle.edges) {
        if (graph::isObject(result_.graph, edge.source))
          objects.push_back(result_.graph.key(graph::objectOf(edge.source)));
      }
      const std::string names = graph::someOf(objects);
      result_.warnings.push_back(
          {objects.size() == 1
               ? names + " waits for itself, so that it can never go: no deletion resolves that"
               : "each of these waits for the next, and the last for the first, so that none can go: " +
                     names,
           "",
           {}});
    }
  }

  // There is nothing but the manifests, so all of every type is known.
  void setKnowledge() {
    for (const kube::ResourceType& type : manifests_.types.types()) types_.insert(type.type);
    for (const kube::ObjectKey& key : seen_) types_.insert(key.type);
    for (const kube::GroupResource& type : types_) {
      const bool known = manifests_.types.find(type) != nullptr;
      result_.graph.setKnowledge(result_.graph.internType(type),
                                 known ? graph::Knowledge::Synced : graph::Knowledge::Absent);
    }
  }

  const Manifests& manifests_;
  ManifestGraph result_;
  kube::Errors errors_;
  std::unordered_set<kube::ObjectKey> seen_;
  std::unordered_set<kube::GroupResource> types_;
  std::vector<const kube::Object*> services_;
  criticalservice::DependencyFinder finder_;
  criticalservice::FieldsByType fields_;
};

}  // namespace

tl::expected<ManifestGraph, kube::Errors> graphOf(const Manifests& manifests) {
  return GraphBuilder(manifests).build();
}

namespace {

// All that is in the scenario's cluster, or that its steps may create.
std::vector<kube::Object> objectsOf(const Scenario& scenario) {
  std::vector<kube::Object> objects = scenario.objects;
  std::unordered_set<kube::ObjectKey> seen;
  for (const kube::Object& object : objects) seen.insert(object.key);
  const auto add = [&](const kube::Object& object) {
    if (seen.insert(object.key).second) objects.push_back(object);
  };
  for (const cluster::WorkSpec& work : scenario.works) {
    for (const kube::Object& object : work.manifests) add(object);
  }
  for (const kube::Object& object : scenario.later) add(object);
  return objects;
}

// The ServiceAccounts that a binding names, and the Services that a webhook, a conversion or an APIService
// calls.
std::vector<kube::ObjectKey> namedBy(const kube::Object& object) {
  std::vector<kube::ObjectKey> named;
  for (const kube::CalledWebhook& webhook : kube::webhooksOf(object.key.type, object.content))
    named.push_back(webhook.address.service);
  const auto add = [&](const std::optional<kube::CallAddress>& address) {
    if (address) named.push_back(address->service);
  };
  if (object.key.type == kube::kCustomResourceDefinitions) add(kube::conversionOf(object.content));
  if (object.key.type == kube::kApiServices) add(kube::aggregatedServerOf(object.content));
  if (object.key.type == kube::kRoleBindings || object.key.type == kube::kClusterRoleBindings) {
    for (const kube::Value& subject : kube::listAt(object.content, {"subjects"}))
      if (const auto account = criticalservice::accountOf(subject);
          account && account->second != criticalservice::kDefaultAccount)
        named.push_back({kube::kServiceAccounts, account->first, account->second});
  }
  return named;
}

// Manifests without a namespace that others name in the one into which a client installs them, as those of
// templates: a warning for each.
kube::Errors unwrittenNamespaces(const std::vector<kube::Object>& objects) {
  std::map<kube::ObjectKey, const kube::Object*> byKey;
  for (const kube::Object& object : objects) byKey.emplace(object.key, &object);
  std::map<kube::ObjectKey, kube::Error> warnings;  // by what is not there: one for each
  for (const kube::Object& object : objects) {
    for (const kube::ObjectKey& named : namedBy(object)) {
      if (named.namespaceName.empty() || byKey.contains(named)) continue;
      const auto meant = byKey.find({named.type, "default", named.name});
      if (meant == byKey.end() || !kube::textAt(meant->second->content, {"metadata", "namespace"}).empty())
        continue;
      warnings.try_emplace(named,
                           kube::Error{kube::toString(meant->first) + " has no metadata.namespace, and " +
                                           kube::toString(object.key) + " names " + kube::toString(named) +
                                           ", which is not in the files; write the namespace into the "
                                           "manifests that belong to " +
                                           named.namespaceName,
                                       meant->second->file, meant->second->content.position});
    }
  }
  kube::Errors list;
  for (auto& [named, warning] : warnings) list.push_back(std::move(warning));
  return list;
}

// A slip of the pen that would make an answer say less than it seems to.
kube::Errors vacuous(const Scenario& scenario, const std::vector<kube::Object>& objects) {
  kube::Errors warnings;
  const bool deletes = std::ranges::any_of(scenario.steps, [](const ScenarioStep& step) {
    return step.kind == ScenarioStep::Kind::Delete && !step.dryRun;
  });
  if (!deletes)
    warnings.push_back({"no step deletes anything, so that nothing is to end", scenario.file, {}});
  for (const ScenarioController& controller : scenario.controllers) {
    const auto isCarried = [&](const std::vector<std::string>& finalizers) {
      return std::ranges::find(finalizers, controller.finalizer) != finalizers.end();
    };
    const bool hasWork =
        std::ranges::any_of(
            objects,
            [&](const kube::Object& object) {
              return object.key.type == controller.from &&
                     (isCarried(object.meta.finalizers) ||
                      isCarried(criticalservice::textsAt(object.content, {"spec", "finalizers"})));
            }) ||
        std::ranges::any_of(scenario.steps, [&](const ScenarioStep& step) {
          return step.finalizers.has_value() && isCarried(*step.finalizers);
        });
    if (!hasWork && controller.evidence.empty())
      warnings.push_back({"controller " + controller.name + " has nothing to do: no " +
                              kube::toString(controller.from) + " carries " + controller.finalizer,
                          scenario.file, controller.where});
  }
  return warnings;
}

}  // namespace

tl::expected<kube::Errors, kube::Errors> warningsOf(const Scenario& scenario) {
  Manifests manifests;
  manifests.objects = objectsOf(scenario);
  kube::Errors warnings = vacuous(scenario, manifests.objects);
  std::ranges::move(unwrittenNamespaces(manifests.objects), std::back_inserter(warnings));
  if (!scenario.guard) return warnings;
  manifests.types = scenario.types;
  auto built = graphOf(manifests);
  if (!built) return tl::unexpected(std::move(built.error()));
  for (kube::Error& warning : built->warnings) {
    if (warning.file.empty()) warning.file = scenario.file;
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

admission::Verdict verdictOn(const ManifestGraph& graph, const kube::ObjectKey& key) {
  return admission::decide(admission::GraphFacts(graph.graph, graph.guards), graph.guards.rules(),
                           graph.guards.guardEntries(key));
}

}  // namespace lastout::replay
