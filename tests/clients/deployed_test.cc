// All of deploy/ in a cluster, and `lastout serve` for each role with the rights of its service account: the
// story's objects deleted in orders of chance, and lastout's own way out.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/clients/rights.h"
#include "tests/clients/serving.h"
#include "tests/clients/story.h"
#include "tests/support/examples.h"
#include "tests/support/seed.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

enum class Where : uint8_t { Embedded, Real };

constexpr std::array kRoles{"webhook", "controller"};

constexpr std::array<const char*, 5> kStoryObjects = {
    "coolresource some-instance", "crd coolresources.my.crd.group",
    "deployment finalizer-deployment -n finalizer-namespace", "namespace finalizer-namespace",
    "criticalservice for-finalizer-deployment"};

class Deployed : public Serving, public ::testing::WithParamInterface<Where> {
 protected:
  void SetUp() override {
    Serving::SetUp();
    write("crd.yaml", kCrd);
    write("story.yaml", std::string(testing::kCriticalServiceExample) + kProvider + "---\n" + kInstance);
    if (GetParam() == Where::Embedded) {
      startEmbedded();
    } else {
      const char* assets = std::getenv("KUBEBUILDER_ASSETS");
      if (assets == nullptr)
        GTEST_SKIP() << "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver";
      startRealWithRights(assets);
    }
    for (const char* role : kRoles) {
      run(std::string("cp $CONFIG $FOLDER/") + role);
      kubectl(std::string("--kubeconfig $FOLDER/") + role +
              " config set-context --current --user=lastout-account");
    }
    useTokens();
  }

  void useTokens() const {
    for (const char* role : kRoles)
      kubectl(std::string("--kubeconfig $FOLDER/") + role +
              " config set-credentials lastout-account --token=" + tokens_.at(role));
  }

  // Without --rbac: the rights come from a tokens file.
  void startEmbedded() {
    write("controller.yaml", std::string(kCrd) + kController);
    std::string manifests = run("kubectl kustomize deploy").out + kReads;
    if (holds_) manifests += "---\n" + run("cat deploy/components/holds-providers/rbac.yaml").out;
    std::vector<Account> accounts;
    for (const char* role : kRoles) {
      tokens_[role] = std::string("token-of-the-") + role;
      accounts.push_back({"lastout", std::string("lastout-") + role, tokens_.at(role)});
    }
    write("users.yaml", tokensFile(manifests, accounts));
    start({"--speed", "50", "--load", (folder_ / "controller.yaml").string(), "--tokens",
           (folder_ / "users.yaml").string()});
    kubectl("apply -k deploy");
  }

  void startRealWithRights(const std::string& assets) {
    startReal(assets);
    kubectl("apply -k deploy");
    if (holds_) kubectl("apply -f deploy/components/holds-providers/rbac.yaml");
    write("reads.yaml", kReads);
    kubectl("apply -f $FOLDER/reads.yaml");
    aggregate();
    askForTokens();
  }

  void askForTokens() {
    for (const char* role : kRoles)
      tokens_[role] = kubectl(std::string("create token lastout-") + role + " --namespace lastout");
  }

  // What the controller manager does, which a bare API server lacks: lastout-reads gets the rules of those
  // with its label.
  void aggregate() const {
    using Json = nlohmann::json;
    Json rules = Json::array();
    const Json roles = Json::parse(kubectl("get clusterroles -l lastout.dev/aggregate-to-reads=true -o json"),
                                   nullptr, false);
    for (const Json& role : roles["items"])
      rules.insert(rules.end(), role["rules"].begin(), role["rules"].end());
    write("rules.json", Json{{"rules", rules}}.dump());
    kubectl("patch clusterrole lastout-reads --type merge --patch-file $FOLDER/rules.json");
  }

  // deploy/ once more, after it went: a service account of the same name is another, with another token.
  void applyAgain() {
    kubectl("apply -k deploy");
    if (GetParam() == Where::Embedded) return;
    aggregate();
    askForTokens();
    useTokens();
  }

  // Beside the cluster, as its service accounts: they have no more rights than deploy/ gives.
  void serveAsDeployed(std::vector<std::string> options = {},
                       const std::vector<std::string>& webhookOptions = {}) {
    options.insert(options.end(), {"--policies", "webhook", "--own-namespace", "lastout", "--tls-secret",
                                   "lastout/lastout-tls"});
    serveRoles(options, webhookOptions);
  }

  void createStory() const {
    kubectl("apply -f $FOLDER/crd.yaml");
    kubectl("wait --for=condition=Established crd/coolresources.my.crd.group --timeout=50s");
    kubectl("apply -f $FOLDER/story.yaml");
    waitUntilTheProviderIsGuarded();
  }

