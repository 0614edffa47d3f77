// What a controller needs beside its Pods, and what it waits for: written down, or read off bindings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replay/assumptions.h"
#include "tests/replay/play.h"
#include "tests/support/manifests.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// An operator with an account of its own, and one Gadget in each of two tenants' namespaces.
const std::string kTenants = R"(---
apiVersion: v1
kind: Namespace
metadata: { name: operator }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: op, namespace: operator }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: operator, namespace: operator }
spec:
  selector: { matchLabels: { app: operator } }
  template:
    metadata: { labels: { app: operator } }
    spec: { serviceAccountName: op, containers: [{ name: main, image: example.com/operator:1 }] }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Gadget, plural: gadgets, singular: gadget }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
---
apiVersion: v1
kind: Namespace
metadata: { name: a }
---
apiVersion: v1
kind: Namespace
metadata: { name: b }
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: one, namespace: a, finalizers: [example.com/cleanup] }
spec: { serviceAccountName: robot, credentials: [{ name: user }, { name: key }] }
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: one, namespace: b, finalizers: [example.com/cleanup] }
---
apiVersion: v1
kind: Secret
metadata: { name: key, namespace: a }
---
apiVersion: v1
kind: Secret
metadata: { name: user, namespace: a }
)";

const std::string kRobot = R"(---
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot, namespace: a }
)";

