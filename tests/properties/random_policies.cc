#include "tests/properties/random_policies.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cluster/build.h"
#include "protection/hold_status.h"
#include "tests/protection/policies.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

constexpr std::string_view kPolicyTypes = R"(---
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
      // Strict mode, by a policy of its own.
      R"(  objects: [{resources: [{resource: "*"}, {group: example.com, resource: tables}]}]
  when: [{label: keep}]
  blocks: [Unprotect]
  exemptions: [{label: free, values: ["yes"]}]
)",
      // Labels that lastout keeps; two that do not agree.
      R"(  objects: [{resources: [{group: example.com, resource: tables}]}]
  when: [{label: keep, values: ["yes"]}]
  labels: {protection: {key: keep, value: "yes"}, protected: true, exemption: {key: free, value: "yes"}, exempt: false}
)",
      R"(  objects: [{resources: [{group: example.com, resource: tables}, {resource: configmaps}]}]
  when: [{label: keep, values: ["yes"]}]
  labels: {protection: {key: keep, value: "yes"}, protected: false, exemption: {key: free, value: "yes"}, exempt: false}
)",
      // What is held.
      R"(  objects: [{resources: [{group: example.com, resource: servers}]}]
  when:
  - field: {path: spec.protected}
  - children: [{group: example.com, resource: tables, field: spec.server}]
  namespaces: Ignore
  enforcement: Hold
  hold:
    finalizer: example.com/server
    pauses: [{annotation: pause}]
    force: {annotation: force, values: ["yes"], starts: Always}
    confirmAnnotation: confirm
    external: {field: spec.word, default: Delete, allowed: [Delete], reportedBy: {annotation: report}}
)",
      R"(  objects: [{resources: [{group: example.com, resource: tables}], labelSelector: {matchLabels: {app: a}}}]
  when:
  - label: keep
  - children: [{resource: configmaps, label: server}]
  namespaces: Ignore
  enforcement: Hold
  hold:
    finalizer: example.com/table
    force: {annotation: force, values: ["yes"], starts: OnlyWhenDeleting}
    external: {default: Delete, reportedBy: {condition: Dropped}}
)",
  };
  return kSpecs;
}

}  // namespace

RandomPolicies::RandomPolicies(uint64_t seed) : dice_(seed), types_(kube::ResourceMap::builtIn()) {}

std::string RandomPolicies::manifests() {
  std::string text(kPolicyTypes);
  for (const char* name : {"a", "b"})
    text +=
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + std::string(name) + labels(true) + "}\n";
  for (const char* space : {"a", "b"}) {
    for (const char* name : {"x", "y"}) {
      if (dice_.oneIn(3)) continue;
      const std::string of = server();
      tables_[of].push_back("Table/" + std::string(space) + "/" + name);
      text += "---\napiVersion: example.com/v1\nkind: Table\nmetadata: {name: " + std::string(name) +
              ", namespace: " + space + labels(true) + "}\nspec: {server: " + of + ", protected: " + truth() +
              "}\n";
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
  for (const char* name : {"s", "t"})
    if (dice_.below(4) > 0)
      text += "---\napiVersion: example.com/v1\nkind: Server\nmetadata: {name: " + std::string(name) +
              labels(false) + annotations(name) + "}\nspec: {" +
              (dice_.oneIn(2) ? "" : "protected: " + truth()) + "}\n";
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

std::vector<cluster::GivenPolicy> RandomPolicies::policies() {
  std::vector<cluster::GivenPolicy> policies;
  for (size_t i = 0; i < policySpecs().size(); ++i) {
    if (dice_.oneIn(3)) continue;
    policies.push_back({protection::policyOf(policySpecs()[i], "p" + std::to_string(10 + i)), false});
  }
  return policies;
}

kube::Labels RandomPolicies::someLabels() {
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

cluster::FormChange RandomPolicies::somePatch(const kube::Object& object) {
  cluster::FormChange change;
  const bool isCustom = object.key.type.group == "example.com" && !object.content.isNull();
  if (!isCustom || dice_.oneIn(3)) {
    change.labels = someLabels();
    return change;
  }
  nlohmann::json patch;
  nlohmann::json& annotations = patch["metadata"]["annotations"];
  annotations["force"] = dice_.oneIn(4) ? nlohmann::json() : nlohmann::json("yes");
  if (dice_.oneIn(5)) annotations["pause"] = dice_.oneIn(2) ? nlohmann::json() : nlohmann::json("");
  if (dice_.oneIn(2)) annotations["confirm"] = hashFor(object.key.name);
  if (dice_.oneIn(2))
    patch["spec"]["protected"] = dice_.oneIn(2) ? nlohmann::json() : nlohmann::json(dice_.oneIn(2));
  if (dice_.oneIn(3)) patch["spec"]["server"] = server();
  if (dice_.oneIn(6)) patch["spec"]["word"] = dice_.oneIn(2) ? "Delete" : "Nothing";
  change.merge = kube::fromJson(patch);
  change.manifest = std::make_shared<const kube::Value>(object.content);
  return change;
}

cluster::Model RandomPolicies::model(const std::vector<kube::Object>& given) {
  cluster::BuildInput input;
  input.objects = given;
  input.types = types_;
  auto built = cluster::build(input);
  if (!built) stop(lines(built.error()));
  cluster::Model model = std::move(*built);
  for (cluster::Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (dice_.oneIn(3)) continue;
    const cluster::SlotKind kind = model.slots[slot].kind;
    cluster::ClientStep step;
    step.object = slot;
    if (dice_.oneIn(2) && kind != cluster::SlotKind::Pod && kind != cluster::SlotKind::ReplicaSet) {
      const auto found = std::ranges::find(given, model.slots[slot].key, &kube::Object::key);
      kube::Object derived;
      derived.key = model.slots[slot].key;
      step.verb = cluster::ClientStep::Verb::SetForm;
      step.change = somePatch(found == given.end() ? derived : *found);
    } else if (kind == cluster::SlotKind::Deployment) {
      step.verb = cluster::ClientStep::Verb::SetReplicas;
      step.value = 0;
    }
    if (!addStep(model, step)) stop("no step");
  }
  return model;
}

// Mostly of the tables that refer to the server from the beginning.
std::string RandomPolicies::hashFor(const std::string& name) {
  std::vector<std::string> names = tables_[name];
  if (!names.empty() && dice_.oneIn(4)) names.pop_back();
  return protection::confirmationHash(names);
}

std::string RandomPolicies::labels(bool often) {
  if (!often && dice_.oneIn(2)) return "";
  std::string text = ", labels: {";
  for (const auto& [key, value] : someLabels())
    text += (text.back() == '{' ? "" : ", ") + key + ": \"" + value + "\"";
  return text + "}";
}

// Of a server: force and confirmation are often there from the beginning.
std::string RandomPolicies::annotations(const std::string& name) {
  if (dice_.oneIn(3)) return "";
  return ", annotations: {force: \"yes\", confirm: \"" + hashFor(name) + "\"}";
}

}  // namespace lastout::testing
