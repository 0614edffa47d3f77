// Several deletion policies and a CriticalService about one object: whatever any of them denies is denied,
// and each is named. As docs/protection.md has it under "Several rules about one object".
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/clients/everything_protected.h"
#include "tests/clients/serving.h"
#include "tests/clients/story.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProviderOfStory = "deployment finalizer-deployment -n finalizer-namespace";
// Secrets with a label that names the Deployment keep it.
constexpr const char* kConfigured = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: configured}
spec:
  objects: [{resources: [{group: apps, resource: deployments}]}]
  when:
  - children: [{resource: secrets, label: example.com/configures}]
)";
constexpr const char* kKeptMaps = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: kept}
spec:
  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/kept}]
)";

class SeveralRules : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    start({"--speed", "50"});
    write("configured.yaml", kConfigured);
    write("kept.yaml", kKeptMaps);
    write("crd.yaml", kCrd);
    write("story.yaml", std::string(testing::kCriticalServiceExample) + kProvider + "---\n" + kInstance);
  }

  void begin(const std::string& mode) {
    kubectl("apply -f $FOLDER/crd.yaml");
    kubectl("wait --for=condition=Established crd/coolresources.my.crd.group --timeout=50s");
    for (const char* profile : {"karmada", "kruise"})
      EXPECT_EQ(run(std::string("lastout policy apply ") + profile + " --kubeconfig $CONFIG").exitCode, 0);
    kubectl("apply -f $FOLDER/configured.yaml -f $FOLDER/kept.yaml -f $FOLDER/story.yaml");
    kubectl("create secret generic settings -n finalizer-namespace");
    kubectl("label secret settings -n finalizer-namespace example.com/configures=finalizer-deployment");
    kubectl(std::string("label ") + kProviderOfStory +
            " resourcetemplate.karmada.io/deletion-protected=Always "
            "policy.kruise.io/delete-protection=Cascading");
    serve({"--policies", mode});
    waitUntilTheProviderIsGuarded();
    kubectl("wait --for=condition=Enforced deletionpolicies --all --timeout=50s");
  }
  std::string denial() const {
    return kubectl(std::string("delete ") + kProviderOfStory + " --dry-run=server", 1);
  }
  // What the cluster tells, and a lastout that runs tells the same of policies.
  std::string why() {
    const std::string command = "lastout why deployment/finalizer-deployment -n finalizer-namespace ";
    const std::string told = run(command + "--kubeconfig $CONFIG").out;
    EXPECT_EQ(verdictIn(run(command + "--server " + answersUrl()).out), verdictIn(told));
    return told;
  }
  // Without root blockers: who watches more sees further.
  static std::string verdictIn(const std::string& told) { return told.substr(0, told.find("\nRoot")); }
};

const auto kOfTheService = HasSubstr("must stay while");
const auto kOfKarmada = HasSubstr("label resourcetemplate.karmada.io/deletion-protected is Always");
const auto kOfKruise = HasSubstr("label policy.kruise.io/delete-protection is Cascading");
const auto kOfChildren = HasSubstr("Secret/settings");

TEST_F(SeveralRules, InTheWebhookOneDenialHasAllReasons) {
  begin("webhook");
  EXPECT_THAT(denial(), AllOf(kOfTheService, kOfKarmada, kOfKruise, kOfChildren));
  EXPECT_THAT(why(), AllOf(kOfTheService, kOfKarmada, kOfKruise, kOfChildren,
                           HasSubstr("deletionpolicies.lastout.dev/karmada"),
                           HasSubstr("deletionpolicies.lastout.dev/kruise-cascading-workloads"),
                           HasSubstr("deletionpolicies.lastout.dev/configured"),
                           HasSubstr("criticalservices.lastout.dev/for-finalizer-deployment")));

  kubectl("delete secret settings -n finalizer-namespace");
  kubectl(std::string("label ") + kProviderOfStory + " resourcetemplate.karmada.io/deletion-protected-");
  EXPECT_THAT(denial(), AllOf(kOfTheService, Not(kOfKarmada), kOfKruise, Not(kOfChildren)));
  kubectl(std::string("label ") + kProviderOfStory + " policy.kruise.io/delete-protection-");
  EXPECT_THAT(denial(), AllOf(kOfTheService, Not(kOfKruise)));
  EXPECT_THAT(why(), AllOf(kOfTheService, Not(HasSubstr("deletionpolicies"))));
}

