// What becomes of Namespaces and CRDs under deletion policies, with RBAC and with the rights that deploy/
// gives to lastout's accounts: with the profiles, and with a policy about everything.
#include <gmock/gmock.h>

#include "tests/clients/everything_protected.h"
#include "tests/clients/serving.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Who evaluates policies, as far as an API server can: that, or lastout's webhook.
enum class Form : uint8_t { Webhook, ApiServer };

constexpr const char* kTwoAccounts = R"(users:
- {username: "system:serviceaccount:lastout:lastout-webhook", token: token-of-the-webhook}
- {username: "system:serviceaccount:lastout:lastout-controller", token: token-of-the-controller}
)";

// What docs/install.md tells to add for objects that others tell of: listers, and ancestors.
constexpr const char* kReadsOfProfiles = R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-of-profiles, labels: {lastout.dev/aggregate-to-reads: "true"}}
rules:
- {apiGroups: [policy.karmada.io], resources: [resourcedeletionprotections], verbs: [get, list, watch]}
- {apiGroups: [protection.crossplane.io], resources: [usages, clusterusages], verbs: [get, list, watch]}
- {apiGroups: [vshn.appcat.vshn.io], resources: [xvshnpostgresqls], verbs: [get, list, watch]}
- {apiGroups: [dbops.dbprovision.io], resources: ["*"], verbs: [get, list, watch]}
)";

struct ProtectedBy {
  const char* profile;
  const char* object;       // in a Namespace
  const char* more;         // of its metadata
  const char* beside = "";  // what else has to be there
  bool keepsItsNamespace = false;
  const char* apiVersion = "v1";
  const char* kind = "ConfigMap";
  const char* spec = "";
};

// NAMESPACE is the one that the object is in.
const std::vector<ProtectedBy> kProtected = {
    {"karmada", "configmap/kept", ", labels: {resourcetemplate.karmada.io/deletion-protected: Always}"},
    {"orkestra", "configmap/kept", ", labels: {orkestra.io/deletion-protection: \"true\"}"},
    {"kruise", "service/kept", ", labels: {policy.kruise.io/delete-protection: Always}", "", false, "v1",
     "Service", "spec: {ports: [{port: 80}]}\n"},
    {"appcat", "configmap/kept",
     ", labels: {appcat.vshn.io/ownercomposite: pg, appcat.vshn.io/ownerkind: XVSHNPostgreSQL, "
     "appcat.vshn.io/ownergroup: vshn.appcat.vshn.io, appcat.vshn.io/ownerapiversion: v1}",
     "---\napiVersion: vshn.appcat.vshn.io/v1\nkind: XVSHNPostgreSQL\nmetadata: {name: pg}\n"},
    {"dbops", "database/kept", "", "", false, "dbops.dbprovision.io/v1alpha1", "Database",
     "spec: {instanceRef: {name: primary}, name: app, deletionProtection: true}\n"},
    {"karmada-objects", "configmap/kept", "",
     "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ResourceDeletionProtection\nmetadata: {name: "
     "NAMESPACE}\n"
     "spec: {protectedResources: [{resourceSelector: [{apiVersion: v1, kind: ConfigMap, namespace: "
     "NAMESPACE, name: "
     "kept}]}]}\n",
     true},
    {"usage", "configmap/kept", "",
     "---\napiVersion: protection.crossplane.io/v1beta1\nkind: Usage\nmetadata: {name: u, namespace: "
     "NAMESPACE}\n"
     "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: kept}}, reason: r}\n",
     true}};

class Namespaces : public Serving {
 protected:
  void serveIn(Form form) {
    write("users.yaml", kTwoAccounts);
    start({"--rbac", "--speed", "50", "--tokens", (folder_ / "users.yaml").string()});
    for (const std::string role : {"webhook", "controller"}) {
      run("cp $CONFIG $FOLDER/" + role);
      kubectl("--kubeconfig $FOLDER/" + role + " config set-credentials account --token=token-of-the-" +
              role);
      kubectl("--kubeconfig $FOLDER/" + role + " config set-context --current --user=account");
    }
    kubectl("apply -k deploy");
    if (form == Form::ApiServer) kubectl("apply -f deploy/components/keeps-admission-policies/rbac.yaml");
    serveRoles({"--policies", form == Form::ApiServer ? "apiserver" : "webhook", "--own-namespace", "lastout",
                "--tls-secret", "lastout/lastout-tls"});
  }

