// The profile orkestra by kubectl, as its users work with it, beside `lastout serve --label-policies`: a
// katalog is imported, and the reconciler of its document is lastout.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/clients/serving.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProtection = "orkestra.io/deletion-protection";
constexpr const char* kExemption = "orkestra.io/strict-mode-exempt";

class Labelled : public Serving {
 public:
  // `lastout policy apply` of the katalog, or another command; what it says.
  std::string applyKatalog(const std::string& command = "apply", const std::string& more = {}) const {
    const testing::Ran ran =
        run("lastout policy " + command + " $FOLDER/katalog.yaml --kubeconfig $CONFIG " + more);
    EXPECT_EQ(ran.exitCode, 0) << ran.out << ran.err;
    return ran.out;
  }
  void switchOff() const { write("katalog.yaml", "security:\n  deletionProtection: {enabled: false}\n"); }
  // The katalog's security.deletionProtection and the deletionProtection of its CRD app.
  void apply(const std::string& security, const std::string& crd) const {
    write("katalog.yaml", "security:\n  deletionProtection: " + security +
                              "\nspec:\n  crds:\n    app:\n      apiTypes: {group: security.orkestra.io, "
                              "plural: apps}\n      deletionProtection: " +
                              crd + "\n");
    applyKatalog();
    waitUntil(
        "kubectl wait --for=condition=Enforced delpol -l lastout.dev/imported-from=orkestra "
        "--timeout=30s");
  }
  void begin(const std::string& security, const std::string& crd, std::vector<std::string> options = {}) {
    start();
    waitUntil("kubectl apply -f scenarios/crds/orkestra.yaml");
    options.emplace_back("--label-policies");
    serve(options);
    apply(security, crd);
  }
  void create(const std::string& name) const {
    write(name + ".yaml", "apiVersion: security.orkestra.io/v1\nkind: App\nmetadata: {name: " + name + "}\n");
    waitUntil("kubectl apply -f $FOLDER/" + name + ".yaml");
  }
  static std::string labelOf(const std::string& name, const std::string& key) {
    std::string escaped = key;
    for (size_t at = escaped.find('.'); at != std::string::npos; at = escaped.find('.', at + 2))
      escaped.insert(at, "\\");
    return "kubectl get app " + name + " -o jsonpath=\"{.metadata.labels['" + escaped + "']}\"";
  }
  void waitForLabel(const std::string& name, const std::string& key, const std::string& value) const {
    waitUntil("test \"$(" + labelOf(name, key) + ")\" = \"" + value + "\"");
  }
  std::string labelsOf(const std::string& name) const {
    return kubectl("get app " + name + " -o jsonpath={.metadata.labels}");
  }
};