// The API server asks its own policies first, and no webhook once one of them denies.
TEST_F(SeveralRules, InTheApiServerItsOwnPoliciesDenyBeforeTheWebhook) {
  begin("apiserver");
  EXPECT_THAT(denial(), AllOf(HasSubstr("ValidatingAdmissionPolicy"), Not(kOfTheService), Not(kOfChildren)));
  EXPECT_THAT(why(), AllOf(kOfTheService, kOfKarmada, kOfKruise, kOfChildren));
  kubectl(std::string("label ") + kProviderOfStory +
          " resourcetemplate.karmada.io/deletion-protected- policy.kruise.io/delete-protection-");
  EXPECT_THAT(denial(), AllOf(kOfTheService, kOfChildren, Not(HasSubstr("ValidatingAdmissionPolicy"))));
}

// --- all profiles

constexpr const char* kAllProfiles[] = {"appcat", "dbops",    "karmada", "karmada-objects",
                                        "kruise", "orkestra", "usage"};
constexpr const char* kAllLabels =
    " resourcetemplate.karmada.io/deletion-protected=Always orkestra.io/deletion-protection=true "
    "appcat.vshn.io/ownercomposite=pg appcat.vshn.io/ownerkind=XVSHNPostgreSQL "
    "appcat.vshn.io/ownergroup=vshn.appcat.vshn.io appcat.vshn.io/ownerapiversion=v1";
constexpr const char* kKruiseLabel = " policy.kruise.io/delete-protection=Always";
constexpr const char* kListedAndInUse = R"(apiVersion: v1
kind: Namespace
metadata: {name: everything}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: app, namespace: default}
spec: {instanceRef: {name: elsewhere}, name: app, deletionProtection: true}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: labelled, namespace: default, labels: {resourcetemplate.karmada.io/deletion-protected: Always}}
spec: {instanceRef: {name: elsewhere}, name: labelled, deletionProtection: true}
---
apiVersion: vshn.appcat.vshn.io/v1
kind: XVSHNPostgreSQL
metadata: {name: pg}
spec: {parameters: {backup: {deletionProtection: true}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ResourceDeletionProtection
metadata: {name: all}
spec:
  protectedResources:
  - resourceSelector:
    - {apiVersion: apps/v1, kind: Deployment, namespace: finalizer-namespace, name: finalizer-deployment}
    - {apiVersion: v1, kind: Namespace, name: everything}
    - {apiVersion: v1, kind: PersistentVolumeClaim, namespace: default, name: data}
    - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: widgets.example.com}
    - {apiVersion: dbops.dbprovision.io/v1alpha1, kind: Database, namespace: default, name: app}
)";

// A Usage in its namespace; without one a ClusterUsage.
std::string usageOf(const std::string& name, const std::string& apiVersion, const std::string& kind,
                    const std::string& object, const std::string& space = "") {
  return "---\napiVersion: protection.crossplane.io/v1beta1\nkind: " +
         std::string(space.empty() ? "ClusterUsage" : "Usage") + "\nmetadata: {name: " + name +
         (space.empty() ? "" : ", namespace: " + space) + "}\nspec: {of: {apiVersion: " + apiVersion +
         ", kind: " + kind + ", resourceRef: {name: " + object + "}}, reason: others need it}\n";
}

// An object that each policy which can match it protects, and these policies: those that deny, and one that
// holds.
struct ProtectedByAll {
  const char* object;
  const char* why;  // as `lastout why` names it
  std::vector<std::string> policies;
  std::string holding = {};
};

