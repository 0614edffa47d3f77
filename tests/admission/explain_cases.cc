#include "tests/admission/explain_cases.h"

#include <functional>
#include <string_view>
#include <vector>

#include "kube/well_known.h"
#include "tests/admission/world.h"

namespace lastout::admission {
namespace {

// The document's story: a CRD with an instance that a Deployment finalizes.
constexpr std::string_view kStory = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-finalizer-deployment}
spec:
  provider: {group: apps, resource: deployments, namespace: finalizer-namespace, name: finalizer-deployment}
  criteria:
  - type: Finalizer
    finalizer: {group: my.crd.group, resource: coolresources, finalizerName: my.crd.group/super-important}
  - type: SpecificResource
    specificResource: {group: apiextensions.k8s.io, resource: CustomResourceDefinition, name: coolresources.my.crd.group}
---
apiVersion: v1
kind: Namespace
metadata: {name: finalizer-namespace}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: finalizer-deployment, namespace: finalizer-namespace}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group, finalizers: [customresourcecleanup.apiextensions.k8s.io]}
spec:
  group: my.crd.group
  scope: Cluster
  names: {plural: coolresources, kind: CoolResource}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: some-instance, finalizers: [my.crd.group/super-important]}
)";

constexpr std::string_view kDeployment = "deployments.apps/finalizer-namespace/finalizer-deployment";
constexpr std::string_view kNamespace = "namespaces/finalizer-namespace";
constexpr std::string_view kInstance = "coolresources.my.crd.group/some-instance";
constexpr std::string_view kCrd = "crd/coolresources.my.crd.group";
constexpr std::string_view kService = "criticalservices.lastout.dev/for-finalizer-deployment";
constexpr std::string_view kServicesCrd = "crd/criticalservices.lastout.dev";

class Cases {
 public:
  void add(std::string_view title, const World& world, std::string_view reference,
           std::string_view detail = {}, DeletionEffect deletionEffect = DeletionEffect::Ending);
  std::string text;
};

void Cases::add(std::string_view title, const World& world, std::string_view reference,
                std::string_view detail, DeletionEffect deletionEffect) {
  const Explanation explanation = world.explain(reference, detail, deletionEffect);
  text.append("# ").append(title).append("\n");
  text.append(explanation.message).append("\n");
  for (const DenialCause& cause : explanation.causes) {
    text.append("  ").append(cause.reason).append(": ").append(cause.message);
    if (!cause.field.empty()) text.append("  [").append(cause.field).append("]");
    text += '\n';
  }
  text += '\n';
}

std::string instances(int count) {
  std::string yaml;
  for (int i = 0; i < count; ++i) {
    yaml += "---\napiVersion: my.crd.group/v1\nkind: CoolResource\nmetadata: {name: instance-" +
            std::to_string(i) + ", finalizers: [my.crd.group/super-important]}\n";
  }
  return yaml;
}

std::string service(const std::string& name, const std::string& provider, int criteria) {
  std::string yaml =
      "---\napiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: " + name +
      "}\nspec:\n  provider: {group: apps, resource: deployments, namespace: finalizer-namespace, name: " +
      provider + "}\n  criteria:\n";
  for (int i = 0; i < criteria; ++i) {
    yaml +=
        "  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: m, name: " + name +
        "-" + std::to_string(i) + "}}\n";
  }
  return yaml;
}

std::string configMap(const std::string& name) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: m, name: " + name + "}\n";
}

void addProvider(Cases& cases) {
  World world(kStory);
  cases.add("a provider whose criteria are both unmet", world, kDeployment);
  world.terminate(kInstance);
  cases.add("one of the two is being deleted", world, kDeployment);
  world.terminate(kCrd);
  cases.add("both are being deleted", world, kDeployment);
  world.remove(kInstance);
  cases.add("the instance is gone", world, kDeployment);
  world.remove(kCrd);
  cases.add("and so is its CRD", world, kDeployment);
  world.apply(instances(2));
  cases.add("two instances", world, kDeployment);
  world.apply(instances(12));
  cases.add("twelve instances", world, kDeployment);
}

void addManyBlockers(Cases& cases) {
  World world(kStory);
  world.apply(service("other", "finalizer-deployment", 12));
  for (int i = 0; i < 12; ++i) world.apply(configMap("other-" + std::to_string(i)));
  cases.add("a provider of two services with fourteen blockers", world, kDeployment);

  World shared(kStory);
  shared.apply(service("a", "finalizer-deployment", 1));
  std::string same = service("b", "finalizer-deployment", 1);
  same.replace(same.find("b-0"), 3, "a-0");
  shared.apply(same);
  shared.apply(configMap("a-0"));
  shared.remove(kInstance);
  shared.remove(kCrd);
  cases.add("two services that wait for the same object", shared, kDeployment);
}