  void expectNoStory() const {
    EXPECT_THAT(kubectl("get namespaces,criticalservices,deployments -A -o name"),
                Not(HasSubstr("finalizer")));
    EXPECT_THAT(kubectl("get crds -o name"), Not(HasSubstr("coolresources")));
  }

  // Nothing of lastout is there, and nothing that it guarded is denied.
  void expectNothingLeft() const {
    kubectl("delete clusterrole --ignore-not-found lastout-reads-coolresources");
    EXPECT_THAT(kubectl("get namespaces,crds,clusterroles,clusterrolebindings,flowschemas,"
                        "prioritylevelconfigurations,validatingwebhookconfigurations -o name"),
                Not(HasSubstr("lastout")));
    kubectl("create namespace other");
    kubectl("create deployment web -n other --image=example.com/web:1 --replicas=0");
    kubectl("delete deployment web -n other --timeout=50s");
    kubectl("delete namespace other --timeout=50s");
  }

  // A client that tries again until there is no such object, and none of its type.
  void deleteUntilGone(const std::string& object) const {
    waitUntil(
        "said=$(kubectl delete --ignore-not-found --timeout=2s " + object +
        " 2>&1) || case $said in (*\"doesn't have a resource type\"*) ;; (*) echo \"$said\"; false;; esac");
  }

  // A client for each of them, at once, until all of it is gone.
  void deleteAll(const std::vector<std::string>& objects) const {
    std::vector<std::future<void>> clients;
    clients.reserve(objects.size());
    for (const std::string& object : objects)
      clients.push_back(std::async(std::launch::async, [this, object] { deleteUntilGone(object); }));
    for (std::future<void>& client : clients) client.get();
  }

  void deleteStory() const { deleteAll({kStoryObjects.begin(), kStoryObjects.end()}); }

  // Until lastout knows that the story is gone, and its configuration guards nothing more.
  void waitUntilItMayGo() const {
    waitUntil("kubectl delete namespace lastout --dry-run=server");
    waitUntil("kubectl delete deployment lastout-webhook -n lastout --dry-run=server");
  }

  // The way that docs/install.md has; nothing of lastout is left. What it has logged.
  std::string goByOneCommand() {
    waitUntilItMayGo();
    kubectl("delete -k deploy --timeout=50s --ignore-not-found");
    waitUntil("kubectl get validatingwebhookconfigurations lastout 2>&1 | grep -q NotFound");
    const std::string log = interrupt();
    expectNothingLeft();
    return log;
  }

  bool holds_ = false;  // with deploy/components/holds-providers, too

 private:
  std::map<std::string, std::string> tokens_;  // by the role
};

class DeployedWithHold : public Deployed {
 protected:
  DeployedWithHold() { holds_ = true; }
};

// Sanitizers look at lastout alone; kubectl takes most of the time.
#ifdef LASTOUT_SANITIZED
constexpr int kOrders = 4;
#else
constexpr int kOrders = 20;
#endif

// Some are asked for once, one after the other; then all are, by clients at once.
TEST_P(Deployed, TheStoryEndsEmptyInManyOrders) {
  serveAsDeployed();
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < kOrders; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    createStory();
    std::vector<std::string> objects(kStoryObjects.begin(), kStoryObjects.end());
    std::ranges::shuffle(objects, random);
    const size_t asked = random() % objects.size();
    for (size_t i = 0; i < asked; ++i) run("kubectl delete --wait=false " + objects[i]);
    deleteAll(objects);
    expectNoStory();
    if (HasFailure()) break;
  }
}

TEST_P(Deployed, RefusesTheProviderAndItsOwnNamespace) {
  serveAsDeployed();
  createStory();
  EXPECT_THAT(
      kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
      AllOf(
          StartsWith(
              "Error from server (Forbidden): admission webhook \"deployments.apps.lastout.dev\" denied the "
              "request: "
              "deployments.apps/finalizer-namespace/finalizer-deployment is the provider of "
              "criticalservices.lastout.dev/for-finalizer-deployment and must stay while "
              "coolresources.my.crd.group/some-instance has finalizer my.crd.group/super-important and "
              "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group exists; delete them "
              "first"),
          // The policies of deploy/ are there.
          HasSubstr("kubectl annotate deployments.apps/finalizer-deployment -n finalizer-namespace")));
  EXPECT_THAT(kubectl("delete namespace lastout", 1), HasSubstr("run lastout uninstall first"));
}

