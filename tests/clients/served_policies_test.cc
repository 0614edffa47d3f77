// Deletion policies that ask of other objects, beside `lastout serve`, by kubectl.
#include <gmock/gmock.h>

#include <memory>

#include "tests/clients/rights.h"
#include "tests/clients/serving.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Usages : public Serving {
 public:
  void SetUp() override {
    Serving::SetUp();
    start();
    kubectl("apply -f scenarios/crds/usage.yaml");
    kubectl("apply -f protection/profiles/usage.yaml");
    serveUsages();
  }
  virtual void serveUsages() { serve(); }
  void create(const std::string& yaml) const {
    write("objects.yaml", "apiVersion: protection.crossplane.io/v1beta1\n" + yaml);
    kubectl("apply -f $FOLDER/objects.yaml");
  }
  void waitUntilDenied(const std::string& object) const {
    waitUntil("kubectl delete " + object + " --dry-run=server 2>&1 | grep in-use");
  }
};

constexpr const char* kDatabaseInUse = R"(kind: Usage
metadata: {name: app-uses-db}
spec:
  of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}
  by: {apiVersion: apps/v1, kind: Deployment, resourceRef: {name: app}}
)";

TEST_F(Usages, AnObjectInUseIsDeniedAsCrossplaneDoes) {
  kubectl("create configmap db");
  kubectl("create configmap free");
  create(kDatabaseInUse);
  waitUntilDenied("configmap db");
  EXPECT_THAT(kubectl("delete configmap db", 1),
              AllOf(HasSubstr("(Conflict)"),
                    HasSubstr("nousages.protection.crossplane.io\" denied the request: "
                              "This resource is in-use by 1 usage(s), including the *v1beta1.Usage "
                              "\"app-uses-db\" (in namespace \"default\") by resource Deployment/app.")));
  kubectl("delete configmap free");
  create(
      "kind: Usage\nmetadata: {name: a-reason}\n"
      "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}, reason: in production}\n");
  waitUntil("kubectl delete configmap db --dry-run=server 2>&1 | grep 'in-use by 2 usage'");
  EXPECT_THAT(kubectl("delete configmap db", 1),
              HasSubstr("the *v1beta1.Usage \"a-reason\" (in namespace \"default\") with reason: \"in "
                        "production\"."));
  create(
      "kind: Usage\nmetadata: {name: a-by-selector}\n"
      "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}, "
      "by: {apiVersion: apps/v1, kind: Deployment, resourceSelector: {matchLabels: {app: web}}}}\n");
  waitUntil("kubectl delete configmap db --dry-run=server 2>&1 | grep 'in-use by 3 usage'");
  EXPECT_THAT(
      kubectl("delete configmap db", 1),
      HasSubstr("the *v1beta1.Usage \"a-by-selector\" (in namespace \"default\") by resources of kind "
                "Deployment that its selector selects."));
  kubectl("delete usages --all");
  waitUntil("kubectl delete configmap db");
}

// Its part in the webhook, which nothing but lastout knows.
TEST_F(Usages, APolicyThatIsNotUnderstoodAnyMoreProtectsAlsoAfterARestart) {
  kubectl("create configmap db");
  create(kDatabaseInUse);
  waitUntilDenied("configmap db");
  kubectl("wait --for=condition=Enforced deletionpolicy/usage --timeout=50s");
  kubectl("patch deletionpolicy usage --type=merge -p '{\"spec\":{\"message\":\"{king} stays\"}}'");
  kubectl("wait --for=condition=Accepted=false deletionpolicy/usage --timeout=50s");
  EXPECT_THAT(
      kubectl("get deletionpolicy usage -o jsonpath='{.status.conditions[?(@.type==\"Enforced\")].message}'"),
      HasSubstr("as it was in generation 1 it goes on protecting"));
  interrupt();
  serve();
  waitUntilDenied("configmap db");
  kubectl("delete usages --all");
  waitUntil("kubectl delete configmap db");
}