std::string object(const std::string& kind, const std::string& name, const std::string& space,
                   const std::string& rest) {
  const std::string where = space.empty() ? "" : ", namespace: " + space;
  return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: { name: " + name +
         where + " }\n" + rest;
}

// A binding of the operator's account; `space`: of a RoleBinding. `role`: "ClusterRole/editor".
std::string binding(const std::string& name, const std::string& space, const std::string& role,
                    const std::string& subject = "{ kind: ServiceAccount, name: op, namespace: operator }") {
  const size_t slash = role.find('/');
  return object(space.empty() ? "ClusterRoleBinding" : "RoleBinding", name, space,
                "roleRef: { apiGroup: rbac.authorization.k8s.io, kind: " + role.substr(0, slash) +
                    ", name: '" + role.substr(slash + 1) + "' }\nsubjects: [" + subject + "]\n");
}

std::string role(const std::string& name, const std::string& rule, const std::string& space = "") {
  return object(space.empty() ? "ClusterRole" : "Role", name, space, "rules: [" + rule + "]\n");
}

const std::string kUpdates = "{ apiGroups: [example.com], resources: [gadgets], verbs: [patch] }";
const std::string kReads = "{ apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch] }";

// The operator's controller; `words` are further fields of it.
std::string controller(const std::string& words = "") {
  return "  guard: false\n  controllers:\n    - name: cleanup\n      runsIn: "
         "deployments.apps/operator/operator\n"
         "      removes: { finalizer: example.com/cleanup, from: gadgets.example.com }\n" +
         words;
}

std::string deletes(const std::string& objects) { return "  steps: [{ delete: [" + objects + "] }]"; }

// Of which objects of the goal something is left, "empty" if of none.
std::string ends(const std::string& yaml) {
  const ScenarioReport report = play(yaml);
  if (report.end == End::Empty) return "empty";
  std::string left;
  for (const Leftover& leftover : report.leftovers) left += (left.empty() ? "" : " ") + leftover.object;
  return left;
}

std::vector<std::string> reasons(const std::string& yaml, std::string_view object) {
  for (const Leftover& leftover : play(yaml).leftovers) {
    if (leftover.object == object) return leftover.reasons;
  }
  return {"nothing is said of it"};
}

// The same objects, each with the finalizer of the operator's controller.
std::string withFinalizers(std::string documents) {
  const std::string with = ", finalizers: [example.com/cleanup]";
  for (const std::string metadata : {"{ name: key, namespace: a", "{ name: a"}) {
    for (size_t at = documents.find(metadata + " }"); at != std::string::npos;
         at = documents.find(metadata + " }", at + 1))
      documents.insert(at + metadata.size(), with);
  }
  return documents;
}

const std::string kIsFor = "finalizer example.com/cleanup is for controller cleanup to remove";
const std::string kOneInA = "gadgets/a/one";
const std::string kBindingInA = "rolebindings/a/op";

// --- rights in the object's own namespace

TEST(ControllerRights, AreARoleBindingInTheObjectsNamespace) {
  const std::string both =
      kTenants + binding("op", "a", "ClusterRole/editor") + binding("op", "b", "ClusterRole/editor");
  EXPECT_EQ(ends(scenario(controller() + deletes("namespace/a, gadgets/b/one"), both)),
            "namespaces/a " + kOneInA);
  EXPECT_THAT(reasons(scenario(controller() + deletes(kBindingInA + ", " + kOneInA), both), kOneInA),
              ElementsAre(kIsFor + "; cleanup needs rolebindings/a/op, which is gone"));
  EXPECT_EQ(ends(scenario(controller() + deletes(kBindingInA + ", gadgets/b/one"), both)), "empty")
      << "a RoleBinding of another tenant stops nothing";
}

TEST(ControllerRights, CountOnlyWhereTheyMayBeLost) {
  const std::string lost = controller() + deletes(kOneInA + ", rolebindings/*/*, roles/*/*");
  const std::string leases = "{ apiGroups: [coordination.k8s.io], resources: [leases], verbs: ['*'] }";
  const std::string inA = binding("op", "a", "ClusterRole/editor");
  struct Case {
    std::string what;
    std::string more;
    bool isStuck;
  };
  const std::vector<Case> cases = {
      {"its role is not known", inA, true},
      {"its role allows it", inA + role("editor", kUpdates), true},
      {"its role allows other things", inA + role("editor", leases), false},
      {"its role allows reading", inA + role("editor", kReads), false},
      {"its role is for another object",
       inA + role("editor", "{ apiGroups: ['*'], resources: ['*'], verbs: ['*'], resourceNames: [two] }"),
       false},
      {"its role is for this object",
       inA + role("editor", "{ apiGroups: ['*'], resources: ['*'], verbs: ['*'], resourceNames: [one] }"),
       true},
      {"of Kubernetes' own roles, view allows nothing", binding("op", "a", "ClusterRole/view"), false},
      {"of Kubernetes' own roles, admin may have parts that no file has",
       binding("op", "a", "ClusterRole/admin"), true},
      {"all accounts of its namespace are bound",
       binding(
           "op", "a", "ClusterRole/editor",
           "{ kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:operator' }"),
       true},
      {"somebody else is bound",
       binding("op", "a", "ClusterRole/editor", "{ kind: ServiceAccount, name: op, namespace: a }"), false},
      {"only another namespace ever bound it", binding("op", "b", "ClusterRole/editor"), false},
      {"a ClusterRoleBinding allows it everywhere",
       inA + role("editor", kUpdates) + binding("op", "", "ClusterRole/editor"), false},
      {"a ClusterRoleBinding may allow it everywhere", inA + binding("everywhere", "", "ClusterRole/unknown"),
       false},
      {"all accounts may do it everywhere",
       inA + binding("everywhere", "", "ClusterRole/unknown",
                     "{ kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts' }"),
       false},
      {"a ClusterRoleBinding allows other things everywhere",
       inA + role("reader", kReads) + binding("everywhere", "", "ClusterRole/reader"), true},
      {"a ClusterRoleBinding is to a role of Kubernetes' own",
       inA + binding("everywhere", "", "ClusterRole/system:auth-delegator"), true},
  };
  for (const Case& one : cases)
    EXPECT_EQ(ends(scenario(lost, kTenants + binding("later", "b", "Role/none") + role("none", kReads, "b") +
                                      one.more)),
              one.isStuck ? kOneInA : "empty")
        << one.what;
}

TEST(ControllerRights, GoWithABindingOfAllAccounts) {
  for (const std::string group : {"system:serviceaccounts", "system:authenticated"}) {
    const std::string everybody =
        binding("everybody", "", "ClusterRole/editor",
                "{ kind: Group, apiGroup: rbac.authorization.k8s.io, name: '" + group + "' }");
    EXPECT_EQ(ends(scenario(controller() + deletes(kOneInA + ", clusterrolebindings/everybody"),
                            kTenants + role("editor", kUpdates) + everybody)),
              kOneInA)
        << group;
  }
}

TEST(ControllerRights, AreOneOfSeveralBindings) {
  const std::string two =
      kTenants + binding("first", "a", "ClusterRole/editor") + binding("second", "a", "ClusterRole/editor");
  EXPECT_EQ(ends(scenario(controller() + deletes("rolebindings/a/first, " + kOneInA), two)), "empty");
  EXPECT_THAT(
      reasons(scenario(controller() + deletes("rolebindings/a/*, " + kOneInA), two), kOneInA),
      ElementsAre(kIsFor + "; cleanup needs one of rolebindings/a/first and rolebindings/a/second, and "
                           "none of them is there"));
}

TEST(ControllerRights, AreABindingTogetherWithItsRole) {
  const std::string near = kTenants + binding("op", "a", "Role/editor") + role("editor", kUpdates, "a");
  EXPECT_THAT(reasons(scenario(controller() + deletes("roles/a/editor, " + kOneInA), near), kOneInA),
              ElementsAre(kIsFor + "; cleanup needs roles/a/editor, which is gone"));
  const std::string aggregated =
      kTenants + binding("op", "a", "ClusterRole/all") +
      object("ClusterRole", "all", "",
             "aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: yes-it-is } }] }\n") +
      object("ClusterRole", "reader", "", "rules: [" + kReads + "]\n") +
      "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: editor, labels: { "
      "part: yes-it-is } }\nrules: [" +
      kUpdates + "]\n";
  EXPECT_THAT(
      reasons(scenario(controller() + deletes("clusterroles/editor, " + kOneInA), aggregated), kOneInA),
      ElementsAre(kIsFor + "; cleanup needs clusterroles/editor, which is gone"));
}

// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles
TEST(ControllerRights, OfKubernetesOwnRolesAreOfItsOwnTypes) {
  struct Case {
    const char* role;
    const char* finalizes;  // in namespace a
    bool isAllowed;
  };
  const Case cases[] = {
      {"view", "gadgets.example.com", false},
      {"edit", "gadgets.example.com", false},
      {"admin", "gadgets.example.com", false},
      {"cluster-admin", "gadgets.example.com", true},
      {"system:node", "gadgets.example.com", false},
      {"unknown", "gadgets.example.com", true},
      {"view", "secrets", false},
      {"edit", "secrets", true},
      {"admin", "secrets", true},
      {"edit", "roles.rbac.authorization.k8s.io", false},
      {"admin", "roles.rbac.authorization.k8s.io", true},
      {"admin", "resourcequotas", false},
      {"admin", "namespaces", false},
      {"cluster-admin", "namespaces", true},
  };
  const std::string quota =
      "---\n{ apiVersion: v1, kind: ResourceQuota, metadata: { name: key, namespace: a } }\n";
  for (const Case& one : cases) {
    const std::string type = one.finalizes;
    const std::string object = type == "namespaces" ? "namespaces/a" : type + "/a/*";
    const std::vector<std::string> told = toldAssumptions(scenario(
        "  guard: false\n  controllers: [{ name: cleanup, runsIn: deployments.apps/operator/operator, "
        "removes: { finalizer: example.com/cleanup, from: " +
            type + " } }]\n" + deletes(object),
        withFinalizers(kTenants + quota + role("key", kReads, "a")) +
            binding("everywhere", "", "ClusterRole/" + std::string(one.role))));
    const auto lacks = [](const std::string& line) {
      return line.find(": no binding in") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::none_of(told, lacks), one.isAllowed) << one.role << " " << type;
  }
}

TEST(ControllerRights, OfKubernetesOwnRolesAreThoseOfTheirParts) {
  const auto lacks = [](const std::string& bound, const std::string& addsTo, const std::string& rule) {
    return toldAssumptions(
        scenario(controller() + deletes(kOneInA),
                 kTenants + binding("op", "a", "ClusterRole/" + bound) +
                     "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
                     "metadata: { name: gadgets, labels: { rbac.authorization.k8s.io/aggregate-to-" +
                     addsTo + " } }\nrules: [" + rule + "]\n"));
  };
  const auto named = ElementsAre(
      "deployments/operator/operator: controller cleanup may take finalizer "
      "example.com/cleanup off gadgets/a/one: no binding in the files lets its "
      "ServiceAccount update it");
  for (const char* role : {"view", "edit", "admin"})
    EXPECT_THAT(lacks(role, std::string(role) + ": 'true'", kUpdates), IsEmpty()) << role;
  EXPECT_THAT(lacks("edit", "edit: 'false'", kUpdates), named);
  EXPECT_THAT(lacks("edit", "edit: 'true'", kReads), named);
  EXPECT_THAT(lacks("edit", "admin: 'true'", kUpdates), named);
  EXPECT_THAT(lacks("admin", "edit: 'true'", kUpdates), IsEmpty()) << "edit has the label of admin";
  EXPECT_THAT(lacks("system:node", "edit: 'true'", kUpdates), named);
}

TEST(ControllerRights, OfKubernetesOwnRolesGoWithTheirParts) {
  const std::string part =
      "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: gadgets, labels: "
      "{ "
      "rbac.authorization.k8s.io/aggregate-to-edit: 'true' } }\nrules: [" +
      kUpdates + "]\n";
  EXPECT_THAT(reasons(scenario(controller() + deletes("clusterroles/gadgets, " + kOneInA),
                               kTenants + binding("op", "a", "ClusterRole/edit") + part),
                      kOneInA),
              ElementsAre(kIsFor + "; cleanup needs clusterroles/gadgets, which is gone"));
}

// A controller whose need comes back goes on.
TEST(ControllerRights, MayComeBack) {
  EXPECT_EQ(inOneLine(play(scenario(controller() + R"(  steps:
    - delete: [rolebindings/a/op, gadgets/a/one]
    - apply: rolebindings/a/op
      at: 60s
  expect: { ends: empty })",
                                    kTenants + binding("op", "a", "ClusterRole/editor")))),
            "empty at 61.000 s: held");
}

