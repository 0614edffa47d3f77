// Who removes the finalizers of an object, and whether it can, as lastout why tells it.
#include "admission/finalizer_removal.h"

#include <gmock/gmock.h>

#include "tests/replay/why_in.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kGoing = ", deletionTimestamp: '2026-11-01T10:00:00Z'";

// A thing with that finalizer; `more`: of its metadata.
std::string thingWith(const std::string& finalizer, const std::string& more = kGoing) {
  std::string yaml = kThings;
  const std::string_view begin = "{name: t, ";
  return yaml.replace(yaml.find(begin), begin.size(),
                      "{name: t, finalizers: [" + finalizer + "]" + more + ", ");
}

// A Deployment that may update things/finalizers; `spec` and `status` begin with their fields' names.
std::string operatorNamed(const std::string& name, const std::string& spec = "",
                          const std::string& status = "") {
  return "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name +
         ", namespace: op}, spec: {" + spec + "template: {spec: {serviceAccountName: " + name +
         ", containers: [{name: c, image: i}]}}}" + status +
         "}\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + name +
         "}, rules: [{apiGroups: [example.com], resources: [things/finalizers], verbs: [update]}]}\n" +
         "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " +
         name + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + name +
         "}, subjects: [{kind: ServiceAccount, name: " + name + ", namespace: op}]}\n";
}

constexpr const char* kThing = "things/t -n team";

TEST(FinalizerRemoval, OfWhatTerminatesItIsSaidWhoRemovesItsFinalizers) {
  const admission::Why why = whyIn(thingWith("example.com/f") + operatorNamed("op"), kThing);
  EXPECT_THAT(blockersOf(why),
              ElementsAre("it has finalizer example.com/f, which deployments.apps/op/op removes "
                          "(clusterroles.rbac.authorization.k8s.io/op lets its ServiceAccount update "
                          "things/finalizers)"));
  EXPECT_EQ(why.blockers[0].reason, "Finalizer");
  EXPECT_THAT(toText(why),
              StartsWith("things.example.com/team/t: TERMINATING; a new DELETE: ALLOW (NotGuarded)\n"));
  EXPECT_THAT(blockersOf(whyIn(thingWith("example.com/f", "") + operatorNamed("op"), kThing)), IsEmpty())
      << "nobody has asked for its deletion";
}

TEST(FinalizerRemoval, NobodyMayBeKnown) {
  const auto told = [](const std::string& yaml) { return blockersOf(whyIn(yaml, kThing)); };
  EXPECT_THAT(
      told(thingWith("example.com/f, other")),
      Contains("it has finalizer example.com/f, and nobody is known to remove it: no CriticalService, no "
               "metadata.managedFields and no role for things/finalizers names a workload in the files; "
               "install its controller again, or, if nothing is left to clean up, take the finalizer off "
               "by hand: kubectl patch things.example.com t -n team --type=merge -p "
               "'{\"metadata\":{\"finalizers\":[\"other\"]}}'"));
  EXPECT_THAT(told(thingWith("example.com/f") + operatorNamed("one") + operatorNamed("other")),
              ElementsAre(AllOf(HasSubstr("which deployments.apps/op/one ("),
                                HasSubstr(") and deployments.apps/op/other ("), HasSubstr(") may remove"))));
}

TEST(FinalizerRemoval, ADeploymentThatIsScaledToZeroRemovesNone) {
  for (const char* going : {kGoing, ""}) {
    const admission::Why why =
        whyIn(thingWith("example.com/f", going) + operatorNamed("op", "replicas: 0, "), kThing);
    EXPECT_TRUE(why.allowed);
    EXPECT_TRUE(why.isBlocked()) << "it would not be gone";
    EXPECT_THAT(blockersOf(why),
                ElementsAre("it has finalizer example.com/f, and deployments.apps/op/op, which removes it "
                            "(clusterroles.rbac.authorization.k8s.io/op lets its ServiceAccount update "
                            "things/finalizers), cannot: it is scaled to zero; make it work again"));
    EXPECT_THAT(
        chainsOf(why),
        ElementsAre("things.example.com/team/t > deployments.apps/op/op > deployments.apps/op/op: it is "
                    "scaled to zero, so it removes no finalizers"));
  }
  const std::string yaml = thingWith("example.com/f") + operatorNamed("op", "replicas: 0, ");
  EXPECT_THAT(
      chainsOf(whyIn(yaml, "namespace/team")),
      ElementsAre(StartsWith("namespaces/team > things.example.com/team/t > deployments.apps/op/op > ")));
}