class AllProfilesOfOneObject : public SeveralRules {
 protected:
  static const std::vector<ProtectedByAll>& objects() {
    static const std::vector<ProtectedByAll> kObjects{
        {"deployment finalizer-deployment -n finalizer-namespace",
         "deployment/finalizer-deployment -n finalizer-namespace",
         {"appcat", "cluster-usage", "karmada", "karmada-objects", "kruise-always",
          "orkestra-delete-protection", "usage"}},
        {"namespace everything",
         "namespace/everything",
         {"appcat", "cluster-usage", "karmada", "karmada-objects", "kruise-always",
          "orkestra-delete-protection"}},
        {"crd widgets.example.com",
         "crd/widgets.example.com",
         {"appcat", "cluster-usage", "karmada", "karmada-objects", "kruise-always",
          "orkestra-delete-protection"}},
        {"pvc data -n default",
         "persistentvolumeclaim/data -n default",
         {"appcat", "appcat-claims", "cluster-usage", "karmada", "karmada-objects",
          "orkestra-delete-protection", "usage"}},
        {"database app -n default",
         "database/app -n default",
         {"appcat", "cluster-usage", "karmada", "karmada-objects", "orkestra-delete-protection", "usage"},
         "dbops-databases"}};
    return kObjects;
  }
  // A piece of what each policy says.
  static std::string sentenceOf(const std::string& policy) {
    static const std::map<std::string, std::string> kSentences{
        {"appcat", "is part of a service"},
        {"appcat-claims", "is part of a service"},
        {"cluster-usage", "including the *v1beta1.ClusterUsage \""},
        {"karmada", "label resourcetemplate.karmada.io/deletion-protected is Always. Remove that label"},
        {"karmada-objects", "Take it off that list"},
        {"kruise-always", "label policy.kruise.io/delete-protection is Always"},
        {"orkestra-delete-protection", "deletion is blocked by Orkestra deletion protection"},
        {"usage", "including the *v1beta1.Usage \""}};
    return kSentences.at(policy);
  }