TEST_F(Labelled, UnderStrictModeAnInstanceIsFullyLocked) {
  begin("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  EXPECT_EQ(labelsOf("my-app"), R"({"orkestra.io/deletion-protection":"true"})");
  EXPECT_THAT(kubectl("delete app my-app", 1),
              HasSubstr("[App \"my-app\"] deletion is blocked by Orkestra deletion protection."));
  EXPECT_THAT(kubectl(std::string("label app my-app ") + kProtection + "-", 1),
              HasSubstr("Removing this label is blocked because strictMode is enabled."));
  EXPECT_THAT(kubectl("delete crd apps.security.orkestra.io", 1),
              HasSubstr("deletion is blocked by Orkestra deletion protection"));
  EXPECT_THAT(
      kubectl("get delpol orkestra-protected -o jsonpath='{.status.conditions[?(@.type==\"LabelsKept\")]"
              ".status}'"),
      "True");
}

TEST_F(Labelled, AnExemptionSetByHandIsRepaired) {
  begin("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kubectl(std::string("label app my-app ") + kExemption + "=true");
  waitForLabel("my-app", kExemption, "");
  kubectl(std::string("label app my-app ") + kProtection + "-", 1);
  waitUntil("kubectl get events --field-selector reason=LabelsRepaired | grep -q app/my-app");
  // It works until then, in the same update, too.
  kubectl(std::string("label app my-app ") + kProtection + "- " + kExemption + "=true");
  waitForLabel("my-app", kProtection, "true");
  waitForLabel("my-app", kExemption, "");
}

// Also where all of it runs in the webhook, which asks about the label of the old object and of the new one.
class InBothPlaces : public Labelled, public ::testing::WithParamInterface<const char*> {};

TEST_P(InBothPlaces, TheLabelIsRemovedInTwoPhases) {
  begin("{enabled: true, strictMode: true}", "{}", {"--policies", GetParam()});
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  const std::string denied = kubectl("delete app my-app", 1);
  if (GetParam() == std::string("webhook")) {
    EXPECT_THAT(denied, HasSubstr("delete-protection.orkestra.orkspace.io"));
    EXPECT_THAT(kubectl(std::string("label app my-app ") + kProtection + "-", 1),
                HasSubstr("strict-mode.orkestra.orkspace.io"));
  }
  apply("{enabled: true, strictMode: true}", "{protectCRs: false}");
  waitUntil("test -z \"$(kubectl get app my-app -o jsonpath={.metadata.labels})\"");
  create("created-later");
  EXPECT_EQ(kubectl("delete app my-app created-later"),
            "app.security.orkestra.io \"my-app\" deleted\n"
            "app.security.orkestra.io \"created-later\" deleted");
  EXPECT_THAT(kubectl("delete crd apps.security.orkestra.io", 1),
              HasSubstr("deletion is blocked by Orkestra deletion protection"));
}

INSTANTIATE_TEST_SUITE_P(Policies, InBothPlaces, ::testing::Values("apiserver", "webhook"),
                         [](const auto& info) { return std::string(info.param); });

// The katalog's warning, honoured as it stands.
TEST_F(Labelled, AnUnprotectedCrdTakesItsLabelledInstancesAlong) {
  begin("{enabled: true, strictMode: true}", "{protectCRD: false}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kubectl("delete app my-app", 1);
  kubectl("delete crd apps.security.orkestra.io --timeout=30s");
  waitUntil("kubectl apply -f scenarios/crds/orkestra.yaml");
  waitUntil("kubectl get apps");
  EXPECT_EQ(kubectl("get apps -o name"), "");
}

// "I want to delete a protected resource right now", under strict mode.
TEST_F(Labelled, WithStrictModeOffForItsCrdAnInstanceCanBeDeleted) {
  begin("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  apply("{enabled: true, strictMode: true}", "{strictMode: false}");
  waitForLabel("my-app", kExemption, "true");
  kubectl("delete app my-app", 1);
  kubectl(std::string("label app my-app ") + kProtection + "-");
  EXPECT_EQ(kubectl("delete app my-app"), "app.security.orkestra.io \"my-app\" deleted");
}

// The same at once, by the katalog's switch: nothing blocks, and labels stay as they are.
TEST_F(Labelled, DisabledAltogetherItNeitherBlocksNorLabels) {
  begin("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kubectl("delete app my-app", 1);
  switchOff();
  EXPECT_THAT(applyKatalog("apply", "--dry-run"),
              HasSubstr("/orkestra-strict-mode deleted: the katalog does not have it (dry run)\n"));
  EXPECT_THAT(kubectl("get delpol -o name"), HasSubstr("/orkestra-strict-mode"));
  write("own.yaml",
        "apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: own}\nspec: {objects: "
        "[{resources: [{resource: secrets}]}]}\n");
  kubectl("apply -f $FOLDER/own.yaml");
  EXPECT_THAT(applyKatalog(),
              HasSubstr("/orkestra-delete-protection deleted: the katalog does not have it\n"));
  EXPECT_EQ(kubectl("get delpol -o name"), "deletionpolicy.lastout.dev/own");
  EXPECT_EQ(run("lastout policy remove $FOLDER/own.yaml --kubeconfig $CONFIG").out,
            "deletionpolicies.lastout.dev/own deleted\n");
  waitUntil(
      "test -z \"$(kubectl get validatingadmissionpolicybindings -l lastout.dev/deletion-policy -o name)\"");
  create("created-later");
  EXPECT_EQ(labelsOf("my-app"), R"({"orkestra.io/deletion-protection":"true"})");
  EXPECT_EQ(labelsOf("created-later"), "");
  EXPECT_EQ(kubectl("delete app my-app"), "app.security.orkestra.io \"my-app\" deleted");
}

TEST_F(Labelled, WithoutStrictModeInTheKatalogItsPolicyGoes) {
  begin("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kubectl(std::string("label app my-app ") + kProtection + "-", 1);
  apply("{enabled: true, strictMode: false}", "{}");
  EXPECT_THAT(kubectl("get delpol -o name"), Not(HasSubstr("strict-mode")));
  waitUntil(std::string("kubectl label app my-app ") + kProtection + "-");
}

TEST_F(Labelled, AKatalogIsRemovedAsAWhole) {
  start();
  write("katalog.yaml", "security: {deletionProtection: {enabled: true, strictMode: true}}\n");
  EXPECT_THAT(applyKatalog(), HasSubstr("/orkestra-strict-mode created\n"));
  write("katalog.yaml", "security: {deletionProtection: {enabled: true}}\n");
  EXPECT_THAT(applyKatalog("remove"), AllOf(HasSubstr("/orkestra-delete-protection deleted\n"),
                                            HasSubstr("/orkestra-strict-mode deleted: ")));
  EXPECT_EQ(kubectl("get delpol -o name"), "");
  EXPECT_THAT(applyKatalog("remove"), HasSubstr("/orkestra-delete-protection was not there\n"));
  switchOff();
  EXPECT_EQ(applyKatalog(), "there are no policies of a katalog, and none is to be there\n");
}

TEST_F(Labelled, WhatWasChangedWhileNoLastoutRanIsRepaired) {
  begin("{enabled: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kill();
  kubectl(std::string("label app my-app ") + kProtection + "- " + kExemption + "=true");
  create("created-meanwhile");
  serve({"--label-policies"});
  for (const char* name : {"my-app", "created-meanwhile"}) waitForLabel(name, kProtection, "true");
  waitForLabel("my-app", kExemption, "");
}

TEST_F(Labelled, WithoutTheFlagItEnforcesAndNeverLabels) {
  start();
  waitUntil("kubectl apply -f scenarios/crds/orkestra.yaml");
  serve();
  apply("{enabled: true, strictMode: true}", "{}");
  create("my-app");
  waitUntil("kubectl wait --for=condition=LabelsKept=false delpol orkestra-protected --timeout=30s");
  EXPECT_THAT(kubectl("get delpol orkestra-protected -o yaml"), HasSubstr("without --label-policies"));
  EXPECT_EQ(labelsOf("my-app"), "");
  kubectl(std::string("label app my-app ") + kProtection + "=true");
  kubectl("delete app my-app", 1);
  kubectl(std::string("label app my-app ") + kProtection + "-", 1);
}

TEST_F(Labelled, CleanupOnShutdownLeavesNothingInTheWay) {
  begin("{enabled: true, strictMode: true, cleanupOnShutdown: true}", "{}");
  create("my-app");
  waitForLabel("my-app", kProtection, "true");
  kubectl("create configmap by-hand");
  kubectl(std::string("label configmap by-hand ") + kProtection + "=true");
  kubectl("delete configmap by-hand", 1);
  EXPECT_THAT(interrupt(), Not(HasSubstr("keep their labels")));
  EXPECT_EQ(labelsOf("my-app"), "");
  EXPECT_EQ(kubectl("get validatingadmissionpolicybindings -l lastout.dev/deletion-policy -o name"), "");
  kubectl("delete app my-app");
  kubectl("delete configmap by-hand");
  kubectl("get delpol orkestra-protected");
}

// All that deploy/ has, and what lastout makes of it, as the chart of the document labels whatever it
// creates.
TEST_F(Labelled, ItsOwnObjectsAreProtectedByTheSameLabel) {
  start();
  const std::string overlay = (folder_ / "overlay").string();
  const testing::Ran made = run("mkdir " + overlay + " && deploy=$(realpath --relative-to=" + overlay +
                                " deploy) && echo '{\"resources\": [\"'$deploy'\"], \"components\": "
                                "[\"'$deploy'/components/protects-itself\"]}' > " +
                                overlay + "/kustomization.yaml");
  ASSERT_EQ(made.exitCode, 0) << made.out << made.err;
  kubectl("apply -k " + overlay);
  // This lastout is another user than those that they know.
  kubectl("delete validatingadmissionpolicybindings -l app.kubernetes.io/name=lastout");
  serve({"--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls", "--profile", "orkestra",
         "--own-labels", std::string(kProtection) + "=true"});
  waitUntil("kubectl wait --for=condition=Enforced delpol/orkestra-delete-protection --timeout=30s");
  waitUntil(std::string("test \"$(kubectl get secrets -n lastout -l ") + kProtection +
            "=true -o name)\" && test \"$(kubectl get validatingwebhookconfigurations -l " + kProtection +
            "=true -o name)\"");
  std::istringstream named(kubectl("get -k " + overlay + " -o name --ignore-not-found"));
  size_t count = 0;
  for (std::string object; std::getline(named, object); ++count) {
    if (object.starts_with("validatingadmissionpolic")) continue;  // those may always be taken away
    const std::string denied = run("kubectl delete " + object +
                                   " --namespace lastout --dry-run=server 2>&1 || "
                                   "kubectl delete " +
                                   object + " --namespace default --dry-run=server 2>&1")
                                   .out;
    EXPECT_THAT(denied, HasSubstr("deletion is blocked by Orkestra deletion protection")) << object;
  }
  EXPECT_GT(count, 40U);
  for (const std::string object :
       {"secret lastout-tls -n lastout", "validatingwebhookconfiguration lastout", "namespace lastout"})
    EXPECT_THAT(kubectl("delete " + object, 1),
                HasSubstr("deletion is blocked by Orkestra deletion protection"))
        << object;
  // Somebody takes the label away where strict mode lets them: it comes back.
  kubectl(std::string("label secret lastout-tls -n lastout orkestra.io/strict-mode-exempt=true ") +
          kProtection + "-");
  waitUntil(std::string("test \"$(kubectl get secrets -n lastout -l ") + kProtection + "=true -o name)\"");

  interrupt();
  const testing::Ran gone = run("lastout uninstall --yes --kubeconfig $CONFIG");
  EXPECT_EQ(gone.exitCode, 0) << gone.out << gone.err;
  kubectl("delete -k " + overlay + " --ignore-not-found --timeout=50s");
  EXPECT_THAT(kubectl("get namespaces,crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                      "validatingwebhookconfigurations -o name"),
              Not(HasSubstr("lastout")));
}

}  // namespace
}  // namespace lastout::clients