TEST(FinalizerRemoval, OfManifestsThatWereAppliedTheStatusCounts) {
  const auto isBlocked = [](const std::string& operators) {
    return whyIn(thingWith("example.com/f", "") + operators, kThing).isBlocked();
  };
  EXPECT_TRUE(isBlocked(operatorNamed("op", "", ", status: {replicas: 1}")));
  EXPECT_FALSE(isBlocked(operatorNamed("op", "", ", status: {replicas: 1, readyReplicas: 1}")));
  EXPECT_FALSE(isBlocked(operatorNamed("op"))) << "nobody has told its status yet";
  EXPECT_FALSE(isBlocked(operatorNamed("op", "replicas: 0, ") + operatorNamed("other")))
      << "the other one works";
}

// The controllers of Kubernetes are not among the objects; what they wait for is told where it is known.
TEST(FinalizerRemoval, KubernetesRemovesItsOwn) {
  const auto told = [](const std::string& yaml) { return blockersOf(whyIn(yaml, kThing)); };
  EXPECT_THAT(told(thingWith("foregroundDeletion")),
              ElementsAre("it has finalizer foregroundDeletion, which the garbage collector removes"));
  const std::string dependent =
      "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: d, namespace: team, ownerReferences: "
      "[{apiVersion: example.com/v1, kind: Thing, name: t, uid: u, blockOwnerDeletion: true}]}}\n";
  EXPECT_THAT(told(thingWith("foregroundDeletion", std::string(kGoing) + ", uid: u") + dependent),
              ElementsAre("things.example.com/team/d"));
  EXPECT_THAT(
      blockersOf(whyIn("{apiVersion: v1, kind: Service, metadata: {name: s, namespace: n, finalizers: "
                       "[service.kubernetes.io/load-balancer-cleanup]" +
                           std::string(kGoing) + "}, spec: {type: LoadBalancer}}\n",
                       "service/s -n n")),
      ElementsAre("it has finalizer service.kubernetes.io/load-balancer-cleanup, which "
                  "cloud-controller-manager removes"));
}

// An object may have as many as its size allows.
TEST(FinalizerRemoval, OfManyFinalizersAFewAreTold) {
  std::string many = "example.com/0";
  for (int i = 1; i < 300; ++i) many += ", example.com/" + std::to_string(i);
  const std::vector<std::string> told = blockersOf(whyIn(thingWith(many), kThing));
  ASSERT_EQ(told.size(), 11U);
  EXPECT_THAT(told.front(), Not(HasSubstr("kubectl"))) << "a patch would have to name all others";
  EXPECT_EQ(told.back(), "it has 290 more finalizers");
}

// In a cluster all roles and bindings are known, or it is known that they are not.
TEST(FinalizerRemoval, InAClusterItTakesTheRightToUpdate) {
  const auto problemIn = [](const std::string& yaml, bool knowsControllers) {
    auto manifests = readManifests({{"m.yaml", thingWith("example.com/f") + yaml}});
    std::vector<const kube::Object*> objects;
    for (const kube::Object& one : manifests.value().objects) objects.push_back(&one);
    const admission::SpecSource cluster{
        .isCluster = true, .isUnknown = {}, .knowsControllers = knowsControllers};
    const auto removals = admission::findFinalizerRemovals({objects, manifests->types, cluster});
    const auto* found = findRemoval(removals, {{"example.com", "things"}, "team", "t"}, "example.com/f");
    return found == nullptr || found->problems.empty() ? std::string() : found->problems.front().why;
  };
  const std::string ready = ", status: {readyReplicas: 1}";
  const std::string operatorAlone = operatorNamed("op", "", ready);
  const auto bindingIn = [](const std::string& space) {
    return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: " +
           space +
           "}, rules: [{apiGroups: [example.com], resources: [things], verbs: [patch]}]}\n"
           "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: r, "
           "namespace: " +
           space +
           "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: "
           "ServiceAccount, name: op, namespace: op}]}\n";
  };
  EXPECT_EQ(problemIn(operatorAlone + bindingIn("other"), true),
            "no role lets its ServiceAccount op/op update things.example.com in namespace team");
  EXPECT_EQ(problemIn(operatorAlone + bindingIn("team"), true), "");
  EXPECT_EQ(problemIn(operatorAlone, false), "") << "not all roles could be read";
  const std::string withoutRoles =
      "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: op}, spec: {template: "
      "{spec: "
      "{containers: [{name: c, image: i}]}}}" +
      ready +
      "}\n---\n{apiVersion: lastout.dev/v1alpha1, kind: "
      "CriticalService, metadata: {name: s}, spec: {provider: {group: apps, resource: deployments, "
      "namespace: op, "
      "name: op}, criteria: [{type: Finalizer, finalizer: {group: example.com, resource: things, "
      "finalizerName: "
      "example.com/f}}]}}\n";
  EXPECT_EQ(problemIn(withoutRoles, true), "") << "its rights come from elsewhere";
}