void addUnknown(Cases& cases) {
  const std::pair<std::string_view, graph::Knowledge> states[] = {
      {"not listed yet", graph::Knowledge::Unknown},
      {"a broken watch", graph::Knowledge::Stale},
      {"forbidden by RBAC", graph::Knowledge::Forbidden},
      {"not served", graph::Knowledge::Unserved},
  };
  for (const auto& [title, knowledge] : states) {
    World world(kStory);
    world.remove(kInstance);
    world.know("coolresources.my.crd.group", knowledge);
    cases.add("a criterion's type, its CRD there: " + std::string(title), world, kDeployment);
    world.remove(kCrd);
    cases.add("a criterion's type, its CRD gone: " + std::string(title), world, kDeployment);
    World providers(kStory);
    providers.remove(kDeployment);
    providers.know("deployments", knowledge);
    cases.add("the provider's type: " + std::string(title), providers, kService);
    cases.add("and its namespace: " + std::string(title), providers, kNamespace);
    World services(kStory);
    services.know("criticalservices", knowledge);
    cases.add("CriticalServices themselves: " + std::string(title), services, kNamespace);
    World seen(kStory);
    seen.know("coolresources.my.crd.group", knowledge);
    cases.add("an instance was seen before: " + std::string(title), seen, kDeployment);
  }
  World world(kStory);
  world.remove(kInstance);
  world.know("customresourcedefinitions", graph::Knowledge::Forbidden);
  world.remove(kCrd);
  cases.add("a named object of a type that RBAC forbids", world, kDeployment);
}

void addHolders(Cases& cases) {
  World world(kStory);
  cases.add("the namespace of a provider", world, kNamespace);
  world.apply(service("a", "second", 1));
  world.apply(configMap("a-0"));
  world.apply(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: second, namespace: finalizer-namespace}\n");
  cases.add("the namespace of two providers", world, kNamespace);
  world.remove(kDeployment);
  world.remove("deployments.apps/finalizer-namespace/second");
  cases.add("the namespace, the providers gone", world, kNamespace);

  World custom(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: engines, kind: Engine}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: example.com/v1
kind: Engine
metadata: {name: e, namespace: n}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-engine}
spec:
  provider: {group: example.com, resource: engines, namespace: n, name: e}
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: m, name: c}}
)");
  custom.apply(configMap("c"));
  cases.add("the CRD of a provider that is a custom resource", custom, "crd/engines.example.com");
}

void addServices(Cases& cases) {
  World world(kStory, "lastout-system");
  cases.add("a CriticalService whose provider is there", world, kService);
  cases.add("the CRD of CriticalServices", world, kServicesCrd);
  cases.add("lastout's own namespace, one CriticalService left", world, "namespaces/lastout-system");
  world.terminate(kDeployment);
  cases.add("a CriticalService whose provider is being deleted", world, kService);
  for (const char* const name : {"a", "b", "c", "d"}) world.apply(service(name, "finalizer-deployment", 1));
  cases.add("the CRD of CriticalServices, five of them", world, kServicesCrd);
  cases.add("lastout's own namespace, five CriticalServices left", world, "namespaces/lastout-system");
  for (const char* const name : {"a", "b", "c", "d"})
    world.remove("criticalservices.lastout.dev/" + std::string(name));
  world.terminate(kService);
  cases.add("lastout's own namespace, the CriticalService being deleted", world, "namespaces/lastout-system");
  world.remove(kDeployment);
  cases.add("a CriticalService whose provider is gone", world, kService);
}

void addReplaced(Cases& cases) {
  std::string story(kStory);
  const std::string field = "name: coolresources.my.crd.group}\n---";
  story.replace(story.find(field), field.size(),
                "name: coolresources.my.crd.group}\nstatus: {provider: {uid: the-first-one}}\n---");
  World world(story);
  cases.add("a provider that replaced another", world, kDeployment);
  cases.add("its namespace", world, kNamespace);
  cases.add("its CriticalService", world, kService);
}