TEST(ControllerRights, OfAPodAreThoseOfItsWorkload) {
  std::string inPod = controller();
  inPod.replace(inPod.find("deployments.apps/operator/operator"), 34, "pods/operator/*");
  EXPECT_EQ(ends(scenario(inPod + deletes(kBindingInA + ", " + kOneInA),
                          kTenants + binding("op", "a", "ClusterRole/editor"))),
            kOneInA);
}

// --- acting as somebody else

TEST(ActsAs, AServiceAccountThatTheObjectNames) {
  const std::string lost = deletes("serviceaccounts/a/robot, " + kOneInA);
  const std::string gone = kIsFor + "; cleanup needs serviceaccounts/a/robot, which is gone";
  EXPECT_THAT(reasons(scenario(controller() + lost, kTenants + kRobot), kOneInA), ElementsAre(gone));
  EXPECT_EQ(ends(scenario(controller() + deletes(kOneInA), kTenants)), "empty")
      << "an account that is not in the files is not concluded";
  EXPECT_EQ(ends(scenario(controller("      actsAs: ''\n") + lost, kTenants + kRobot)), "empty");
  EXPECT_EQ(ends(scenario(controller("      actsAs: spec.other\n") + lost, kTenants + kRobot)), "empty");
  EXPECT_THAT(
      reasons(scenario(controller("      actsAs: spec.serviceAccountName\n") + deletes(kOneInA), kTenants),
              kOneInA),
      ElementsAre(kIsFor + "; cleanup needs serviceaccounts/a/robot, and there is none"));
  EXPECT_EQ(
      ends(scenario(controller() + deletes("serviceaccounts/a/robot, gadgets/b/one"), kTenants + kRobot)),
      "empty");
}