// With the rights that deploy/ gives, and as kubectl sees it.
TEST_P(DeployedWithHold, HoldsAProviderThatIsDeleted) {
  serveAsDeployed({"--hold-after", "0"});
  createStory();
  const std::string provider = "deployment finalizer-deployment -n finalizer-namespace";
  kubectl(
      "patch criticalservice for-finalizer-deployment --type merge -p "
      "'{\"spec\":{\"enforcement\":\"Hold\"}}'");
  waitUntil("kubectl get " + provider + " -o jsonpath={.metadata.finalizers} | grep -q lastout.dev/criteria");
  EXPECT_THAT(kubectl("delete --cascade=foreground " + provider, 1), HasSubstr("must stay while"));
  EXPECT_THAT(
      kubectl("delete --wait=false " + provider),
      AllOf(HasSubstr("Warning: deployments.apps/finalizer-namespace/finalizer-deployment may be deleted, "
                      "but waits to be finalized until it may go: "),
            HasSubstr("deployment.apps \"finalizer-deployment\" deleted")));
  auto waiting = std::async(std::launch::async, [this, provider] {
    return kubectl("wait --for=delete --timeout=55s " + provider);
  });
  kubectl("delete coolresource some-instance --timeout=50s");
  kubectl("delete crd coolresources.my.crd.group --timeout=50s");
  waiting.get();
  EXPECT_THAT(kubectl("get deployments -A -o name"), Not(HasSubstr("finalizer")));
  deleteStory();
}

TEST_P(Deployed, With429KubectlWaitsUntilTheInstanceIsGone) {
  serveAsDeployed({}, {"--deny-status", "429"});
  createStory();
  auto waiting = std::async(std::launch::async, [this] {
    return kubectl("delete deployment finalizer-deployment -n finalizer-namespace --timeout=55s");
  });
  kubectl("delete coolresource some-instance --timeout=50s");
  kubectl("delete crd coolresources.my.crd.group --timeout=50s");
  EXPECT_THAT(waiting.get(), HasSubstr("\"finalizer-deployment\" deleted"));
}

// Without the component keeps-admission-policies, by the webhook; and with no right to write one of those.
TEST_P(Deployed, ADeletionPolicyProtects) {
  serveAsDeployed();
  write("policy.yaml", R"(
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: marked}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/protect, values: ["true"]}]
)");
  kubectl("apply -f $FOLDER/policy.yaml");
  waitUntil("kubectl wait --for=condition=Enforced deletionpolicy/marked --timeout=50s");
  kubectl("create configmap settings");
  kubectl("label configmap settings example.com/protect=true");
  EXPECT_THAT(kubectl("delete configmap settings", 1),
              AllOf(HasSubstr("admission webhook"), HasSubstr("label example.com/protect is true")));
  EXPECT_THAT(kubectl("get validatingadmissionpolicies,validatingadmissionpolicybindings -o name"),
              Not(HasSubstr("lastout-policy-")));
  kubectl("label configmap settings example.com/protect-");
  kubectl("delete configmap settings");
  kubectl("delete deletionpolicy marked");
}

// Its authority is lost: all of it is made anew, and the API server is told.
TEST_P(Deployed, MakesANewCertificateWhenItsSecretIsDeleted) {
  serveAsDeployed();
  createStory();
  kubectl("delete secret lastout-tls -n lastout");
  waitUntil(
      "kubectl get secret lastout-tls -n lastout -o jsonpath='{.data.ca\\.crt}' > $FOLDER/secret && "
      "kubectl get validatingwebhookconfiguration lastout "
      "-o jsonpath='{.webhooks[0].clientConfig.caBundle}' > $FOLDER/bundle && "
      "cmp $FOLDER/secret $FOLDER/bundle");
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"));
}

TEST_P(Deployed, GoesByOneCommandAndLeavesNothing) {
  serveAsDeployed();
  createStory();
  deleteStory();
  EXPECT_THAT(goByOneCommand(), Not(HasSubstr("cannot be written")));
}

// In a cluster its rights and its Pods go by that command, too, and it may have had no time to take its
// webhook configuration away: that goes with the namespace.
TEST_P(Deployed, LeavesNothingBehindWhenItsRightsGoFirst) {
  if (GetParam() == Where::Real) GTEST_SKIP() << "an API server alone collects no garbage";
  serveAsDeployed();
  createStory();
  deleteStory();
  waitUntilItMayGo();
  run("kubectl delete -k deploy --timeout=50s --wait=false --ignore-not-found");
  kill();
  waitUntil("kubectl get validatingwebhookconfigurations lastout 2>&1 | grep -q NotFound");
  waitUntil("kubectl get namespaces lastout 2>&1 | grep -q NotFound");
  waitUntil("kubectl get crds criticalservices.lastout.dev 2>&1 | grep -q NotFound");
  expectNothingLeft();
}

