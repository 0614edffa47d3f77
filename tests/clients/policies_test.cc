// Deletion policies of other systems against `lastout up --guard inside`, by the commands of their documents.
#include <gmock/gmock.h>

#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Policies : public Cluster {
 public:
  void start(std::vector<std::string> options) {
    options.insert(options.end(), {"--speed", "20", "--guard", "inside"});
    Cluster::start(options);
  }
  // Until API servers go by the policy as it is then.
  void waitUntilEnforced(const std::string& policy) const {
    const std::string generation = kubectl("get delpol " + policy + " -o jsonpath={.metadata.generation}");
    waitUntil("test \"$(kubectl get delpol " + policy +
              " -o jsonpath='{.status.conditions[?(@.type==\"Enforced\")].status} "
              "{.status.conditions[?(@.type==\"Enforced\")].observedGeneration}')\" = 'True " +
              generation + "'");
  }
};

class KarmadaPolicy : public Policies {
 public:
  static constexpr const char* kLabel = " resourcetemplate.karmada.io/deletion-protected";

  void SetUp() override {
    Cluster::SetUp();
    start({"--profile", "karmada"});
  }
  void protect(const std::string& object) const { kubectl("label " + object + kLabel + "=Always"); }
};

// The rows of the test plan.
TEST_F(KarmadaPolicy, WhatIsNotProtectedMayBeDeleted) {
  kubectl("create configmap free");
  EXPECT_EQ(kubectl("delete configmap free"), "configmap \"free\" deleted");
}

TEST_F(KarmadaPolicy, WhatIsProtectedIsNotDeleted) {
  kubectl("create namespace minio");
  kubectl("create service clusterip mysql --tcp=3306 -n minio");
  for (const std::string object : {"namespace minio", "service mysql -n minio"}) {
    protect(object);
    EXPECT_THAT(kubectl("delete " + object, 1),
                AllOf(HasSubstr("(Forbidden)"), HasSubstr("is protected, and must not be deleted"),
                      HasSubstr("label resourcetemplate.karmada.io/deletion-protected is Always")));
    kubectl("get " + object);
  }
}

TEST_F(KarmadaPolicy, WhatWasProtectedMayBeDeletedAfterwards) {
  kubectl("create configmap settings");
  protect("configmap settings");
  kubectl("delete configmap settings", 1);
  kubectl(std::string("label configmap settings") + kLabel + "-");
  EXPECT_EQ(kubectl("delete configmap settings"), "configmap \"settings\" deleted");
}

TEST_F(KarmadaPolicy, TheLabelMayBeRemovedInAnEditor) {
  kubectl("create configmap settings");
  protect("configmap settings");
  kubectl("delete configmap settings", 1);
  const testing::Ran ran =
      run("KUBE_EDITOR='sed -i /deletion-protected/d' timeout 60 kubectl edit configmap settings");
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
  EXPECT_EQ(kubectl("delete configmap settings"), "configmap \"settings\" deleted");
}

TEST_F(KarmadaPolicy, NoOtherValueProtects) {
  kubectl("create configmap settings");
  kubectl(std::string("label configmap settings") + kLabel + "=always");
  kubectl("delete configmap settings");
}

TEST_F(KarmadaPolicy, ForceIsNoWayRound) {
  kubectl("run web --image=example.com/web:1");
  protect("pod web");
  EXPECT_THAT(kubectl("delete pod web --force --grace-period=0", 1), HasSubstr("is protected"));
  EXPECT_THAT(kubectl("delete pod web --now", 1), HasSubstr("is protected"));
  EXPECT_THAT(kubectl("delete pod web --dry-run=server", 1), HasSubstr("is protected"));
  kubectl("get pod web");
}

TEST_F(KarmadaPolicy, OfACollectionTheProtectedOnesStay) {
  for (const char* name : {"one", "two", "three"}) kubectl("create secret generic " + std::string(name));
  protect("secret two");
  EXPECT_THAT(run("kubectl delete --raw /api/v1/namespaces/default/secrets").out, HasSubstr("is protected"));
  EXPECT_THAT(kubectl("delete secrets --all", 1), HasSubstr("is protected"));
  EXPECT_EQ(kubectl("get secrets -o name"), "secret/two");
}