TEST(ActsAs, TogetherWithABindingOfIt) {
  const std::string ofRobot = "{ kind: ServiceAccount, name: robot, namespace: a }";
  const std::string bound = kTenants + kRobot + binding("robot", "a", "ClusterRole/admin", ofRobot) +
                            binding("reads", "a", "ClusterRole/reader", ofRobot) + role("reader", kReads);
  EXPECT_THAT(
      reasons(scenario(controller() + deletes("rolebindings/a/robot, serviceaccounts/a/robot, " + kOneInA),
                       bound),
              kOneInA),
      ElementsAre(kIsFor + "; cleanup needs serviceaccounts/a/robot, which is gone",
                  kIsFor + "; cleanup needs rolebindings/a/robot, which is gone"));
  EXPECT_EQ(ends(scenario(controller() + deletes("rolebindings/a/reads, " + kOneInA), bound)), "empty");
}

// It never had the right, so none gets lost.
TEST(ActsAs, WithoutAnyBindingIsAssumed) {
  const std::string ofRobot = "{ kind: ServiceAccount, name: robot, namespace: a }";
  const std::string ofOperator = binding("everywhere", "", "ClusterRole/editor") + role("editor", kUpdates);
  const auto ofAccount = [&](const std::string& more, const std::string& words = "") {
    return toldAssumptions(scenario(controller(words) + deletes(kOneInA), kTenants + kRobot + more));
  };
  const auto named = ElementsAre(
      "serviceaccounts/a/robot: controller cleanup may do its work for gadgets/a/one as "
      "serviceaccounts/a/robot: no binding in the files lets that ServiceAccount write in its namespace");
  EXPECT_THAT(ofAccount(ofOperator), named);
  EXPECT_THAT(ofAccount(ofOperator, "      actsAs: spec.serviceAccountName\n"), named);
  EXPECT_THAT(ofAccount(ofOperator + binding("robot", "b", "ClusterRole/admin", ofRobot)), named)
      << "in another namespace";
  EXPECT_THAT(ofAccount(ofOperator + binding("robot", "a", "ClusterRole/view", ofRobot)), named);
  EXPECT_THAT(ofAccount(ofOperator + binding("robot", "a", "ClusterRole/edit", ofRobot)), IsEmpty());
  EXPECT_THAT(ofAccount(ofOperator, "      actsAs: ''\n"), IsEmpty());
  EXPECT_THAT(ofAccount(""), IsEmpty()) << "the files have no RBAC at all";
  EXPECT_THAT(
      toldAssumptions(scenario(controller() + deletes("gadgets/b/one"), kTenants + kRobot + ofOperator)),
      IsEmpty())
      << "it names no account";
}