TEST_F(Usages, ANamespacedUsageOfAClusterScopedObjectSaysThatItDoesNot) {
  kubectl("create clusterrole view-db --verb=get --resource=configmaps");
  const std::string of =
      "spec: {reason: r, of: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, "
      "resourceRef: {name: view-db}}}\n";
  create("kind: Usage\nmetadata: {name: role}\n" + of);
  waitUntil("kubectl get events | grep NotProtected");
  EXPECT_THAT(
      kubectl("get events -o jsonpath='{.items[0].involvedObject.kind} {.items[0].message}'"),
      HasSubstr("DeletionPolicy usages.protection.crossplane.io/default/role does not protect what it "
                "lists of ClusterRole"));
  EXPECT_THAT(kubectl("delete clusterrole view-db --dry-run=server"), Not(HasSubstr("in-use")));
  create("kind: ClusterUsage\nmetadata: {name: role}\n" + of);
  waitUntilDenied("clusterrole view-db");
  EXPECT_THAT(kubectl("delete clusterrole view-db", 1),
              HasSubstr("including the *v1beta1.ClusterUsage \"role\" with reason: \"r\"."));
}

// Deletions of ConfigMaps are repeated.
class Replays : public Usages {
 public:
  void serveUsages() override {
    kubectl("apply -f deploy/validating-admission-policies.yaml");
    // This lastout is no Pod: these do not know its user.
    kubectl("delete validatingadmissionpolicybinding lastout-configuration lastout-deletionpolicy-status");
    serve({"--replay-deletions", "configmaps"});
  }
  // A Usage of the ConfigMap db, with the field as it is given.
  void use(const std::string& field) const {
    create("kind: Usage\nmetadata: {name: one}\nspec: {" + field +
           "reason: r, of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}}\n");
    waitUntilDenied("configmap db");
  }
  // The command of the denial.
  std::string named() const {
    const std::string marker = "; to have lastout delete it once it may go: ";
    waitUntil("kubectl delete configmap db --dry-run=server 2>&1 | grep '" + marker + "'");
    const std::string denial = kubectl("delete configmap db", 1);
    const size_t at = denial.find(marker);
    EXPECT_NE(at, std::string::npos) << denial;
    return at == std::string::npos ? "false" : denial.substr(at + marker.size());
  }
  // Asks for the deletion of a ConfigMap as if a denial had named the command.
  void ask(const std::string& name, const std::string& uid, const std::string& until) const {
    EXPECT_EQ(run("kubectl annotate configmap " + name + " \"lastout.dev/delete-when-free=" + uid +
                  " $(date -u -d '" + until + "' +%Y-%m-%dT%H:%M:%SZ)\"")
                  .exitCode,
              0);
  }
  std::string uidOf(const std::string& name) const {
    return "$(kubectl get configmap " + name + " -o jsonpath={.metadata.uid})";
  }
  void waitUntilTold(const std::string& reason, const std::string& name) const {
    waitUntil("kubectl get events --field-selector reason=" + reason + ",involvedObject.name=" + name +
              " -o name | grep event");
  }
};

TEST_F(Replays, TheDeletionThatTheDenialsCommandAsksForIsRun) {
  kubectl("create configmap db");
  use("replayDeletion: true, ");
  const std::string command = named();
  EXPECT_THAT(command, StartsWith("kubectl annotate configmaps/db -n default --overwrite "
                                  "'lastout.dev/delete-when-free="));
  const testing::Ran ran = run(command);
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
  waitUntilTold("DeletionDeferred", "db");
  kubectl("get configmap db");
  kubectl("delete usage one");
  waitUntilTold("DeletionCarriedOut", "db");
  kubectl("get configmap db", 1);
}

// Those that are told of last have been looked at after the others.
TEST_F(Replays, WithoutReplayDeletionNoCommandIsNamed) {
  for (const char* name : {"db", "wrong", "late", "marker"}) kubectl("create configmap " + std::string(name));
  // While there is another API servers go on asking about ConfigMaps.
  create(
      "kind: Usage\nmetadata: {name: another}\n"
      "spec: {reason: r, of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: another}}}\n");
  for (const char* field : {"replayDeletion: false, ", ""}) {
    use(field);
    EXPECT_THAT(kubectl("delete configmap db", 1),
                AllOf(HasSubstr("in-use by 1 usage"), Not(HasSubstr("annotate"))));
    kubectl("delete usage one");
    waitUntil("kubectl delete configmap db --dry-run=server");
  }
  ask("wrong", "nobody", "1 hour");
  ask("late", uidOf("late"), "1 hour ago");
  ask("marker", uidOf("marker"), "1 hour");
  waitUntilTold("AnnotationIgnored", "wrong");
  waitUntilTold("AnnotationIgnored", "late");
  waitUntilTold("DeletionCarriedOut", "marker");
  kubectl("get configmap db wrong late");
}

