// Policies in the machine, compiled into questions about slots, and protection::judge() over an index of the
// same objects: in every state that random actions lead to, they deny the same, in the same words.
#include "cluster/policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/build.h"
#include "kube/parse.h"
#include "protection/protected_objects.h"
#include "tests/properties/dice.h"
#include "tests/protection/policies.h"
#include "tests/support/seed.h"

namespace lastout::cluster {
namespace {

using lastout::testing::Dice;
using protection::DeletionPolicy;

constexpr std::string_view kTypes = R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servers.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Server, plural: servers, singular: server}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tables.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Table, plural: tables, singular: table}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lists.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: List1, plural: lists, singular: list}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)";

// One for each question that a policy can ask.
const std::vector<std::string>& policySpecs() {
  static const std::vector<std::string> kSpecs{
      R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: keep, values: ["yes"]}]
  overrides: [{label: free}]
)",
      R"(  objects: [{resources: [{group: example.com, resource: servers}]}]
  when: [{children: [{group: example.com, resource: tables, field: spec.server}, {resource: configmaps, label: server}]}]
  crds: Ignore
)",
      R"(  objects: [{resources: [{group: example.com, resource: tables}], labelSelector: {matchLabels: {app: a}}}]
  when: [{label: keep}, {children: [{resource: configmaps, label: server}]}, {field: {path: spec.protected}}]
  blocks: [Delete, Unprotect]
  namespaces: Ignore
)",
      R"(  objects: [{resources: [{resource: "*"}, {group: example.com, resource: tables}]}]
  when:
  - label: owned
    ancestor:
      groupLabel: own/group
      versionLabel: own/version
      kindLabel: own/kind
      nameLabel: own/name
      orOfNamespace: true
      field: {path: spec.protected, equals: true, whenAbsent: Protected}
  - {label: keep, active: Pods}
  skipTerminating: true
)",
      R"(  objects: [{resources: [{group: apiextensions.k8s.io, resource: customresourcedefinitions}]}]
  when: [{active: Instances}]
)",
      R"(  objects: [{resources: [{resource: namespaces}]}]
  when: [{active: Pods}, {active: BoundClaims}]
  namespaces: Ignore
)",
      R"(  objects: [{resources: [{group: apps, resource: deployments}]}]
  when: [{active: Replicas}, {children: [{group: apps, resource: replicasets, ownerReference: true}]}]
  blocks: [Orphan]
)",
      R"(  listedBy:
    group: example.com
    resource: lists
    entries: spec.entries
    apiVersion: apiVersion
    kind: kind
    name: name
    matchLabels: matchLabels
)",
  };
  return kSpecs;
}

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed) : dice_(seed), types_(kube::ResourceMap::builtIn()) {}

  std::string manifests() {
    std::string text(kTypes);
    for (const char* name : {"a", "b"})
      text += "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + std::string(name) + labels(true) +
              "}\n";
    for (const char* name : {"s", "t"})
      if (dice_.below(4) > 0)
        text += "---\napiVersion: example.com/v1\nkind: Server\nmetadata: {name: " + std::string(name) +
                labels(false) + "}\nspec: {" + (dice_.oneIn(2) ? "" : "protected: " + truth()) + "}\n";
    for (const char* space : {"a", "b"}) {
      for (const char* name : {"x", "y"}) {
        if (dice_.oneIn(3)) continue;
        text += "---\napiVersion: example.com/v1\nkind: Table\nmetadata: {name: " + std::string(name) +
                ", namespace: " + space + labels(true) + "}\nspec: {server: " + server() +
                ", protected: " + truth() + "}\n";
      }
      if (dice_.oneIn(2))
        text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: " + std::string(space) +
                labels(true) + "}\n";
      if (dice_.oneIn(2))
        text += "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d, namespace: " +
                std::string(space) + labels(true) +
                "}\nstatus: {phase: " + (dice_.oneIn(2) ? "Bound" : "Pending") + "}\n";
      if (dice_.oneIn(3))
        text += "---\napiVersion: example.com/v1\nkind: List1\nmetadata: {name: l, namespace: " +
                std::string(space) + "}\nspec: {entries: [{apiVersion: example.com/v1, kind: Table, " +
                (dice_.oneIn(2) ? "name: x" : "matchLabels: {app: a}") + "}]}\n";
    }
    if (dice_.oneIn(2))
      text += R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: w, namespace: a}