TEST_F(KarmadaPolicy, ACustomResourceDefinitionIsProtectedLikeAnythingElse) {
  write("crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata: {name: apps.example.com}\n"
        "spec:\n"
        "  group: example.com\n"
        "  scope: Namespaced\n"
        "  names: {plural: apps, singular: app, kind: App}\n"
        "  versions:\n"
        "  - name: v1\n"
        "    served: true\n"
        "    storage: true\n"
        "    schema: {openAPIV3Schema: {type: object}}\n");
  kubectl("create -f $FOLDER/crd.yaml");
  protect("crd apps.example.com");
  EXPECT_THAT(kubectl("delete crd apps.example.com", 1), HasSubstr("is protected"));
}

TEST_F(KarmadaPolicy, APolicyThatIsGoneProtectsNothing) {
  kubectl("create configmap settings");
  protect("configmap settings");
  kubectl("delete configmap settings", 1);
  EXPECT_THAT(run("lastout policy remove karmada --kubeconfig $CONFIG").out, HasSubstr("/karmada deleted"));
  waitUntil("kubectl delete configmap settings");
}

TEST_F(KarmadaPolicy, AnEditedPolicyCountsAsItIsNow) {
  kubectl("create configmap settings");
  kubectl(std::string("label configmap settings") + kLabel + "=Never");
  kubectl(
      "patch delpol karmada --type=json -p '[{\"op\": \"replace\", \"path\": \"/spec/when/0/values/0\", "
      "\"value\": \"Never\"}]'");
  waitUntilEnforced("karmada");
  kubectl("delete configmap settings", 1);
  EXPECT_THAT(
      kubectl("get delpol"),
      ::testing::MatchesRegex("NAME +BLOCKS +ENFORCED +TYPESKNOWN +AGE\nkarmada +Delete +True +True .*"));
}

TEST_F(KarmadaPolicy, AMisspeltTypeIsToldToWhoWritesIt) {
  write("misspelt.yaml",
        "apiVersion: lastout.dev/v1alpha1\n"
        "kind: DeletionPolicy\n"
        "metadata: {name: misspelt}\n"
        "spec:\n"
        "  objects: [{resources: [{resource: configmap}, {group: example.com, resource: widget}]}]\n"
        "  when: [{label: example.com/protect}]\n"
        "  blocks: [Delete, Unprotect]\n");
  EXPECT_THAT(kubectl("create -f $FOLDER/misspelt.yaml"),
              AllOf(HasSubstr("Warning: spec.objects: the cluster serves no configmap; did you mean "
                              "\"configmaps\"?"),
                    HasSubstr("Warning: spec.objects: the cluster serves no widget.example.com"),
                    HasSubstr("deletionpolicy.lastout.dev/misspelt created")));
  waitUntil("kubectl get delpol misspelt | grep -q 'Delete, Unprotect  *'");
  EXPECT_THAT(kubectl("label delpol misspelt team=a"), Not(HasSubstr("Warning")));
  write("everything.yaml",
        "apiVersion: lastout.dev/v1alpha1\n"
        "kind: DeletionPolicy\n"
        "metadata: {name: everything}\n"
        "spec:\n"
        "  objects: [{resources: [{group: '*', resource: '*/*'}]}]\n"
        "  when: [{label: example.com/protect}]\n");
  EXPECT_THAT(kubectl("create -f $FOLDER/everything.yaml"),
              HasSubstr("Warning: spec.objects[0].resources[0].resource names a subresource"));
}

// As on any cluster the API server takes whatever the CRD allows, and lastout says what it does not accept.
TEST_F(KarmadaPolicy, APolicyThatCannotBeIsNotAccepted) {
  write("wrong.yaml",
        "apiVersion: lastout.dev/v1alpha1\n"
        "kind: DeletionPolicy\n"
        "metadata: {name: all}\n"
        "spec: {objects: [{resources: [{group: '*', resource: '*'}]}]}\n");
  kubectl("create -f $FOLDER/wrong.yaml");
  kubectl("wait --for=condition=Accepted=false delpol/all --timeout=50s");
  EXPECT_THAT(kubectl("get delpol all -o jsonpath='{.status.conditions[?(@.type==\"Accepted\")].message}'"),
              HasSubstr("spec.objects match everything, and nothing that has to be there says when they are "
                        "protected"));
  EXPECT_THAT(kubectl("get validatingadmissionpolicies -o name"), Not(HasSubstr("lastout-policy-all")));
  kubectl("create configmap settings");
  kubectl("delete configmap settings");
}