// A Deployment with a Role in that namespace alone.
std::string operatorOf(const std::string& name, const std::string& space, const std::string& resources,
                       const std::string& replicas = "1") {
  std::string yaml = operatorNamed(name, "replicas: " + replicas + ", ");
  yaml = yaml.substr(0, yaml.find("---\n{apiVersion: rbac"));
  return yaml + "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: " + name +
         ", namespace: " + space + "}, rules: [{apiGroups: [example.com], resources: [" + resources +
         "], verbs: [update]}]}\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, "
         "metadata: {name: " +
         name + ", namespace: " + space +
         "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: " + name +
         "}, subjects: [{kind: ServiceAccount, name: " + name + ", namespace: op}]}\n";
}

TEST(FinalizerRemoval, ARoleOfAnotherNamespaceSaysNothing) {
  const std::string rights = "things, things/finalizers";
  EXPECT_THAT(blockersOf(whyIn(thingWith("example.com/f") + operatorOf("here", "team", rights, "0") +
                                   operatorOf("there", "other", rights),
                               kThing)),
              ElementsAre(AllOf(HasSubstr("deployments.apps/op/here, which removes it"),
                                HasSubstr("scaled to zero"))));
  EXPECT_THAT(blockersOf(whyIn(thingWith("example.com/f") + operatorOf("there", "other", rights), kThing)),
              ElementsAre(HasSubstr("nobody is known to remove it")));
}

// An UPDATE of an object takes its finalizers off; things/finalizers is for owners that block deletions.
TEST(FinalizerRemoval, WhoMayUpdateTheObjectComesFirst) {
  EXPECT_THAT(blockersOf(whyIn(thingWith("example.com/f") + operatorOf("shim", "team", "things/finalizers") +
                                   operatorOf("op", "team", "things"),
                               kThing)),
              ElementsAre(HasSubstr("which deployments.apps/op/op removes (")));
}

// Many controllers write Ingresses, and many are called "manager".
TEST(FinalizerRemoval, WhatFitsManyIsNoReason) {
  const std::string role =
      "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: shim}, rules: "
      "[{apiGroups: "
      "[''], resources: [configmaps, configmaps/finalizers], verbs: [update]}]}\n"
      "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: shim}, "
      "roleRef: "
      "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shim}, subjects: [{kind: "
      "ServiceAccount, name: "
      "shim, namespace: op}]}\n";
  const auto whyOf = [](const std::string& more) {
    return whyIn(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team, finalizers: [example.com/f]" +
            std::string(kGoing) + more,
        "configmaps/c -n team");
  };
  const std::string shim = operatorOf("shim", "other", "things", "0");
  const admission::Why byRole = whyOf("}}\n" + shim + role);
  EXPECT_THAT(blockersOf(byRole),
              ElementsAre(AllOf(HasSubstr("which deployments.apps/op/shim ("),
                                HasSubstr(") may remove; of "
                                          "deployments.apps/op/shim: it is scaled to zero"))));
  EXPECT_THAT(chainsOf(byRole), IsEmpty());
  std::string manager = operatorOf("shim", "other", "things", "0");
  manager.replace(manager.find("name: c,"), 8, "name: manager,");
  const std::string managed =
      ", managedFields: [{manager: manager, operation: Update, fieldsType: FieldsV1, fieldsV1: "
      "{'f:metadata': "
      "{'f:finalizers': {'v:\"example.com/f\"': {}}}}}]}}\n";
  EXPECT_THAT(blockersOf(whyOf(managed + manager)), ElementsAre(HasSubstr("nobody is known to remove it")))
      << "its role is about other types";
}

// A thing whose managedFields say that the Deployment certer, which has no right yet, set its finalizer.
std::string certerWith(const std::string& more, const std::string& going = kGoing) {
  const std::string managed =
      ", managedFields: [{manager: certer, operation: Update, fieldsType: FieldsV1, fieldsV1: "
      "{'f:metadata': {'f:finalizers': {'v:\"example.com/f\"': {}}}}}]";
  std::string deployment = operatorNamed("certer");
  deployment = deployment.substr(0, deployment.find("---\n{apiVersion: rbac"));
  return thingWith("example.com/f", going + managed) + deployment + more;
}