TEST_F(Replays, WhatAnotherPolicyProtectsStaysUntilThatLetsItGo) {
  kubectl("apply -f protection/profiles/karmada.yaml");
  kubectl("wait --for=condition=Enforced deletionpolicy/karmada --timeout=50s");
  kubectl("create configmap db");
  kubectl("label configmap db resourcetemplate.karmada.io/deletion-protected=Always");
  ask("db", uidOf("db"), "1 hour");
  waitUntilTold("DeletionHeldUp", "db");
  kubectl("get configmap db");
  kubectl("label configmap db resourcetemplate.karmada.io/deletion-protected-");
  waitUntilTold("DeletionCarriedOut", "db");
  kubectl("get configmap db", 1);
}

// Composites on one cluster, and what belongs to them on another.
class Composites : public Serving {
 public:
  void SetUp() override {
    Serving::SetUp();
    start();
    other_ = std::make_unique<testing::Running>(
        std::vector<std::string>{"up", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                                 (folder_ / "control-plane").string()},
        "Ctrl-C ends it");
    there("apply -f scenarios/crds/appcat.yaml");
    write("composite.yaml",
          "apiVersion: vshn.appcat.vshn.io/v1\nkind: XVSHNPostgreSQL\nmetadata: {name: pg}\n"
          "spec: {parameters: {backup: {deletionProtection: true}}}\n");
    there("apply -f $FOLDER/composite.yaml");
    kubectl("create namespace instance");
    kubectl(
        "label namespace instance appcat.vshn.io/ownergroup=vshn.appcat.vshn.io "
        "appcat.vshn.io/ownerapiversion=v1 appcat.vshn.io/ownerkind=XVSHNPostgreSQL "
        "appcat.vshn.io/ownercomposite=pg");
    EXPECT_EQ(
        run("lastout policy apply appcat --ancestor-cluster control-plane --kubeconfig $CONFIG").exitCode, 0);
  }
  std::string there(const std::string& line, int expected = 0) const {
    return kubectl("--kubeconfig $FOLDER/control-plane " + line, expected);
  }
  void serveWithOther() {
    serve({"--policy-cluster", "control-plane=" + (folder_ / "control-plane").string()});
  }
  void waitUntilSaid(const std::string& words) const {
    waitUntil("kubectl delete namespace instance --dry-run=server 2>&1 | grep '" + words + "'");
  }
  void TearDown() override {
    other_.reset();
    Serving::TearDown();
  }
  void endOther() { other_.reset(); }

 private:
  std::unique_ptr<testing::Running> other_;
};

TEST_F(Composites, OneOnAnotherClusterProtectsWhatBelongsToIt) {
  serveWithOther();
  waitUntilSaid("xvshnpostgresqls.vshn.appcat.vshn.io/pg on cluster control-plane, which is protected");
  there(
      "patch xvshnpostgresqls pg --type=merge -p '{\"spec\": {\"parameters\": {\"backup\": "
      "{\"deletionProtection\": false}}}}'");
  waitUntil("kubectl delete namespace instance --dry-run=server");
  endOther();
  waitUntilSaid("what it belongs to cannot be found out: .* on cluster control-plane: ");
  EXPECT_THAT(kubectl("delete namespace instance", 1), HasSubstr("(Forbidden)"));
  kubectl("label namespace instance appcat.vshn.io/webhook-allowdeletion=true");
  waitUntil("kubectl delete namespace instance");
}

TEST_F(Composites, AClusterWithoutAKubeconfigProtectsAndSaysWhatToDo) {
  serve();
  waitUntilSaid("name its kubeconfig with lastout serve --policy-cluster control-plane=FILE");
}