// The alternative to the label, with the document's object.
class KarmadaObjects : public Policies {
 public:
  void SetUp() override {
    Cluster::SetUp();
    start({"--profile", "karmada-objects"});
    waitUntil("kubectl apply -f scenarios/crds/karmada.yaml");
    kubectl("create namespace sample");
    for (const char* name : {"deployment-1", "deployment-2", "deployment-3"})
      kubectl("create deployment " + std::string(name) + " --image=example.com/sample:1 -n sample");
    kubectl("create service clusterip service-1 --tcp=80 -n sample");
    write("sample.yaml",
          "apiVersion: policy.karmada.io/v1alpha1\n"
          "kind: ResourceDeletionProtection\n"
          "metadata: {name: sample}\n"
          "spec:\n"
          "  protectedResources:\n"
          "  - resourceSelector:\n"
          "    - apiVersion: apps/v1\n"
          "      kind: Deployment\n"
          "      namespace: sample\n"
          "    resourceNames: [deployment-1, deployment-2]\n"
          "  - resourceSelector:\n"
          "    - apiVersion: v1\n"
          "      kind: Service\n"
          "      name: service-1\n"
          "      namespace: sample\n"
          "    resourceNames: [service-1]\n");
    waitUntil("kubectl apply -f $FOLDER/sample.yaml");
    // The first object that lists others: until API servers ask about these.
    for (const char* object :
         {"deployment deployment-1 -n sample", "service service-1 -n sample", "namespace sample"})
      waitUntil("! kubectl delete --dry-run=server " + std::string(object));
  }
};

TEST_F(KarmadaObjects, WhatIsListedIsNotDeletedWhileTheListIsThere) {
  const std::string listed = "deployment/deployment-1 deployment/deployment-2 service/service-1 -n sample";
  for (const std::string object : {"deployment deployment-1", "deployment deployment-2", "service service-1"})
    EXPECT_THAT(kubectl("delete " + object + " -n sample", 1),
                AllOf(HasSubstr("(Forbidden)"),
                      HasSubstr("is protected, and must not be deleted: resourcedeletionprotections/sample "
                                "lists it. Take it off that list, then delete it.")));
  kubectl("delete deployment deployment-3 -n sample");
  EXPECT_THAT(kubectl("delete namespace sample", 1), HasSubstr("namespaces/sample holds "));
  kubectl("delete resourcedeletionprotection sample");
  waitUntil("kubectl delete --dry-run=server " + listed);
  kubectl("delete " + listed);
}

class OrkestraPolicy : public Policies {
 public:
  static constexpr const char* kProtection = " orkestra.io/deletion-protection";

  void SetUp() override {
    Cluster::SetUp();
    start({"--profile", "orkestra"});
    write("app.yaml",
          "apiVersion: apiextensions.k8s.io/v1\n"
          "kind: CustomResourceDefinition\n"
          "metadata: {name: apps.security.orkestra.io}\n"
          "spec:\n"
          "  group: security.orkestra.io\n"
          "  scope: Namespaced\n"
          "  names: {plural: apps, singular: app, kind: App}\n"
          "  versions:\n"
          "  - name: v1\n"
          "    served: true\n"
          "    storage: true\n"
          "    schema: {openAPIV3Schema: {type: object}}\n"
          "---\n"
          "apiVersion: security.orkestra.io/v1\n"
          "kind: App\n"
          "metadata: {name: my-app, namespace: default}\n");
    waitUntil("kubectl apply -f $FOLDER/app.yaml");
    kubectl(std::string("label app my-app") + kProtection + "=true");
  }
};

TEST_F(OrkestraPolicy, ALabelledObjectIsNotDeleted) {
  EXPECT_THAT(kubectl("delete app my-app", 1),
              HasSubstr("[App \"my-app\"] deletion is blocked by Orkestra deletion protection."));
  kubectl("get app my-app");
}

TEST_F(OrkestraPolicy, StrictModeKeepsTheLabel) {
  const std::string denied =
      "[Orkestra Security] The App \"my-app\" in namespace \"default\" carries the deletion-protection "
      "label. "
      "Removing this label is blocked because strictMode is enabled. To unprotect this resource: - Opt out "
      "in "
      "the katalog using: '<crd>.deletionProtection.strictMode: false'";
  EXPECT_THAT(kubectl(std::string("label app my-app") + kProtection + "-", 1), HasSubstr(denied));
  EXPECT_THAT(kubectl(std::string("label app my-app") + kProtection + "=false --overwrite", 1),
              HasSubstr(denied));
  kubectl("label app my-app team=a");
  kubectl("delete app my-app", 1);
}

