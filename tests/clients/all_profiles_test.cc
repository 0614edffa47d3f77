// All profiles at once, with a CriticalService: what lastout protects, and how a cluster gets rid of all of
// it, by `lastout uninstall` with the rights of its Helm hook, or by the commands of docs/protection.md when
// no lastout runs.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/clients/everything_protected.h"
#include "tests/clients/story.h"
#include "tests/clients/uninstalling.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kWayOutDocument = "docs/protection.md";
constexpr const char* kEveryLabel =
    " resourcetemplate.karmada.io/deletion-protected=Always orkestra.io/deletion-protection=true";
// lastout's own, as far as a policy may be about it.
constexpr const char* kOwnWebhook = "validatingwebhookconfiguration/lastout";
constexpr const char* kOwnDeployment = "deployment/lastout-webhook -n lastout";
constexpr const char* kOwnSecret = "secret/lastout-tls -n lastout";

// The rights on what is held are given as the document on holding says.
std::string holdRole() {
  const std::string page = fileText("docs/holding.md");
  const size_t begin = page.find("```yaml\napiVersion: rbac");
  EXPECT_NE(begin, std::string::npos);
  return page.substr(begin + 8, page.find("```", begin + 8) - begin - 8);
}

// The commands of the console block behind that heading, from where no lastout runs any more.
std::string commandsWithoutLastout(const std::string& heading) {
  const std::string page = fileText(kWayOutDocument);
  const size_t at = page.find(heading);
  const size_t begin = page.find("$ kubectl", page.find("$ kill $!", at));
  EXPECT_TRUE(at != std::string::npos && begin != std::string::npos) << heading;
  std::istringstream block(page.substr(begin, page.find("```", begin) - begin));
  std::string commands;
  for (std::string line; std::getline(block, line);) {
    if (line.starts_with("$ ") && line.find("namespace kept") == std::string::npos)
      commands += line.substr(2) + "\n";
  }
  return commands;
}

class AllProfiles : public Uninstalling {
 protected:
  void SetUp() override {
    Uninstalling::SetUp();
    startDeployed({"--speed", "50"}, holdRole());
    createEverything();
    serve({"--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls", "--hold-policies"});
    waitUntilTheProviderIsGuarded();
    waitUntilAllIsProtected();
  }

  void createEverything() const {
    write("crds.yaml", std::string(kCrd) + profileCrds());
    write("story.yaml", std::string(testing::kCriticalServiceExample) + kProvider + "---\n" + kInstance);
    write("objects.yaml", kEverythingProtected);
    write("databases.yaml", kHeldDatabases);
    kubectl("apply -f $FOLDER/crds.yaml -f scenarios/crds/dbops.yaml");
    for (const char* profile : kProfiles)
      EXPECT_EQ(run(std::string("lastout policy apply ") + profile + " --kubeconfig $CONFIG").exitCode, 0);
    for (const char* file : {"story", "objects", "databases"})
      waitUntil("kubectl apply -f $FOLDER/" + std::string(file) + ".yaml");
    kubectl("label crd widgets.example.com policy.kruise.io/delete-protection=Cascading");
    kubectl("label deployment finalizer-deployment -n finalizer-namespace" + std::string(kEveryLabel));
  }

  void waitUntilAllIsProtected() const {
    waitUntil("kubectl wait --for=condition=Enforced deletionpolicies --all --timeout=50s");
    for (const char* held : kHeldObjects)
      waitUntil("kubectl get " + std::string(held) +
                " -o jsonpath={.metadata.finalizers} | grep -q dbops.dbprovision.io/");
    for (const char* denied : kDeniedObjects)
      EXPECT_THAT(remove(denied, "--dry-run=server", 1), HasSubstr("rror from server")) << denied;
    EXPECT_THAT(remove("deployment/finalizer-deployment -n finalizer-namespace", "--dry-run=server", 1),
                HasSubstr("is protected, and must not be deleted"));
  }

  std::string remove(const std::string& object, const std::string& options = "", int expected = 0) const {
    return kubectl("delete " + object + " " + options, expected);
  }

  // Everything, in an order that leaves what depends on nothing until last.
  void expectEverythingGoes() const {
    for (const char* held : kHeldObjects) remove(held, "--timeout=50s");
    for (const char* denied : kDeniedObjects) remove(denied, "--timeout=50s");
    remove("coolresource/some-instance", "--wait=false");
    kubectl("patch coolresource some-instance --type=merge -p '{\"metadata\":{\"finalizers\":null}}'");
    remove("deployment/finalizer-deployment -n finalizer-namespace", "--timeout=50s");
    remove("namespace/finalizer-namespace", "--timeout=50s");
    kubectl("delete crd --all --timeout=50s");
    remove("namespace/lastout", "--timeout=50s");
    EXPECT_THAT(kubectl("get validatingadmissionpolicybindings,validatingadmissionpolicies -l "
                        "lastout.dev/deletion-policy -o name"),
                "");
    EXPECT_THAT(kubectl("get validatingwebhookconfigurations -o name"), "");
  }