// --- needs and waitsFor

TEST(ControllerNeeds, AreMetByOneObjectEach) {
  const auto needs = [](const std::string& list, const std::string& gone) {
    return ends(
        scenario(controller("      needs: " + list + "\n") + deletes(gone + ", " + kOneInA), kTenants));
  };
  EXPECT_EQ(needs("[{ of: secrets/key, in: same namespace }]", "secrets/a/user"), "empty");
  EXPECT_EQ(needs("[{ of: secrets/key, in: same namespace }]", "secrets/a/key"), kOneInA);
  EXPECT_EQ(needs("[{ of: secrets, in: same namespace }]", "secrets/a/key"), "empty");
  EXPECT_EQ(needs("[{ of: secrets, in: same namespace }]", "secrets/a/*"), kOneInA);
  EXPECT_EQ(needs("secrets/a/key", "secrets/a/key"), kOneInA);
  EXPECT_EQ(needs("[secrets/a/key, secrets/a/user]", "secrets/a/user"), kOneInA) << "each of them";
  EXPECT_EQ(needs("secrets/a/*", "secrets/a/user"), "empty");
  EXPECT_EQ(needs("namespaces", "namespace/b"), "empty");
  EXPECT_EQ(needs("{ of: secrets, in: same namespace, named: spec.credentials.name }", "secrets/a/user"),
            kOneInA)
      << "of a list each item";
}

TEST(ControllerNeeds, AreOfTheObject) {
  const std::string key = controller("      needs: [{ of: secrets/key, in: same namespace }]\n");
  EXPECT_THAT(reasons(scenario(key + deletes("gadgets/b/one"), kTenants), "gadgets/b/one"),
              ElementsAre(kIsFor + "; cleanup needs secrets/b/key, and there is none"));
  const std::string named =
      controller("      needs: { of: secrets, in: same namespace, named: spec.credentials.name }\n");
  EXPECT_EQ(ends(scenario(named + deletes("gadgets/b/one"), kTenants)), "empty") << "it names none";
}

TEST(ControllerNeeds, AreAllTold) {
  EXPECT_THAT(
      reasons(scenario(
                  controller("      needs: [secrets/a/key, secrets/a/user]\n      waitsFor: namespaces/b\n") +
                      deletes("deployments.apps/operator/operator, secrets/a/*, " + kOneInA),
                  kTenants),
              kOneInA),
      ElementsAre(kIsFor + ", and deployments/operator/operator, where it ran, is gone",
                  kIsFor + "; cleanup needs secrets/a/key, which is gone",
                  kIsFor + "; cleanup needs secrets/a/user, which is gone",
                  kIsFor + "; cleanup waits for namespaces/b"));
}