// By the ValidatingAdmissionPolicy, which matches subresources, too: some take labels.
TEST_F(OrkestraPolicy, StrictModeKeepsTheLabelAgainstWritesOfAStatus) {
  kubectl("create namespace shop");
  kubectl("run web --image=example.com/web:1");
  for (const std::string object : {"namespace shop", "pod web"}) {
    kubectl("label " + object + kProtection + "=true");
    EXPECT_THAT(kubectl("patch " + object +
                            " --subresource=status --type=merge -p "
                            R"('{"metadata": {"labels": {"orkestra.io/deletion-protection": null}}}')",
                        1),
                AllOf(HasSubstr("ValidatingAdmissionPolicy 'lastout-policy-orkestra-strict-mode'"),
                      HasSubstr("Removing this label is blocked because strictMode is enabled.")))
        << object;
    EXPECT_EQ(
        kubectl("get " + object + " -o jsonpath='{.metadata.labels.orkestra\\.io/deletion-protection}'"),
        "true");
    kubectl("patch " + object + R"( --subresource=status --type=merge -p '{"status": {}}')");
  }
}

// Whoever works with the objects alone cannot take a policy back.
TEST_F(Policies, WhoeverMayNotEditPoliciesUnprotectsNothing) {
  write("users.yaml", R"(users:
- username: developer
  token: token-of-developer
  rights:
  - {verbs: ["*"], groups: [""], resources: [configmaps]}
  - {verbs: [get, list], groups: [lastout.dev], resources: [deletionpolicies]}
)");
  start({"--profile", "orkestra", "--tokens", (folder_ / "users.yaml").string()});
  kubectl("config set-credentials developer --token=token-of-developer");
  kubectl("create configmap settings --user=developer");
  kubectl("label configmap settings orkestra.io/deletion-protection=true --user=developer");
  kubectl("delete configmap settings --user=developer", 1);
  EXPECT_THAT(kubectl("label configmap settings orkestra.io/deletion-protection- --user=developer", 1),
              HasSubstr("strictMode is enabled"));
  for (const char* command :
       {"delete deletionpolicy orkestra-strict-mode",
        "patch deletionpolicy orkestra-strict-mode --type=merge -p '{\"spec\":{\"blocks\":[\"Delete\"]}}'"})
    EXPECT_THAT(kubectl(std::string(command) + " --user=developer", 1), HasSubstr("(Forbidden)")) << command;
  kubectl("delete deletionpolicy orkestra-strict-mode");
  waitUntil("kubectl label configmap settings orkestra.io/deletion-protection- --user=developer");
  kubectl("delete configmap settings --user=developer");
}

TEST_F(OrkestraPolicy, TheExemptionLabelLetsTheLabelGo) {
  kubectl("label app my-app orkestra.io/strict-mode-exempt=true");
  kubectl("delete app my-app", 1);
  kubectl(std::string("label app my-app") + kProtection + "-");
  kubectl("delete app my-app");
}

TEST_F(OrkestraPolicy, OneUpdateMayExemptAndTakeTheLabelAway) {
  kubectl(std::string("label app my-app") + kProtection + "- orkestra.io/strict-mode-exempt=true");
  kubectl("delete app my-app");
}

// Nobody but a person sets the labels, and strict mode is off.
TEST_F(OrkestraPolicy, GatewayOnlyWithoutStrictModeByHand) {
  kubectl("delete delpol orkestra-strict-mode");
  kubectl("delete app my-app", 1);
  waitUntil(std::string("kubectl label app my-app") + kProtection + "-");
  EXPECT_THAT(kubectl("delete app my-app"), HasSubstr("\"my-app\" deleted"));
}

// The emergency path: protection that is taken back protects nothing.
TEST_F(OrkestraPolicy, DisabledAltogetherItBlocksNothing) {
  EXPECT_EQ(run("lastout policy remove orkestra --kubeconfig $CONFIG").exitCode, 0);
  waitUntil("kubectl delete app my-app");
}

TEST_F(OrkestraPolicy, ItsOwnInfrastructureIsProtectedByTheSameLabel) {
  kubectl("create serviceaccount gateway");
  kubectl("create clusterrolebinding gateway --clusterrole=view --serviceaccount=default:gateway");
  for (const std::string object : {"serviceaccount gateway", "clusterrolebinding gateway"}) {
    kubectl("label " + object + kProtection + "=true");
    EXPECT_THAT(kubectl("delete " + object, 1),
                HasSubstr("deletion is blocked by Orkestra deletion protection"));
  }
}

}  // namespace
}  // namespace lastout::clients