void addRoots(Cases& cases) {
  World world(kStory);
  world.apply(R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-finalizer-deployment}
spec:
  provider: {group: apps, resource: deployments, namespace: finalizer-namespace, name: finalizer-deployment}
  criteria:
  - type: SpecificResource
    specificResource: {group: apiextensions.k8s.io, resource: CustomResourceDefinition, name: coolresources.my.crd.group}
)");
  cases.add("a chain behind a blocker that nobody has deleted yet", world, kDeployment);
  world.terminate(kCrd);
  world.terminate(kInstance);
  cases.add("a CRD that waits for its instance", world, kDeployment);
  world.apply(instances(100));
  cases.add("a CRD that waits for a hundred instances", world, kDeployment);

  const auto second = [](const std::string& name, const std::string& provider, const std::string& waitsFor) {
    return "---\napiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: " + name +
           "}\nspec:\n  provider: {group: apps, resource: deployments, namespace: n, name: " + provider +
           "}\n  criteria:\n  - {type: SpecificResource, specificResource: {group: apps, resource: "
           "deployments, namespace: n, name: " +
           waitsFor +
           "}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: n, name: " + provider +
           "}\n";
  };
  World chain(second("for-a", "a", "b") + second("for-b", "b", "c") + second("for-c", "c", "d"));
  chain.apply("apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: n, name: d}\n");
  cases.add("a chain of three providers", chain, "deployments.apps/n/a");
  // b's own criteria hold: its namespace may be deleted, and takes it along.
  World holder(second("for-b", "b", "c") + service("waits", "finalizer-deployment", 0) +
               "  - {type: SpecificResource, specificResource: {resource: namespaces, name: n}}\n"
               "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"
               "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: finalizer-namespace, name: "
               "finalizer-deployment}\n");
  cases.add("a blocker that would take along what waits for nothing", holder, kDeployment);

  World unknown(second("for-a", "a", "b") + service("for-b", "b", 1));
  unknown.remove("criticalservices.lastout.dev/for-b");
  std::string ofB = service("for-b", "b", 1);
  ofB.replace(ofB.find("namespace: finalizer-namespace"), 30, "namespace: n");
  unknown.apply(ofB);
  unknown.apply("apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: n, name: b}\n");
  unknown.know("configmaps", graph::Knowledge::Forbidden);
  cases.add("a chain that ends where nothing is known", unknown, "deployments.apps/n/a");
  const World cycle(second("for-a", "a", "b") + second("for-b", "b", "a"));
  cases.add("two providers that wait for each other", cycle, "deployments.apps/n/a");
}

// What a provider needs: found in its Pod template, or listed.
void addDependencies(Cases& cases) {
  World world(kStory);
  world.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: finalizer-deployment, namespace: finalizer-namespace}
spec:
  template:
    spec:
      containers: [{name: main, image: example.com/main:1}]
      volumes: [{name: certs, secret: {secretName: serving-cert}}]
---
apiVersion: v1
kind: Secret
metadata: {name: serving-cert, namespace: finalizer-namespace}
)");
  constexpr std::string_view kSecret = "secrets/finalizer-namespace/serving-cert";
  cases.add("a Secret that a provider's Pods mount", world, kSecret);
  world.terminate(kDeployment);
  cases.add("the same, its provider being deleted", world, kSecret);
  world.terminate(kDeployment, {std::string(kube::kForegroundFinalizer)});
  cases.add("the same, its provider being deleted in the foreground", world, kSecret);
  world.know("deployments.apps", graph::Knowledge::Stale);
  world.remove(kDeployment);
  cases.add("the same, its provider gone", world, kSecret);
  World owning(kStory);
  owning.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: finalizer-deployment
  namespace: finalizer-namespace
  ownerReferences: [{apiVersion: v1, kind: ServiceAccount, name: runner, uid: x}]
spec:
  template:
    spec:
      serviceAccountName: runner
      containers: [{name: main, image: example.com/main:1}]
)");
  cases.add("a ServiceAccount that owns the provider", owning, "serviceaccounts/finalizer-namespace/runner");
}

// A type whose objects the provider converts.
void addConversion(Cases& cases) {
  World world(kStory);
  world.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: finalizer-deployment, namespace: finalizer-namespace}
spec:
  template:
    metadata: {labels: {app: finalizer}}
    spec: {containers: [{name: main, image: example.com/main:1}]}
---
apiVersion: v1
kind: Service
metadata: {name: conversion, namespace: finalizer-namespace}
spec: {selector: {app: finalizer}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.my.crd.group}
spec:
  group: my.crd.group
  scope: Cluster
  names: {kind: Other, plural: others, singular: other}
  versions: [{name: v1, served: true, storage: true}]
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {service: {namespace: finalizer-namespace, name: conversion}}}
---
apiVersion: my.crd.group/v1
kind: Other
metadata: {name: one}
)");
  world.remove(kInstance);
  world.remove(kCrd);
  cases.add("an object that the provider converts", world, kDeployment);
  cases.add("the same, the provider's namespace", world, "namespaces/finalizer-namespace");
  world.terminate("others.my.crd.group/one");
  cases.add("the same, the object being deleted", world, kDeployment);
  world.apply("apiVersion: my.crd.group/v1\nkind: Other\nmetadata: {name: two}\n");
  cases.add("two objects that the provider converts", world, kDeployment);
  world.know("others.my.crd.group", graph::Knowledge::Stale);
  cases.add("the same, not heard of for a while", world, kDeployment);
  world.remove("others.my.crd.group/one");
  world.remove("others.my.crd.group/two");
  world.know("others.my.crd.group", graph::Knowledge::Forbidden);
  cases.add("a type that the provider converts, and that cannot be listed", world, kDeployment);
}