constexpr const char* kEditor =
    "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: editor}, rules: "
    "[{apiGroups: [example.com], resources: [things], verbs: [update]}]}\n";

std::string boundIn(const std::string& space, const std::string& kind, const std::string& role) {
  return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: " + role +
         ", namespace: " + space + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind +
         ", name: " + role + "}, subjects: [{kind: ServiceAccount, name: certer, namespace: op}]}\n";
}

std::string electionIn(const std::string& space) {
  return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: elect, namespace: " +
         space + "}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: ['*']}]}\n" +
         boundIn(space, "Role", "elect");
}

TEST(FinalizerRemoval, InFilesARoleThatNoBindingGivesInTheNamespaceIsMissed) {
  for (const char* going : {kGoing, ""}) {
    const admission::Why why = whyIn(certerWith(kEditor + electionIn("op"), going), kThing);
    EXPECT_TRUE(why.isBlocked());
    EXPECT_THAT(
        blockersOf(why),
        ElementsAre(
            AllOf(HasSubstr("deployments.apps/op/certer, which removes it"),
                  HasSubstr("cannot: no role lets its ServiceAccount op/certer update things.example.com in "
                            "namespace team; give it that right, by a RoleBinding there to "
                            "clusterroles.rbac.authorization.k8s.io/editor"))));
    EXPECT_THAT(chainsOf(why),
                ElementsAre(StartsWith("things.example.com/team/t > deployments.apps/op/certer > ")));
  }
  const auto isBlocked = [](const std::string& more) {
    return whyIn(certerWith(more, ""), kThing).isBlocked();
  };
  EXPECT_FALSE(isBlocked(kEditor + electionIn("op") + boundIn("team", "ClusterRole", "editor")));
  EXPECT_TRUE(isBlocked(kEditor + electionIn("op") + boundIn("other", "ClusterRole", "editor")));
  EXPECT_FALSE(isBlocked(kEditor)) << "no binding names the account: the files may lack them all";
  EXPECT_FALSE(isBlocked(electionIn("op"))) << "the files may lack roles";
  EXPECT_FALSE(isBlocked(kEditor + boundIn("team", "ClusterRole", "unknown"))) << "that role may give it";
}

// API servers refuse to create anything in such a Namespace.
TEST(FinalizerRemoval, NoRoleBindingComesBackIntoANamespaceThatIsBeingDeleted) {
  std::string yaml = certerWith(kEditor + electionIn("op"));
  yaml.replace(yaml.find("{name: team}"), 12, "{name: team" + std::string(kGoing) + "}");
  EXPECT_THAT(blockersOf(whyIn(yaml, kThing)),
              ElementsAre(HasSubstr("; bind it to clusterroles.rbac.authorization.k8s.io/editor by a "
                                    "ClusterRoleBinding, because nobody can create a RoleBinding in a "
                                    "Namespace that is being deleted; or, if nothing is left to clean up, "
                                    "take the finalizer off by hand")));
}

TEST(FinalizerRemoval, ARoleThatNobodyHasIsTold) {
  const auto told = [](const std::string& more) {
    return blockersOf(whyIn(thingWith("example.com/f") + more, kThing));
  };
  EXPECT_THAT(told(kEditor), ElementsAre(HasSubstr(
                                 "; clusterroles.rbac.authorization.k8s.io/editor lets update things, and no "
                                 "binding gives it to anybody in namespace team; install its controller "
                                 "again, or bring back what gives it its rights, or, if nothing is left")));
  EXPECT_THAT(told(kEditor + boundIn("team", "ClusterRole", "editor")),
              ElementsAre(Not(HasSubstr("lets update things"))));
}

// The spec of a Scenario whose controller `cleaner` removes example.com/f from things; `more`: of its fields.
std::string cleanerOf(const std::string& more) {
  return "---\n{apiVersion: lastout.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {guard: false, "
         "controllers: [{name: cleaner, removes: {finalizer: example.com/f, from: things.example.com}" +
         more + "}], steps: [{delete: namespace/team}]}}\n";
}