spec:
  replicas: 1
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a, keep: "yes"}}
    spec: {containers: [{name: m, image: i}]}
)";
    return text;
  }

  std::vector<GivenPolicy> policies() {
    std::vector<GivenPolicy> policies;
    for (size_t i = 0; i < policySpecs().size(); ++i) {
      if (dice_.oneIn(3)) continue;
      policies.push_back({protection::policyOf(policySpecs()[i], "p" + std::to_string(i)), false});
    }
    return policies;
  }

  kube::Labels someLabels() {
    kube::Labels labels;
    if (dice_.oneIn(2)) labels["keep"] = dice_.oneIn(2) ? "yes" : "no";
    if (dice_.oneIn(2)) labels["app"] = dice_.oneIn(2) ? "a" : "b";
    if (dice_.oneIn(4)) labels["free"] = "yes";
    if (dice_.oneIn(2)) labels["owned"] = "yes";
    if (dice_.oneIn(3)) labels["server"] = dice_.oneIn(2) ? "s" : "x";
    if (dice_.oneIn(2)) {
      labels["own/group"] = "example.com";
      labels["own/version"] = "v1";
      labels["own/kind"] = dice_.oneIn(6) ? "Nothing" : "Server";
      labels["own/name"] = dice_.oneIn(2) ? "s" : "t";
      if (dice_.oneIn(6)) labels.erase("own/group");
    }
    return labels;
  }

  Dice& dice() { return dice_; }
  kube::ResourceMap& types() { return types_; }

 private:
  std::string labels(bool often) {
    if (!often && dice_.oneIn(2)) return "";
    std::string text = ", labels: {";
    for (const auto& [key, value] : someLabels())
      text += (text.back() == '{' ? "" : ", ") + key + ": \"" + value + "\"";
    return text + "}";
  }
  std::string truth() { return dice_.oneIn(2) ? "true" : "false"; }
  std::string server() { return dice_.oneIn(2) ? "s" : "t"; }

  Dice dice_;
  kube::ResourceMap types_;
};