// Objects that name the provider, or what it needs.
void addReferences(Cases& cases) {
  World world(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subnets.net.example.com}
spec:
  group: net.example.com
  scope: Namespaced
  names: {plural: subnets, kind: Subnet}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: main-network}
spec:
  provider: {resource: configmaps, namespace: shop, name: main}
  guard: {dependencies: [{resource: secrets, namespace: shop, name: key}]}
  criteria:
  - type: Reference
    reference: {group: net.example.com, resource: subnets, field: spec.networks.name}
  - type: Reference
    reference:
      group: net.example.com
      resource: subnets
      field: spec.key
      target: {resource: secrets, namespace: shop, name: key}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: main, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
---
apiVersion: net.example.com/v1
kind: Subnet
metadata: {name: a, namespace: shop}
spec: {networks: [{name: other}, {name: main}]}
---
apiVersion: net.example.com/v1
kind: Subnet
metadata: {name: main, namespace: bank}
spec: {networks: [{name: main}], key: key}
)");
  constexpr std::string_view kNetwork = "configmaps/shop/main";
  cases.add("an object that names the provider", world, kNetwork);
  cases.add("the same, what the provider needs", world, "secrets/shop/key");
  cases.add("the same, the object itself", world, "subnets.net.example.com/shop/a");
  world.terminate("subnets.net.example.com/shop/a");
  cases.add("the same, the object being deleted", world, kNetwork);
  world.apply(
      "apiVersion: net.example.com/v1\nkind: Subnet\nmetadata: {name: b, namespace: shop}\n"
      "spec: {networks: [{name: main}], key: key}\n");
  cases.add("several objects that name the provider, and one that names what it needs", world, kNetwork);
  world.remove("subnets.net.example.com/shop/a");
  world.remove("subnets.net.example.com/shop/b");
  cases.add("none that names it", world, kNetwork);
  world.know("subnets.net.example.com", graph::Knowledge::Forbidden);
  cases.add("objects that may name it, and cannot be listed", world, kNetwork);
}

// spec.enforcement: Hold, and the finalizer on the provider.
void addHeld(Cases& cases) {
  World world(kStory);
  std::string held(kStory.substr(0, kStory.find("---")));
  held.insert(held.find("  criteria:"), "  enforcement: Hold\n");
  world.apply(held);
  cases.add("a provider that is held", world, kDeployment, {}, DeletionEffect::Held);
  cases.add("the same, by a DELETE that ends it", world, kDeployment);
  World lost = World(kStory);
  lost.apply(held);
  lost.know("coolresources.my.crd.group", graph::Knowledge::Forbidden);
  lost.remove(kInstance);
  cases.add("a provider that is held, of whose instances nothing is known", lost, kDeployment, {},
            DeletionEffect::Held);
  world.remove(kInstance);
  world.remove(kCrd);
  cases.add("a provider that is held, and waits for nothing", world, kDeployment, {}, DeletionEffect::Held);
  world.apply(R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-another}
spec:
  provider: {group: apps, resource: deployments, namespace: other, name: another}
  guard: {dependencies: [{group: apps, resource: deployments, namespace: finalizer-namespace, name: finalizer-deployment}]}
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: m, name: c}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: another, namespace: other}
)");
  world.apply(instances(1));
  cases.add("a provider that is held, and that another provider needs", world, kDeployment, {},
            DeletionEffect::Held);
}

void addOthers(Cases& cases) {
  World world(kStory);
  cases.add("what nobody guards", world, kInstance);
  cases.add("the confirming read failed", world, kDeployment,
            "listing coolresources.my.crd.group took longer than 2s");
  world.apply(R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-finalizer-deployment}
spec:
  provider: {group: apps, resource: deployments, namespace: finalizer-namespace, name: finalizer-deployment}
  deletionIntent: BestEffortDeletion
  criteria:
  - type: SpecificResource
    specificResource: {group: apiextensions.k8s.io, resource: CustomResourceDefinition, name: coolresources.my.crd.group}
)");
  cases.add("BestEffortDeletion: the CriticalService", world, kService);
  cases.add("BestEffortDeletion: its provider", world, kDeployment);
}

}  // namespace

std::string explainCases() {
  Cases cases;
  addProvider(cases);
  addManyBlockers(cases);
  addUnknown(cases);
  addHolders(cases);
  addServices(cases);
  addReplaced(cases);
  addRoots(cases);
  addDependencies(cases);
  addConversion(cases);
  addReferences(cases);
  addHeld(cases);
  addOthers(cases);
  return cases.text;
}

}  // namespace lastout::admission