// Policies that lastout applies by itself.
class Profiles : public Serving {
 public:
  // As the account of the controller, with the rights that deploy/ and these manifests give.
  void serveWithRights(const std::string& more, const std::string& profile) {
    const std::string token = "token-of-the-controller";
    write("users.yaml",
          tokensFile(run("kubectl kustomize deploy").out + more, {{"lastout", "lastout-controller", token}}));
    start({"--tokens", (folder_ / "users.yaml").string()});
    kubectl("apply -k deploy");
    run("cp $CONFIG $FOLDER/controller");
    kubectl("--kubeconfig $FOLDER/controller config set-context --current --user=account");
    kubectl("--kubeconfig $FOLDER/controller config set-credentials account --token=" + token);
    serve({"--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls", "--policies", "webhook",
           "--profile", profile},
          "controller");
  }
  void waitUntilEnforced(const std::string& policy) const {
    waitUntil("kubectl wait --for=condition=Enforced delpol/" + policy + " --timeout=30s");
  }
};

TEST_F(Profiles, AreAppliedAndKept) {
  start();
  serve({"--profile", "karmada,kruise"});
  for (const char* policy : {"karmada", "kruise-always"}) waitUntilEnforced(policy);
  kubectl("create configmap settings");
  kubectl("label configmap settings resourcetemplate.karmada.io/deletion-protected=Always");
  kubectl("delete configmap settings", 1);
  EXPECT_THAT(run("lastout policy remove karmada --kubeconfig $CONFIG").out, HasSubstr("/karmada deleted"));
  waitUntilEnforced("karmada");
  kubectl("delete configmap settings", 1);
  kubectl(R"(patch delpol karmada --type=merge -p '{"spec": {"when": [{"label": "example.com/other"}]}}')");
  waitUntil("kubectl get delpol karmada -o yaml | grep -q 'label: resourcetemplate.karmada.io'");
  EXPECT_EQ(kubectl("get delpol -l lastout.dev/imported-from -o name"), "");
}

// Those of dbops hold, and whoever else writes such a policy must be allowed to delete everything.
TEST_F(Profiles, NeedNoRightsButThoseOfTheirComponent) {
  serveWithRights("---\n" + run("cat deploy/components/applies-profiles/rbac.yaml").out, "dbops");
  for (const char* kind : {"instances", "databases", "users", "roles", "grants", "backup-schedules"})
    waitUntilEnforced(std::string("dbops-") + kind);
  kubectl("delete delpol dbops-users");
  waitUntilEnforced("dbops-users");
}

TEST_F(Profiles, WithoutTheComponentItSaysWhichRightsAreMissing) {
  serveWithRights("", "karmada");
  EXPECT_TRUE(waitUntilItSays("the component applies-profiles of deploy/"));
  EXPECT_EQ(kubectl("get delpol -o name"), "");
}

// Nobody serves: why reads the policies, and the other cluster, by itself.
TEST_F(Composites, WhyLooksAtTheOtherClusterWhereItIsTold) {
  const auto why = [this](const std::string& options) {
    return run("lastout why ns/instance --kubeconfig $CONFIG" + options);
  };
  const std::string other = " --policy-cluster control-plane=$FOLDER/control-plane";
  const auto untold = why("");
  EXPECT_EQ(untold.exitCode, 1);
  EXPECT_THAT(untold.out, HasSubstr("DENY (ProtectionUnknown)"));
  EXPECT_THAT(untold.out,
              HasSubstr("name its kubeconfig with lastout why --policy-cluster control-plane=FILE"));
  const auto told = why(other);
  EXPECT_EQ(told.exitCode, 1);
  EXPECT_THAT(told.out, HasSubstr("DENY (Protected)"));
  EXPECT_THAT(
      told.out,
      HasSubstr("xvshnpostgresqls.vshn.appcat.vshn.io/pg on cluster control-plane, which is protected"));
  there(
      "patch xvshnpostgresqls pg --type=merge -p '{\"spec\": {\"parameters\": {\"backup\": "
      "{\"deletionProtection\": false}}}}'");
  EXPECT_EQ(why(other).exitCode, 0);
  endOther();
  EXPECT_THAT(why(" --policy-cluster control-plane=$FOLDER/gone").out, HasSubstr("gone"));
  EXPECT_THAT(why(" --policy-cluster control-plane").out, HasSubstr("write it as NAME=KUBECONFIG"));
  EXPECT_THAT(run("lastout why ns/instance --policy-cluster a=b deploy/").out,
              HasSubstr("--policy-cluster is for a cluster that is asked"));
}

}  // namespace
}  // namespace lastout::clients