  // Policies about lastout's own objects, and about what would take the policies back.
  void protectTheWayOut() const {
    for (const char* own : {"deletionpolicies --all", "validatingadmissionpolicies --all",
                            "validatingadmissionpolicybindings --all", "criticalservices --all", kOwnWebhook,
                            kOwnDeployment, "deployment/lastout-controller -n lastout", kOwnSecret,
                            "crd/deletionpolicies.lastout.dev", "crd/criticalservices.lastout.dev"})
      kubectl("label " + std::string(own) + kEveryLabel);
    for (const char* own : {kOwnWebhook, kOwnSecret})
      EXPECT_THAT(remove(own, "--dry-run=server", 1), HasSubstr("is protected")) << own;
    // lastout's own policy refuses these before any other is asked.
    for (const char* own : {kOwnDeployment, "crd/deletionpolicies.lastout.dev"})
      EXPECT_THAT(remove(own, "--dry-run=server", 1), HasSubstr("run lastout uninstall first")) << own;
  }
};

TEST_F(AllProfiles, NothingOfThemOutlivesTheUninstall) {
  protectTheWayOut();
  EXPECT_THAT(remove("database/app -n default", "--wait=false"), HasSubstr("deleted"));
  interrupt();

  EXPECT_THAT(uninstall("", 1), AllOf(HasSubstr("1 object is being deleted and held for a deletion policy"),
                                      HasSubstr("  databases.dbops.dbprovision.io/default/app\n"),
                                      HasSubstr("lastout uninstall --yes")));
  EXPECT_THAT(
      uninstall("--yes --dry-run", 0),
      AllOf(
          HasSubstr("databaseinstances.dbops.dbprovision.io/default/primary: would be freed of "
                    "dbops.dbprovision.io/instance\n"),
          HasSubstr("validatingadmissionpolicybindings.admissionregistration.k8s.io/lastout-policy-karmada: "
                    "would be deleted\n")));
  EXPECT_THAT(remove("namespace/always", "", 1), HasSubstr("is protected")) << "nothing is done yet";
  EXPECT_THAT(
      uninstall("--yes", 0),
      AllOf(Not(HasSubstr("cannot")),
            HasSubstr("deployments.apps/lastout/lastout-webhook: scaled to 0, as a deletion policy "
                      "denies its deletion"),
            HasSubstr("databases.dbops.dbprovision.io/default/app: freed of "
                      "dbops.dbprovision.io/database, while it is being deleted\n"),
            HasSubstr("DeletionPolicies, whose objects nothing protects now"),
            HasSubstr("  the CustomResourceDefinitions of CriticalServices and of DeletionPolicies\n"),
            HasSubstr("  kubectl delete deletionpolicies --all")));

  EXPECT_THAT(kubectl("get deletionpolicies -o name"), HasSubstr("/karmada"));
  EXPECT_THAT(kubectl("get databases -A"), StartsWith("No resources found"));
  kubectl("apply -f $FOLDER/databases.yaml");
  expectEverythingGoes();
}

// Nobody answers, and the commands of the document end all of it.
TEST_F(AllProfiles, WithoutAnyLastoutTheDocumentsCommandsEndAllOfThem) {
  protectTheWayOut();
  kill();
  kubectl("apply -k deploy");
  EXPECT_THAT(remove("secret/listed -n default", "", 1), HasSubstr("failed calling webhook"));
  remove("database/app -n default", "--wait=false");
  kubectl("annotate databaserole readers -n default dbops.dbprovision.io/force-delete=true");
  remove("databaserole/readers -n default", "--wait=false");
  write("way-out.sh", commandsWithoutLastout("### Without any lastout"));
  const lastout::testing::Ran ran = run("bash -e $FOLDER/way-out.sh");
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
  EXPECT_EQ(kubectl("get deletionpolicies -o name"), "");
  EXPECT_THAT(kubectl("get databases,databaseroles -A"), StartsWith("No resources found"));
  kubectl("apply -f $FOLDER/databases.yaml");
  expectEverythingGoes();
}

// The other way of the documents: the protection is edited away while lastout runs.
TEST_F(AllProfiles, AProtectionThatIsEditedAwayEnds) {
  protectTheWayOut();
  kubectl(
      "patch deletionpolicy karmada --type=json -p '[{\"op\": \"replace\", \"path\": "
      "\"/spec/when/0/values/0\", "
      "\"value\": \"Never\"}]'");
  EXPECT_EQ(run("lastout policy remove orkestra --kubeconfig $CONFIG").exitCode, 0);
  for (const char* own : {kOwnSecret, "configmap/settings -n always", "serviceaccount/gateway -n default"})
    waitUntil("kubectl delete " + std::string(own));
  kubectl("annotate databaseinstance primary -n default dbops.dbprovision.io/force-delete=true");
  waitUntil("kubectl get databaseinstance primary -n default -o jsonpath={.status.phase} | grep -q Pending");
  const std::string hash =
      kubectl("get databaseinstance primary -n default -o jsonpath={.status.deletionConfirmation.hash}");
  kubectl("annotate databaseinstance primary -n default dbops.dbprovision.io/confirm-force-delete=" + hash);
  kubectl("annotate database app -n default dbops.dbprovision.io/force-delete=true");
  waitUntil("kubectl get databaseinstance primary -n default 2>&1 | grep -q NotFound");
}

}  // namespace
}  // namespace lastout::clients