// Somebody who does not know the order: half of it goes, lastout among it, and nothing is lost. Applied
// again, and with what was guarded gone, the same command ends it.
TEST_P(Deployed, StaysGuardedWhenItIsDeletedTooEarly) {
  serveAsDeployed();
  createStory();
  EXPECT_THAT(kubectl("delete -k deploy --wait=false", 1),
              AllOf(HasSubstr("denied the request"), HasSubstr("run lastout uninstall first")));
  EXPECT_THAT(
      kubectl("get crds,namespaces,deployments,serviceaccounts,services,clusterroles,"
              "clusterrolebindings -A -o name"),
      AllOf(HasSubstr("criticalservices.lastout.dev"), HasSubstr("namespace/lastout"),
            HasSubstr("deployment.apps/lastout-webhook"), HasSubstr("deployment.apps/lastout-controller"),
            HasSubstr("serviceaccount/lastout-webhook"), HasSubstr("serviceaccount/lastout-controller"),
            HasSubstr("service/lastout"),
            HasSubstr("clusterrolebinding.rbac.authorization.k8s.io/lastout-webhook"),
            HasSubstr("clusterrole.rbac.authorization.k8s.io/lastout-controller")));
  // No policy is asked about the binding itself, so that whoever was told and goes on is let.
  EXPECT_THAT(kubectl("delete -k deploy --wait=false --ignore-not-found", 1),
              HasSubstr("denied the request"));
  EXPECT_THAT(kubectl("get deployments,serviceaccounts,clusterrolebindings -A -o name"),
              Not(HasSubstr("/lastout")))
      << "whoever would answer is gone";
  kill();
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("failed calling webhook \"deployments.apps.lastout.dev\""));
  EXPECT_THAT(kubectl("delete crd criticalservices.lastout.dev", 1), HasSubstr("failed calling webhook"));

  applyAgain();
  serveAsDeployed();
  waitUntil(
      "kubectl delete deployment finalizer-deployment -n finalizer-namespace --dry-run=server 2>&1 | "
      "grep -q 'must stay while'");
  deleteStory();
  expectNoStory();
  goByOneCommand();
}

// Also where it is deleted as one of a collection, whose request has no name.
TEST_P(Deployed, StaysWhileADeletionPolicyNeedsIt) {
  serveAsDeployed();
  const std::string deletion = "delete deployment lastout-webhook -n lastout --dry-run=server";
  kubectl(deletion);
  write("policy.yaml", R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: kept}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/kept}]
  namespaces: Ignore
)");
  kubectl("apply -f $FOLDER/policy.yaml");
  waitUntil("kubectl wait --for=condition=Enforced deletionpolicy/kept --timeout=50s");
  EXPECT_THAT(kubectl(deletion, 1), HasSubstr("run lastout uninstall first"));
  EXPECT_THAT(kubectl("delete --raw '/apis/apps/v1/namespaces/lastout/deployments?dryRun=All'", 1),
              HasSubstr("run lastout uninstall first"));
  kubectl("delete deletionpolicy kept");
  waitUntil("kubectl " + deletion);
}

TEST_P(Deployed, HasAWayOutWhenItIsDead) {
  serveAsDeployed();
  createStory();
  kill();
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("failed calling webhook \"deployments.apps.lastout.dev\""));
  EXPECT_THAT(kubectl("delete namespace finalizer-namespace", 1),
              HasSubstr("failed calling webhook \"namespaces.lastout.dev\""));
  EXPECT_THAT(kubectl("delete -k deploy --wait=false", 1), HasSubstr("failed calling webhook"));
  kubectl("delete validatingwebhookconfiguration lastout");
  kubectl("delete -k deploy --ignore-not-found --timeout=50s");
  kubectl("delete coolresource some-instance --timeout=50s");
  for (const std::string object : {"deployment finalizer-deployment -n finalizer-namespace",
                                   "namespace finalizer-namespace", "crd coolresources.my.crd.group"})
    kubectl("delete --timeout=50s " + object);
  expectNothingLeft();
}

std::string nameOfWhere(const ::testing::TestParamInfo<Where>& where) {
  return where.param == Where::Embedded ? "AnEmbeddedCluster" : "ARealCluster";
}
INSTANTIATE_TEST_SUITE_P(In, Deployed, ::testing::Values(Where::Embedded, Where::Real), nameOfWhere);
INSTANTIATE_TEST_SUITE_P(In, DeployedWithHold, ::testing::Values(Where::Embedded, Where::Real), nameOfWhere);

}  // namespace
}  // namespace lastout::clients