// What an API server would hold in this state; `manifests`: by slot, with a content for each that has one.
std::vector<kube::Object> objectsIn(const Model& model, const StateRef& state,
                                    const std::vector<kube::Object>& manifests) {
  std::vector<kube::Object> objects;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const ObjectState now = state.object(slot);
    if (!now.present()) continue;
    const SlotInfo& info = model.slots[slot];
    kube::Object object = manifests[slot];
    if (!object.content.isNull()) object.meta.labels = info.labelSets[now.labels];
    object.meta.uid = "uid-" + std::to_string(slot);
    if (now.terminating()) object.meta.deletionTimestamp = 7;
    object.meta.ownerReferences.clear();
    for (size_t i = 0; i < info.owners.size(); ++i) {
      if (now.owner(i) == OwnerState::None) continue;
      kube::OwnerReference reference;
      reference.uid =
          now.owner(i) == OwnerState::Current ? "uid-" + std::to_string(info.owners[i].owner) : "gone";
      object.meta.ownerReferences.push_back(std::move(reference));
    }
    if (info.role == Role::Deployment || info.role == Role::ReplicaSet) {
      std::string yaml =
          "apiVersion: apps/v1\nkind: X\nspec: {replicas: " + std::to_string(now.value) + "}\n";
      object.content = kube::parseYaml(yaml, "")->front();
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

// By slot. What Kubernetes derives gets the labels of the Deployment's template.
std::vector<kube::Object> manifestsBySlot(const Model& model, const std::vector<kube::Object>& given,
                                          const kube::ResourceMap& types) {
  std::vector<kube::Object> manifests(model.slots.size());
  for (const kube::Object& object : given) manifests[*model.find(object.key)] = object;
  for (Slot slot = 0; slot < manifests.size(); ++slot) {
    kube::Object& object = manifests[slot];
    object.key = model.slots[slot].key;
    object.kind = types.find(object.key.type)->kind;
    if (object.content.isNull()) object.meta.labels = {{"app", "a"}, {"keep", "yes"}};
  }
  return manifests;
}

std::multiset<std::string> messagesOf(const std::vector<protection::Denial>& denials) {
  std::multiset<std::string> messages;
  for (const protection::Denial& denial : denials) messages.insert(denial.policy + ": " + denial.message);
  return messages;
}

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {
    given_ = testing::objects(random_.manifests(), random_.types());
    BuildInput input;
    input.objects = given_;
    input.types = random_.types();
    auto model = build(input);
    if (!model) testing::stop(testing::lines(model.error()));
    model_ = std::move(*model);
    addSteps();
    for (GivenPolicy& policy : random_.policies()) policies_.push_back(std::move(policy));
    std::vector<const kube::Object*> sources;
    for (const kube::Object& object : given_) sources.push_back(&object);
    const auto added = addPolicies(model_, policies_, sources, random_.types());
    if (!added) testing::stop(added.error().message);
    manifests_ = manifestsBySlot(model_, given_, random_.types());
  }

  // How many denials were compared.
  size_t run() {
    const Machine machine(model_);
    std::vector<uint64_t> words = machine.initial();
    const StateRef state(words.data(), machine.layout());
    size_t denials = compare(state);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
      std::vector<Action> actions;
      machine.enabled(state, actions);
      if (actions.empty()) break;
      machine.apply(state, random_.dice().pick(actions), nullptr);
      denials += compare(state);
    }
    return denials;
  }

 private:
  void addSteps() {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (random_.dice().oneIn(3)) continue;
      Step step;
      step.object = slot;
      if (random_.dice().oneIn(2) && model_.slots[slot].role != Role::Pod &&
          model_.slots[slot].role != Role::ReplicaSet) {
        step.verb = Step::Verb::SetLabels;
        step.value = *labelSet(model_, slot, random_.someLabels());
      } else if (model_.slots[slot].role == Role::Deployment) {
        step.verb = Step::Verb::SetReplicas;
        step.value = 0;
      }
      if (!addStep(model_, step)) testing::stop("no step");
    }
  }

  size_t compare(const StateRef& state) {
    std::vector<DeletionPolicy> policies;
    for (const GivenPolicy& given : policies_) policies.push_back(given.policy);
    kube::ResourceMap types = random_.types();
    for (const kube::Object& object : given_) {
      if (object.key.type == kube::crdType() && state.presence(*model_.find(object.key)) == Presence::Absent)
        types.remove(kube::definedBy(object.key.name));
    }
    protection::Denials expected =
        protection::denialsOf(policies, objectsIn(model_, state, manifests_), types);
    for (auto& [key, denials] : expected)
      std::erase_if(denials, [](const protection::Denial& one) { return one.isHeld; });
    std::erase_if(expected, [](const auto& one) { return one.second.empty(); });
    size_t denials = 0;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (state.presence(slot) == Presence::Absent) continue;
      const auto found = expected.find(model_.slots[slot].key);
      const bool isDenied = found != expected.end();
      EXPECT_EQ(isDeniedByPolicy(model_, state, {.slot = slot}), isDenied) << model_.name(slot);
      std::vector<protection::Denial> told;
      for (PolicyDenial& one : policyDenials(model_, state, {.slot = slot})) told.push_back(one.denial);
      EXPECT_EQ(messagesOf(told), isDenied ? messagesOf(found->second) : std::multiset<std::string>());
      denials += isDenied ? 1 : 0;
    }
    return denials;
  }

  RandomCluster random_;
  std::vector<kube::Object> given_;
  Model model_;
  std::vector<GivenPolicy> policies_;
  std::vector<kube::Object> manifests_;  // by slot
};

TEST(PoliciesInTheMachine, DenyWhatJudgeDeniesOverAnIndexOfTheSameObjects) {
  const uint64_t seed = testing::seed();
  size_t denials = 0;
  for (uint64_t i = 0; i < 40 && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    denials += Walk(seed + i).run();
  }
  EXPECT_GT(denials, 500u) << "what is compared are denials, too";
}

}  // namespace
}  // namespace lastout::cluster