// A CronJob makes a Job again and again, each for another run of the clean-up.
TEST(ControllersInCronJobs, RunInTheJobsThatItMakes) {
  const auto run = [](const std::string& steps, const std::string& spec = "", const std::string& more = "",
                      const std::string& runsIn = "cronjobs/op/sweep") {
    return play(scenario(
        "\n  guard: false\n  steps: " + steps + "\n  controllers: [{name: sweep, runsIn: " + runsIn +
            ", removes: {finalizer: example.com/f, from: configmaps}}]\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: op}}\n---\n{apiVersion: batch/v1, kind: "
        "CronJob, "
        "metadata: {name: sweep, namespace: op, uid: u}, spec: {schedule: '* * * * *'" +
            spec +
            ", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}}}\n"
            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default, finalizers: "
            "[example.com/f]}}\n" +
            more));
  };
  const auto ends = [&](const std::string& steps, const std::string& spec = "",
                        const std::string& more = "") { return inOneLine(run(steps, spec, more)); };
  const std::string owned =
      "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: sweep-1, namespace: op, ownerReferences: "
      "[{apiVersion: batch/v1, kind: CronJob, name: sweep, uid: u, controller: true}]}, spec: {template: "
      "{spec: "
      "{restartPolicy: Never, containers: [{name: c}]}}}";
  const std::string complete =
      owned + ", status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}}\n";
  const std::string deletes = "[{delete: configmaps/default/c, at: 20s}]";
  EXPECT_THAT(ends(deletes), StartsWith("empty"));
  EXPECT_THAT(ends(deletes, "", complete), StartsWith("empty")) << "the next Job does it";
  EXPECT_THAT(ends("[{delete: jobs/op/sweep-1}, {delete: configmaps/default/c, at: 20s}]", "", owned + "}\n"),
              StartsWith("empty"));
  EXPECT_THAT(inOneLine(run(deletes, "", "", "cronjobs/sweep")), StartsWith("empty"));
  const ScenarioReport suspended = run(deletes, ", suspend: true");
  ASSERT_EQ(suspended.leftovers.size(), 1U);
  EXPECT_THAT(
      suspended.leftovers[0].reasons,
      ElementsAre(HasSubstr("cronjobs/op/sweep, where it runs, has no Ready Pod, because it is suspended")));
  EXPECT_THAT(ends("[{delete: cronjobs/op/sweep}, {delete: configmaps/default/c, at: 20s}]"),
              StartsWith("stuck"));
  EXPECT_THAT(ends("[{delete: namespace/op}, {delete: configmaps/default/c, at: 20s}]"), StartsWith("stuck"));
}

TEST(WaitsFor, WhatIsNotThereAnyMore) {
  const auto waits = [](const std::string& list, const std::string& gone) {
    return ends(scenario(controller("      waitsFor: " + list + "\n") + deletes(gone + kOneInA), kTenants));
  };
  EXPECT_EQ(waits("[{ of: secrets, in: same namespace }]", ""), kOneInA + " secrets/a/key secrets/a/user");
  EXPECT_EQ(waits("[{ of: secrets, in: same namespace }]", "secrets/a/*, "), "empty");
  EXPECT_EQ(waits("secrets/b/*", ""), "empty");
  EXPECT_EQ(waits("{ of: gadgets.example.com, in: same namespace }", ""), "empty")
      << "an object does not wait for itself";
  EXPECT_EQ(waits("[{ of: secrets, in: same namespace, named: spec.credentials.name }]", "secrets/a/key, "),
            kOneInA + " secrets/a/user");
}

TEST(WaitsFor, MakesARing) {
  const ScenarioReport report = play(scenario(R"(  guard: false
  controllers:
    - { name: there, removes: { finalizer: example.com/cleanup, from: gadgets.example.com }, waitsFor: secrets/a/key }
    - { name: back, removes: { finalizer: example.com/kept, from: secrets }, waitsFor: gadgets/a/one }
  steps:
    - patch: { object: secrets/a/key, finalizers: [example.com/kept] }
    - delete: [gadgets/a/one, secrets/a/key])",
                                              kTenants));
  EXPECT_THAT(report.ring, ElementsAre(kOneInA, "secrets/a/key"));
}

TEST(ControllerNeeds, OfANamespaceMayBeInIt) {
  EXPECT_EQ(ends(scenario(R"(  guard: false
  controllers:
    - name: spaces
      removes: { finalizer: example.com/kept, from: namespaces }
      waitsFor: [{ of: gadgets.example.com, in: same namespace }]
  steps: [{ delete: [namespace/kept, gadgets/kept/one] }])",
                          kTenants + R"(---
apiVersion: v1
kind: Namespace
metadata: { name: kept, finalizers: [example.com/kept] }
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: one, namespace: kept }
)")),
            "empty");
}