  // Those whose policies keep a Namespace ask about each of them; so the others are tried without these.
  void createProfiles(bool keepingNamespaces) {
    for (const ProtectedBy& one : kProtected)
      if (one.keepsItsNamespace == keepingNamespaces) tried_.push_back(one);
    write("reads.yaml", kReadsOfProfiles);
    write("crds.yaml", profileCrds());
    kubectl("apply -f $FOLDER/reads.yaml -f $FOLDER/crds.yaml -f scenarios/crds/dbops.yaml");
    kubectl("wait --for=condition=Established crd --all --timeout=50s");
    for (const ProtectedBy& one : tried_)
      EXPECT_EQ(run(std::string("lastout policy apply ") + one.profile + " --kubeconfig $CONFIG").exitCode,
                0);
    for (const ProtectedBy& one : tried_)
      for (const char* when : {"alive-", "dead-"}) createNamespace(when + std::string(one.profile), one);
    kubectl("create namespace free");
    kubectl("create configmap other -n free");
    waitUntil("kubectl wait --for=condition=Enforced deletionpolicies --all --timeout=50s");
    for (const ProtectedBy& one : tried_)
      for (const char* when : {"alive-", "dead-"}) expectKept(when + std::string(one.profile), one);
  }

  void createNamespace(const std::string& name, const ProtectedBy& one) const {
    std::string text =
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE}\n---\napiVersion: v1\nkind: "
        "ConfigMap\nmetadata: {name: other, namespace: NAMESPACE}\n---\napiVersion: " +
        std::string(one.apiVersion) + "\nkind: " + one.kind +
        "\nmetadata: {name: kept, namespace: NAMESPACE" + one.more + "}\n" + one.spec + one.beside;
    for (size_t at = 0; (at = text.find("NAMESPACE", at)) != std::string::npos;) text.replace(at, 9, name);
    write("namespace.yaml", text);
    waitUntil("kubectl apply -f $FOLDER/namespace.yaml");
  }

  // Its own DELETE is denied. The first lister of a kind takes API servers a moment.
  void expectKept(const std::string& space, const ProtectedBy& one) const {
    waitUntil(std::string("! kubectl delete ") + one.object + " -n " + space + " --dry-run=server");
  }

  // The Namespace is deleted as its profile has it, and the protected object outlives that. What the
  // namespace controller deletes it deletes type by type: when the rest is gone it has been denied the
  // protected object.
  void expectNotLost(const std::string& when, const ProtectedBy& one, const std::string& said) const {
    const std::string space = when + one.profile;
    const std::string uid =
        kubectl(std::string("get ") + one.object + " -n " + space + " -o jsonpath={.metadata.uid}");
    const std::string deletion = "delete namespace " + space + " --wait=false";
    if (one.keepsItsNamespace) {
      EXPECT_THAT(kubectl(deletion, 1), HasSubstr(said)) << one.profile;
    } else {
      EXPECT_THAT(kubectl(deletion), HasSubstr("deleted")) << one.profile;
      waitUntil("kubectl get configmap other -n " + space + " 2>&1 | grep NotFound");
      waitUntil("kubectl get namespace " + space + " -o yaml | grep -q ContentDeletionFailed");
    }
    EXPECT_EQ(kubectl(std::string("get ") + one.object + " -n " + space + " -o jsonpath={.metadata.uid}"),
              uid)
        << one.profile;
  }

  std::vector<ProtectedBy> tried_;
};

class OfProfiles : public Namespaces, public ::testing::WithParamInterface<Form> {
 protected:
  void expectNoneLost(bool keepingNamespaces) {
    serveIn(GetParam());
    createProfiles(keepingNamespaces);
    kubectl("delete namespace free --timeout=50s");
    for (const ProtectedBy& one : tried_) expectNotLost("alive-", one, "cannot be found out");
    if (!keepingNamespaces) {
      EXPECT_THAT(kubectl("delete crd widgets.example.com", 1),
                  AllOf(HasSubstr("widgets.example.com cannot be read"),
                        HasSubstr("ClusterRole lastout-reads"), HasSubstr("crds: Ignore")));
    }

    kill();
    for (const ProtectedBy& one : tried_) {
      EXPECT_NE(run(std::string("kubectl delete ") + one.object + " -n dead-" + one.profile).exitCode, 0)
          << one.profile;
      expectNotLost("dead-", one, "failed calling webhook");
    }
  }
};

TEST_P(OfProfiles, ANamespaceGoesAndWaitsForWhatALabelProtects) {
  expectNoneLost(false);
  EXPECT_THAT(kubectl("delete crd widgets.example.com", 1), HasSubstr("failed calling webhook"));
}

TEST_P(OfProfiles, ANamespaceStaysInWhichObjectsListAnother) { expectNoneLost(true); }