TEST(FinalizerRemoval, AControllerOfTheScenarioIsKnownToRemoveItsFinalizer) {
  const auto told = [](const std::string& yaml) { return blockersOf(whyIn(yaml, kThing)); };
  EXPECT_THAT(
      told(thingWith("example.com/f") + cleanerOf("")),
      ElementsAre("it has finalizer example.com/f, which controller cleaner of the scenario removes"));
  EXPECT_THAT(told(thingWith("other") + cleanerOf("")),
              ElementsAre(HasSubstr("nobody is known to remove it")));
  const std::string needs = cleanerOf(
      ", needs: [{of: secrets, named: spec.secretRef.name}, configmaps/team/settings], waitsFor: {of: pods, "
      "in: "
      "same namespace}");
  std::string yaml = thingWith("example.com/f");
  const std::string_view end = "namespace: team}}";
  yaml.replace(yaml.rfind(end), end.size(), "namespace: team}, spec: {secretRef: {name: login}}}");
  EXPECT_THAT(
      told(yaml + needs +
           "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}, spec: {}}\n"),
      ElementsAre(
          "it has finalizer example.com/f, which controller cleaner of the scenario removes; cleaner needs "
          "secrets/login, and there is none; cleaner needs configmaps/team/settings, and there is none; "
          "cleaner waits for pods/team/p"));
  EXPECT_THAT(
      told(yaml + needs + "---\n{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: other}}\n" +
           "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: team}}\n"),
      ElementsAre("it has finalizer example.com/f, which controller cleaner of the scenario removes"));
}

TEST(FinalizerRemoval, AControllerOfTheScenarioWorksWhileItsWorkloadDoes) {
  const std::string scenario = cleanerOf(", runsIn: deployments.apps/op/op");
  const std::string thing = thingWith("example.com/f");
  EXPECT_THAT(blockersOf(whyIn(thing + scenario + operatorNamed("op"), kThing)),
              ElementsAre("it has finalizer example.com/f, which controller cleaner of the scenario (in "
                          "deployments.apps/op/op) removes"));
  const admission::Why idle = whyIn(thing + scenario + operatorNamed("op", "replicas: 0, "), kThing);
  EXPECT_THAT(
      blockersOf(idle),
      ElementsAre("it has finalizer example.com/f, and deployments.apps/op/op, which removes it (controller "
                  "cleaner of the scenario), cannot: it is scaled to zero; make it work again"));
  EXPECT_THAT(chainsOf(idle),
              ElementsAre(StartsWith("things.example.com/team/t > deployments.apps/op/op > ")));
  EXPECT_THAT(blockersOf(whyIn(thing + scenario, kThing)),
              ElementsAre(HasSubstr("; cleaner runs in deployments.apps/op/op, which is not there")));
}

TEST(FinalizerRemoval, ANamespaceSaysItselfWhatKeepsIt) {
  const admission::Why why =
      whyIn("{apiVersion: v1, kind: Namespace, metadata: {name: n" + std::string(kGoing) +
                "}, spec: {finalizers: [kubernetes, example.com/origin]}, status: {phase: Terminating, "
                "conditions: [{type: "
                "NamespaceContentRemaining, status: 'True', message: 'Some resources are remaining: "
                "things.example.com has 1 "
                "resource instances'}, {type: NamespaceDeletionDiscoveryFailure, status: 'False', message: "
                "fine}, {type: Audited, status: 'True', message: by others}]}}\n",
            "namespace/n");
  EXPECT_THAT(blockersOf(why),
              ElementsAre("its condition NamespaceContentRemaining is True: Some resources are remaining: "
                          "things.example.com has 1 resource instances",
                          "its spec.finalizers has example.com/origin, which somebody has to take off"));
}

// What nobody keeps goes by itself: it is not what a person has to act on.
TEST(FinalizerRemoval, OfATerminatingNamespaceTheRootsAreWhatIsKept) {
  std::string yaml = thingWith("example.com/f") + operatorNamed("op") +
                     "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team}}\n";
  yaml.replace(yaml.find("{name: team}"), 12, "{name: team" + std::string(kGoing) + "}");
  EXPECT_THAT(chainsOf(whyIn(yaml, "namespace/team")),
              ElementsAre(AllOf(StartsWith("namespaces/team > things.example.com/team/t > "),
                                HasSubstr("; example.com/f, which deployments.apps/op/op removes"))));
}

TEST(FinalizerRemoval, WhatDoesNotWorkKeepsTheObject) {
  EXPECT_THAT(toText(whyIn(thingWith("example.com/f") + operatorNamed("op", "replicas: 0, "), kThing)),
              HasSubstr("    things.example.com/team/t\n      is kept by deployments.apps/op/op\n"));
  EXPECT_THAT(
      blockersOf(whyIn(thingWith("example.com/f") + operatorNamed("op", "replicas: 0, ") +
                           "---\n{apiVersion: v1, kind: Namespace, metadata: {name: op" + kGoing + "}}\n",
                       kThing)),
      ElementsAre(AllOf(HasSubstr("it is scaled to zero, and is being deleted with all in its Namespace"),
                        HasSubstr("take the finalizer off by hand"))));
}

}  // namespace
}  // namespace lastout::replay