// --- mistakes

TEST(ControllerNeeds, AMistakeIsNamedWithItsPlace) {
  const auto wrong = [](const std::string& words) { return mistakes(scenario(controller(words), kTenants)); };
  EXPECT_THAT(wrong("      neds: []\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:9:7: "), HasSubstr("neds"), HasSubstr("needs"))));
  EXPECT_THAT(wrong("      needs: [{ of: secrets, inn: same namespace }]\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:9:30: "), HasSubstr("inn"), HasSubstr("\"in\""))));
  EXPECT_THAT(wrong("      needs: [{ of: secrets, in: my namespace }]\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:9:34: spec.controllers[0].needs[0].in"),
                                HasSubstr("same namespace"))));
  EXPECT_THAT(wrong("      waitsFor: [{ of: sekrets }]\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:9:24: spec.controllers[0].waitsFor[0].of"),
                                HasSubstr("secrets"))));
  EXPECT_THAT(wrong("      needs: [{ in: same namespace }]\n"),
              ElementsAre(HasSubstr("needs[0].of is missing")));
  EXPECT_THAT(wrong("      needs: [17]\n"), ElementsAre(HasSubstr("an integer")));
  EXPECT_THAT(wrong("      needs: [{ of: namespaces, in: same namespace }]\n"),
              ElementsAre(HasSubstr("namespaces are in no namespace; leave it out")));
  EXPECT_THAT(wrong("      needs: [{ of: secrets/a/key, in: same namespace }]\n"),
              ElementsAre(HasSubstr("secrets/a/key has its namespace already")));
  EXPECT_THAT(wrong("      needs: [{ of: secrets/key, named: spec.secret }]\n"),
              ElementsAre(HasSubstr("secrets/key has its name already")));
  EXPECT_THAT(wrong("      needs: [{ of: secrets, named: spec..secret }]\n"),
              ElementsAre(AllOf(StartsWith("s.yaml:9:37: "), HasSubstr("write a field of the object"))));
  EXPECT_THAT(wrong("      actsAs: .spec\n"), ElementsAre(HasSubstr("write a field of the object")));
  EXPECT_THAT(
      mistakes(scenario("  controllers: [{ name: c, removes: { finalizer: f.example.com/f, from: crds }, "
                        "actsAs: spec.account, needs: [{ of: secrets, in: same namespace }] }]",
                        kTenants)),
      ElementsAre(HasSubstr("customresourcedefinitions.apiextensions.k8s.io, from which"),
                  HasSubstr("customresourcedefinitions.apiextensions.k8s.io, from which")));
}

TEST(ScenarioWarnings, AGoalThatIsEmpty) {
  const auto warned = [](const std::string& expect) {
    return testing::lines(
        ready(scenario("  steps: [{ delete: secrets/a/key }, { apply: secrets/a/key }]\n" + expect, kTenants))
            ->compiled.warnings);
  };
  EXPECT_THAT(warned(""),
              HasSubstr("s.yaml: all that is deleted is applied again, so that nothing is to end"));
  EXPECT_EQ(warned("  expect: { exists: [secrets/a/key] }"), "");
}

TEST(ControllerNeeds, WhatNothingIsIsWarnedOf) {
  const auto warned = [](const std::string& words) {
    return testing::lines(ready(scenario(controller(words) + deletes(kOneInA), kTenants))->compiled.warnings);
  };
  EXPECT_EQ(warned(""), "");
  EXPECT_EQ(warned("      needs: [secrets/a/key, { of: secrets, in: same namespace, named: "
                   "spec.credentials.name }]\n"),
            "");
  EXPECT_THAT(
      warned("      needs: [secrets/a/kee]\n"),
      HasSubstr("s.yaml:9:15: controller cleanup needs secrets/a/kee, and nothing in this scenario is that"));
  EXPECT_THAT(warned("      waitsFor: { of: pods, in: same namespace, named: spec.pod }\n"),
              HasSubstr("controller cleanup waits for pods named by spec.pod in the same namespace"));
  EXPECT_THAT(
      warned("      actsAs: spec.serviceAccountName\n"),
      HasSubstr("controller cleanup acts as a ServiceAccount, by spec.serviceAccountName, that is not in "
                "this scenario"));
}

}  // namespace
}  // namespace lastout::replay