INSTANTIATE_TEST_SUITE_P(InBothForms, OfProfiles, ::testing::Values(Form::Webhook, Form::ApiServer),
                         [](const auto& info) {
                           return info.param == Form::Webhook ? "Webhook" : "ApiServer";
                         });

constexpr const char* kAboutEverything = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: everything}
spec:
  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
)";

TEST_F(Namespaces, APolicyAboutEverythingWarnsOfWhatMayNotBeListed) {
  serveIn(Form::Webhook);
  for (const char* space : {"plain", "labelled"}) kubectl(std::string("create namespace ") + space);
  kubectl("create configmap kept -n labelled");
  kubectl("label configmap kept -n labelled example.com/protect=yes");
  kubectl("create deployment web -n plain --image=example.com/web:1 --replicas=0");
  kubectl("label deployment web -n plain example.com/protect=yes");
  write("everything.yaml", kAboutEverything);
  EXPECT_THAT(
      run("lastout policy apply $FOLDER/everything.yaml --wait --kubeconfig $CONFIG 2>&1").out,
      AllOf(HasSubstr("DeletionPolicy everything: ServiceAccount lastout-webhook in namespace lastout "
                      "needs the right to list "
                      "configmaps, endpoints, events and "),
            HasSubstr(", which lets it read every Secret, whole; it lacks that on "),
            HasSubstr("lastout.dev/aggregate-to-reads: \"true\""),
            HasSubstr("deletionpolicies.lastout.dev/everything enforced\n")));
  waitUntil("kubectl wait --for=condition=TypesReadable=false deletionpolicy/everything --timeout=50s");
  EXPECT_THAT(kubectl("get deletionpolicy everything -o yaml"),
              AllOf(HasSubstr("lastout may not list "), HasSubstr("configmaps"), HasSubstr("secrets")));

  EXPECT_THAT(kubectl("delete namespace plain", 1),
              HasSubstr("namespaces/plain holds deployments.apps/plain/web"));
  kubectl("label deployment web -n plain example.com/protect-");
  EXPECT_THAT(kubectl("delete namespace plain --timeout=50s"),
              AllOf(HasSubstr("Warning: the rest of the namespace goes; it may hang at what is protected: "),
                    HasSubstr("namespaces/plain"), HasSubstr("DeletionPolicy everything")));
  EXPECT_THAT(kubectl("delete namespace labelled --wait=false"), HasSubstr("Warning: "));
  waitUntil("kubectl get namespace labelled -o yaml | grep -q ContentDeletionFailed");
  EXPECT_THAT(kubectl("get configmap kept -n labelled"), Not(HasSubstr("NotFound")));

  kubectl("create namespace strict");
  kubectl("patch deletionpolicy everything --type=merge -p '{\"spec\":{\"namespaces\":\"Strict\"}}'");
  waitUntil("! kubectl delete namespace strict --dry-run=server");
  EXPECT_THAT(kubectl("delete namespace strict", 1),
              AllOf(HasSubstr("cannot be found out"), HasSubstr("namespaces: Ignore")));
}

// The user may create policies, and no SubjectAccessReviews.
TEST_F(Namespaces, WhoMayNotAskForRightsIsToldSo) {
  write("users.yaml", std::string(kTwoAccounts) +
                          "- {username: editor, token: token-of-the-editor, rights: [{verbs: "
                          "[get, list, create, patch, update], groups: [lastout.dev], resources: "
                          "[deletionpolicies]}]}\n");
  start({"--tokens", (folder_ / "users.yaml").string()});
  run("cp $CONFIG $FOLDER/editor");
  kubectl("--kubeconfig $FOLDER/editor config set-credentials editor --token=token-of-the-editor");
  kubectl("--kubeconfig $FOLDER/editor config set-context --current --user=editor");
  write("everything.yaml", kAboutEverything);
  EXPECT_THAT(run("lastout policy apply $FOLDER/everything.yaml --kubeconfig $FOLDER/editor 2>&1").out,
              AllOf(HasSubstr("lastout could not find out whether it has this right"),
                    HasSubstr("cannot create resource \"subjectaccessreviews\""),
                    HasSubstr("deletionpolicies.lastout.dev/everything created\n")));
  const auto waiting = run(
      "lastout policy apply $FOLDER/everything.yaml --wait --timeout 1s --kubeconfig $FOLDER/editor 2>&1");
  EXPECT_EQ(waiting.exitCode, 1);
  EXPECT_THAT(waiting.out, HasSubstr("everything is not enforced within --timeout: no lastout serve"));
}

}  // namespace
}  // namespace lastout::clients