  void createAll() {
    write("crds.yaml", kCrd + profileCrds());
    kubectl("apply -f $FOLDER/crds.yaml -f scenarios/crds/dbops.yaml");
    kubectl("wait --for=condition=Established crd --all --timeout=50s");
    for (const char* profile : kAllProfiles)
      EXPECT_EQ(run(std::string("lastout policy apply ") + profile + " --kubeconfig $CONFIG").exitCode, 0);
    const std::string group = "dbops.dbprovision.io/v1alpha1";
    write("all.yaml",
          kListedAndInUse + usageOf("deployment", "apps/v1", "Deployment", "finalizer-deployment") +
              usageOf("deployment", "apps/v1", "Deployment", "finalizer-deployment", "finalizer-namespace") +
              usageOf("namespace", "v1", "Namespace", "everything") +
              usageOf("crd", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com") +
              usageOf("claim", "v1", "PersistentVolumeClaim", "data") +
              usageOf("claim", "v1", "PersistentVolumeClaim", "data", "default") +
              usageOf("database", group, "Database", "app") +
              usageOf("database", group, "Database", "app", "default"));
    kubectl("apply -f $FOLDER/story.yaml");
    waitUntil("kubectl apply -f $FOLDER/all.yaml");
    for (const ProtectedByAll& one : objects()) {
      const bool isOfKruise = std::ranges::count(one.policies, "kruise-always") > 0;
      kubectl("label " + std::string(one.object) + kAllLabels + (isOfKruise ? kKruiseLabel : ""));
    }
  }
  void serveIn(const std::string& mode) {
    serve({"--policies", mode, "--hold-policies"});
    waitUntilTheProviderIsGuarded();
  }
  std::string whyOf(const ProtectedByAll& one) const {
    return run(std::string("lastout why ") + one.why + " --kubeconfig $CONFIG").out;
  }
  static std::vector<std::string> policiesIn(const std::string& told) {
    const std::string marker = "says deletionpolicies.lastout.dev/";
    std::vector<std::string> policies;
    for (size_t at = 0; (at = told.find(marker, at)) != std::string::npos;) {
      at += marker.size();
      policies.push_back(told.substr(at, told.find('\n', at) - at));
    }
    return policies;
  }
  // Of each object every policy that can match it is named, and no other; and of the provider the
  // CriticalService.
  void expectAllAreNamed() const {
    for (const ProtectedByAll& one : objects()) {
      const std::string told = whyOf(one);
      std::vector<std::string> all = one.policies;
      if (!one.holding.empty()) all.push_back(one.holding);
      EXPECT_THAT(policiesIn(told), ::testing::UnorderedElementsAreArray(all)) << one.object;
      const bool isProvider = std::string(one.object).starts_with("deployment");
      EXPECT_EQ(told.find("must stay while") != std::string::npos, isProvider) << one.object;
    }
  }
};

TEST_F(AllProfilesOfOneObject, TheVerdictIsTheUnionAndWhyNamesEachPolicy) {
  createAll();
  serveIn("webhook");
  for (const ProtectedByAll& one : objects()) {
    const std::string remove = "delete " + std::string(one.object) + " --dry-run=server";
    for (const std::string& policy : one.policies)
      waitUntil("kubectl " + remove + " 2>&1 | grep -qF '" + sentenceOf(policy) + "'");
  }
  EXPECT_THAT(kubectl(std::string("delete ") + objects().front().object + " --dry-run=server", 1),
              kOfTheService);
  expectAllAreNamed();

  interrupt();
  serveIn("apiserver");
  for (const ProtectedByAll& one : objects()) {
    const std::string remove = "delete " + std::string(one.object) + " --dry-run=server";
    waitUntil("kubectl " + remove + " 2>&1 | grep -q ValidatingAdmissionPolicy");
  }
  expectAllAreNamed();

  // It is held, too; but what is denied is not accepted.
  const std::string held = "database labelled -n default";
  waitUntil("kubectl get " + held +
            " -o jsonpath={.metadata.finalizers} | grep dbops.dbprovision.io/database");
  EXPECT_THAT(kubectl("delete " + held, 1), kOfKarmada);
  EXPECT_EQ(kubectl("get " + held + " -o jsonpath={.metadata.deletionTimestamp}"), "");
  kubectl("label " + held + " resourcetemplate.karmada.io/deletion-protected-");
  kubectl("delete " + held + " --wait=false");
  waitUntil("kubectl get " + held + " -o jsonpath={.status.phase} | grep Failed");
}

// Once Enforced is True for the generation, the next request goes by the policy as it is.
TEST_F(SeveralRules, AnEditedPolicyCountsForTheNextRequest) {
  begin("apiserver");
  kubectl("create configmap one");
  for (int round = 1; round <= 5; ++round) {
    const std::string label = "example.com/kept-" + std::to_string(round);
    kubectl("label configmap one " + label + "=yes example.com/kept-" + std::to_string(round - 1) + "-");
    kubectl("delete configmap one --dry-run=server");
    kubectl("patch deletionpolicy kept --type=merge -p '{\"spec\":{\"when\":[{\"label\":\"" + label +
            "\"}]}}'");
    const std::string generation = kubectl("get deletionpolicy kept -o jsonpath={.metadata.generation}");
    waitUntil(
        "test \"$(kubectl get deletionpolicy kept -o "
        "'jsonpath={.status.conditions[?(@.type==\"Enforced\")].status} "
        "{.status.conditions[?(@.type==\"Enforced\")].observedGeneration}')\" = \"True " +
        generation + "\"");
    EXPECT_THAT(kubectl("delete configmap one --dry-run=server", 1), HasSubstr(label)) << round;
  }
  kubectl("delete deletionpolicy kept");
  waitUntil("kubectl delete configmap one --dry-run=server");
}

}  // namespace
}  // namespace lastout::clients
