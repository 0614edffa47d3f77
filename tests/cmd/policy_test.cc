// lastout policy, by running the program: what it prints, what it writes into a cluster, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

// A folder that goes away.
class PolicyCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "lastout-policy-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

  std::filesystem::path folder_;
};

constexpr const char* kOwnPolicy = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: own}
spec:
  objects: [{resources: [{resource: configmaps}], namespaces: [shop]}]
  when: [{label: example.com/keep}]
)";

constexpr const char* kKatalog = R"(security:
  deletionProtection:
    enabled: true
    strictMode: true
    failurePolicy: Fail
spec:
  crds:
    full: {apiTypes: {group: a.example.com, plural: fulls}}
    exempt:
      apiTypes: {group: a.example.com, plural: exempts}
      deletionProtection: {strictMode: false}
    open:
      apiTypes: {group: a.example.com, plural: opens}
      deletionProtection: {protectCRs: false}
    odd:
      apiTypes: {group: a.example.com, plural: odds}
      deletionProtection: {protectCRD: false, protectCRs: true}
)";

TEST_F(PolicyCommand, ListsTheProfilesOneALine) {
  const Ran ran = testing::lastout({"policy", "list"});
  EXPECT_EQ(ran.exitCode, 0);
  for (const char* name : {"appcat ", "karmada ", "karmada-objects ", "kruise ", "orkestra ", "usage "})
    EXPECT_THAT("\n" + ran.out, HasSubstr("\n" + std::string(name)));
}

TEST_F(PolicyCommand, ShowsWhereEachPartRuns) {
  const Ran ran = testing::lastout({"policy", "show", "kruise"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("policy kruise-always\n"), HasSubstr("policy kruise-cascading-namespaces\n"),
                    HasSubstr("namespaces, services, ingresses.networking.k8s.io"),
                    HasSubstr("    API server  DELETE, when label policy.kruise.io/delete-protection: Always "
                              "(the request alone tells)\n"),
                    HasSubstr("webhook"), HasSubstr("it needs other objects")));
  const Ran inWebhook = testing::lastout({"policy", "show", "karmada", "--policies", "webhook"});
  EXPECT_THAT(inWebhook.out, Not(HasSubstr("    API server")));
}

TEST_F(PolicyCommand, PrintsPoliciesThatCanBeApplied) {
  const Ran yaml = testing::lastout({"policy", "show", "orkestra", "-o", "yaml"});
  const Ran again = testing::lastout({{"policy", "show", "-", "-o", "json"}, yaml.out});
  EXPECT_EQ(again.exitCode, 0) << again.err;
  const auto list = nlohmann::json::parse(again.out, nullptr, false);
  ASSERT_EQ(list["items"].size(), 2U);
  EXPECT_EQ(list["items"][1]["metadata"]["name"], "orkestra-strict-mode");
  const Ran direct = testing::lastout({"policy", "show", "orkestra", "-o", "json"});
  EXPECT_EQ(direct.out, again.out);
}

TEST_F(PolicyCommand, PrintsAdmissionPolicies) {
  const Ran ran = testing::lastout({"policy", "show", "karmada", "--admission-policies"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("apiVersion: admissionregistration.k8s.io/v1\nkind: "
                               "ValidatingAdmissionPolicy\nmetadata:\n  name: lastout-policy-karmada\n"),
                    HasSubstr("\n---\n"), HasSubstr("kind: ValidatingAdmissionPolicyBinding\n")));
  EXPECT_EQ(
      ran.err,
      "deletion policy karmada: API servers can evaluate a part of it alone; for the rest run lastout serve "
      "(lastout policy show says which part runs where)\n")
      << "what a Namespace holds";
  const Ran usage = testing::lastout({"policy", "show", "usage", "--admission-policies"});
  EXPECT_EQ(usage.out, "") << "an API server cannot tell anything of it";
  EXPECT_THAT(usage.err, HasSubstr("deletion policy usage: API servers can evaluate nothing of it;"));
  EXPECT_EQ(testing::lastout({{"policy", "show", "-", "--admission-policies"},
                              std::string(kOwnPolicy) + "  namespaces: Ignore\n"})
                .err,
            "");
}

TEST_F(PolicyCommand, ReadsFilesOfOnesOwn) {
  const Ran ran = testing::lastout({"policy", "show", write("own.yaml", kOwnPolicy), "karmada"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("policy own\n"), HasSubstr("configmaps in namespace shop"),
                             HasSubstr("\n\npolicy karmada\n")));
}

TEST_F(PolicyCommand, WarnsOfAnUnprotectThatDeniesNothing) {
  std::string text(kOwnPolicy);
  text.replace(text.find("  when"), std::string::npos,
               "  when: [{field: {path: data.keep, equals: 'yes'}}]\n  blocks: [Delete, Unprotect]\n");
  const Ran ran = testing::lastout({"policy", "show", write("own.yaml", text)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.err,
              AllOf(StartsWith("warning: "), HasSubstr("own.yaml:7:11: spec.blocks lists Unprotect")));
  EXPECT_THAT(ran.out, Not(HasSubstr("UPDATE that takes the protection away")));
  EXPECT_THAT(ran.out, HasSubstr("    out of reach  UPDATE that changes field data.keep"));
}

TEST_F(PolicyCommand, AFileOfAnotherKindIsOneMistake) {
  EXPECT_EQ(testing::lastout({"policy", "show", "deploy/crd/criticalservices.yaml"}).err,
            "deploy/crd/criticalservices.yaml:4:13: apiVersion and kind must be lastout.dev/v1alpha1 and "
            "DeletionPolicy, not \"apiextensions.k8s.io/v1\" and \"CustomResourceDefinition\"\n");
}

TEST_F(PolicyCommand, BadInputIsTold) {
  const std::string own = write("own.yaml", kOwnPolicy);
  const std::string wrong = write("wrong.yaml", std::string(kOwnPolicy) + "  blcks: []\n");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"show", "karmda"}, "there is no profile \"karmda\"; did you mean \"karmada\"?"},
      {{"apply", "karmda"}, "did you mean \"karmada\"?"},
      {{"remove", "karmda"}, "did you mean \"karmada\"?"},
      {{"remove", wrong}, "spec.\"blcks\" is no known field"},
      {{"remove", "own"}, "one policy is deleted by its name with: kubectl delete deletionpolicy NAME"},
      {{"show", "nowhere.yaml"}, "nowhere.yaml"},
      {{"show", wrong}, "wrong.yaml:7:3: spec.\"blcks\" is no known field"},
      {{"apply", wrong}, "spec.\"blcks\" is no known field"},
      {{"show", own, write("again.yaml", kOwnPolicy)}, "another policy is named \"own\", too"},
      {{"show", "deploy/namespace.yaml"},
       "apiVersion and kind must be lastout.dev/v1alpha1 and DeletionPolicy"},
      {{"import", own}, "not the settings of Orkestra"},
      {{"import", own, "--crd", "a"}, "--crd: write it as NAME=PLURAL.GROUP"},
      {{"shw", "karmada"}, "unknown command \"shw\"; did you mean show?"},
      {{}, "a command is missing: "},
      {{"show", "--outptu", "json", "karmada"},
       "unknown option --outptu; did you mean --output?\nTry: lastout policy show --help"},
      {{"apply", "karmada", "--kubeconfig", "/nonexistent"}, "/nonexistent"}};
  for (const auto& [arguments, told] : cases) {
    std::vector<std::string> all{"policy"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = testing::lastout(all);
    EXPECT_EQ(ran.exitCode, 2) << told;
    EXPECT_EQ(ran.out, "") << told;
    EXPECT_THAT(ran.err, HasSubstr(told));
  }
}

TEST_F(PolicyCommand, ItsCommandsHaveHelpWithExamples) {
  for (const char* command : {"list", "show", "apply", "remove", "import"}) {
    const Ran ran = testing::lastout({"policy", command, "--help"});
    EXPECT_EQ(ran.exitCode, 0);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Examples:\n  lastout policy " + std::string(command)),
                               HasSubstr("Exit codes:")));
  }
}

TEST_F(PolicyCommand, SaysOnWhichClusterAncestorsAre) {
  const Ran ran = testing::lastout({"policy", "show", "appcat", "--ancestor-cluster", "control-plane"});
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("an ancestor on cluster control-plane with "
                              "spec.parameters.backup.deletionProtection: true"),
                    HasSubstr("webhook       DELETE, when an ancestor on cluster control-plane"),
                    HasSubstr("(it needs an object on cluster control-plane, which serve --policy-cluster "
                              "makes known)")));
  const Ran yaml =
      testing::lastout({"policy", "show", "appcat", "--ancestor-cluster", "control-plane", "-o", "yaml"});
  EXPECT_EQ(testing::lastout({{"policy", "show", "-"}, yaml.out}).out, ran.out);
  const Ran none = testing::lastout({"policy", "show", "karmada", "--ancestor-cluster", "control-plane"});
  EXPECT_EQ(none.exitCode, 2);
  EXPECT_THAT(none.err, HasSubstr("--ancestor-cluster: none of these policies asks for an ancestor"));
  EXPECT_THAT(testing::lastout({"policy", "show", "appcat", "--ancestor-cluster", "A B"}).err,
              HasSubstr("ancestor.cluster must be a DNS label"));
}

TEST_F(PolicyCommand, ShowsThePostureOfAKatalog) {
  const Ran ran = testing::lastout({"policy", "show", write("katalog.yaml", kKatalog)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("deletion protection is on, strict mode on, failurePolicy Fail\n"),
                             HasSubstr("  full    fully protected\n"),
                             HasSubstr("  exempt  protected, strict mode exempt\n"),
                             HasSubstr("  open    unprotected instances, protected CRD\n"),
                             HasSubstr("  odd     fully protected; warning: its CRD is unprotected\n"),
                             HasSubstr("policy orkestra-delete-protection\n")));
  EXPECT_THAT(ran.err, AllOf(StartsWith("warning: "), HasSubstr("katalog.yaml:15:5: spec.crds.odd")));
}

TEST_F(PolicyCommand, ImportsAKatalog) {
  const Ran ran = testing::lastout({"policy", "import", write("katalog.yaml", kKatalog)});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.err, HasSubstr("spec.crds.odd"));
  const Ran read = testing::lastout({{"policy", "show", "-", "-o", "json"}, ran.out});
  ASSERT_EQ(read.exitCode, 0) << read.err;
  const auto items = nlohmann::json::parse(read.out)["items"];
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item["metadata"]["name"]);
  EXPECT_THAT(names,
              ::testing::ElementsAre("orkestra-delete-protection", "orkestra-unprotected",
                                     "orkestra-protected-open-crd", "orkestra-protected",
                                     "orkestra-protected-exempt", "orkestra-crds", "orkestra-strict-mode"));
  EXPECT_THAT(items[5]["spec"]["objects"][0]["names"],
              ::testing::ElementsAre("fulls.a.example.com", "exempts.a.example.com", "opens.a.example.com"));
}

// Scenarios are about these.
TEST_F(PolicyCommand, TheShippedPoliciesAreThoseOfTheShippedKatalog) {
  const Ran ran = testing::lastout({"policy", "import", "scenarios/katalogs/orkestra.yaml"});
  EXPECT_EQ(ran.exitCode, 0);
  std::ifstream shipped("scenarios/katalogs/orkestra-policies.yaml");
  EXPECT_EQ(ran.out, std::string(std::istreambuf_iterator<char>(shipped), {}));
}

TEST_F(PolicyCommand, AKatalogThatIsOffGivesNoPolicies) {
  const Ran ran = testing::lastout(
      {{"policy", "import", "-"}, "security: {deletionProtection: {enabled: false, strictMode: true}}\n"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("deletion protection is not enabled"));
}

// The rest is done to a cluster.
class PolicyInCluster : public PolicyCommand {
 protected:
  void SetUp() override {
    PolicyCommand::SetUp();
    kubeconfig_ = (folder_ / "kubeconfig").string();
    cluster_ = std::make_unique<testing::Running>(
        std::vector<std::string>{"up", "--kubeconfig-out", kubeconfig_, "--guard", "inside"},
        "Ctrl-C ends it");
  }
  Ran policy(std::vector<std::string> arguments, const std::string& input = {}) const {
    arguments.insert(arguments.begin(), "policy");
    arguments.insert(arguments.end(), {"--kubeconfig", kubeconfig_});
    return testing::lastout({arguments, input});
  }

  std::string kubeconfig_;
  std::unique_ptr<testing::Running> cluster_;
};

constexpr const char* kDatabaseDefinition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.db.example.com}
spec:
  group: db.example.com
  scope: Namespaced
  names: {plural: databases, kind: Database}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {deletionProtection: {type: boolean}}}}
)";

// It warns, and shows the policy all the same.
TEST_F(PolicyInCluster, ShowWarnsOfTypesAndFieldsThatTheClusterDoesNotHave) {
  const auto show = [&](const std::string& type, const std::string& field) {
    return policy({"show", "-"},
                  "apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: own}\nspec:\n"
                  "  objects: [{resources: [{group: db.example.com, resource: " +
                      type + "}]}]\n  when: [{field: {path: " + field + "}}]\n");
  };
  EXPECT_THAT(show("databases", "spec.deletionProtection").err,
              HasSubstr("own: spec.objects: the cluster serves no databases.db.example.com"));
  const std::string definition = write("crd.yaml", kDatabaseDefinition);
  const std::string kubectl = "kubectl --kubeconfig " + kubeconfig_;
  ASSERT_EQ(testing::shell(kubectl + " apply -f " + definition + " && " + kubectl +
                           " wait --for=condition=Established crd --all --timeout=50s")
                .exitCode,
            0);
  const Ran right = show("databases", "spec.deletionProtection");
  EXPECT_EQ(right.err, "");
  EXPECT_THAT(right.out, StartsWith("policy own\n"));
  const Ran wrong = show("databases", "spec.deletionProtecion");
  EXPECT_EQ(wrong.exitCode, 0);
  EXPECT_THAT(wrong.out, StartsWith("policy own\n"));
  EXPECT_THAT(wrong.err, AllOf(StartsWith("warning: "), HasSubstr("own: spec.when: "),
                               HasSubstr("did you mean \"deletionProtection\"?")));
  EXPECT_THAT(show("databses", "spec.a").err, HasSubstr("did you mean \"databases.db.example.com\"?"));
  const Ran elsewhere = testing::lastout({"policy", "show", "karmada", "--kubeconfig", "/nonexistent"});
  EXPECT_EQ(elsewhere.exitCode, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("/nonexistent"));
}

// The user may discover what is served, and may not read CRDs.
TEST_F(PolicyCommand, ShowWarnsOfWhatItCannotCompare) {
  const std::string admin = (folder_ / "admin").string();
  const testing::Running cluster({"up", "--rbac", "--kubeconfig-out", admin}, "Ctrl-C ends it");
  const std::string kubectl = "kubectl --kubeconfig " + admin;
  ASSERT_EQ(testing::shell(kubectl + " apply -f " + write("crd.yaml", kDatabaseDefinition) + " && " +
                           kubectl + " wait --for=condition=Established crd --all --timeout=50s")
                .exitCode,
            0);
  std::ifstream file(admin);
  nlohmann::json config = nlohmann::json::parse(file);
  config["users"][0]["user"]["as"] = "jane";
  const std::string policy =
      write("own.yaml",
            "apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\n"
            "metadata: {name: own}\nspec:\n"
            "  objects: [{resources: [{group: db.example.com, resource: databases}]}]\n"
            "  when: [{field: {path: spec.deletionProtection}}]\n");
  const Ran ran = testing::lastout({"policy", "show", policy, "--kubeconfig", write("jane", config.dump())});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, StartsWith("policy own\n"));
  EXPECT_THAT(ran.err, AllOf(StartsWith("warning: "), HasSubstr("own: fields of databases.db.example.com"),
                             HasSubstr("cannot get resource \"customresourcedefinitions\"")));
}

TEST_F(PolicyInCluster, AppliesWhatIsNewOrOther) {
  EXPECT_EQ(policy({"apply", "orkestra", "--dry-run"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection created (dry run)\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode created (dry run)\n");
  EXPECT_EQ(policy({"apply", "orkestra"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection created\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode created\n");
  EXPECT_EQ(policy({"apply", "orkestra"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection unchanged\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode unchanged\n");
  std::string text = testing::lastout({"policy", "show", "orkestra", "-o", "yaml"}).out;
  text.replace(text.rfind("failurePolicy: Fail"), 19, "failurePolicy: Ignore");
  EXPECT_EQ(policy({"apply", "-", "--dry-run"}, text).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection unchanged (dry run)\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode updated (dry run)\n");
  EXPECT_EQ(policy({"apply", "-"}, text).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection unchanged\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode updated\n");
  EXPECT_EQ(policy({"apply", "orkestra"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection unchanged\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode updated\n");
}

// What was in the policy before, and is not any more, is gone.
TEST_F(PolicyInCluster, AppliesTheWholeSpec) {
  policy({"apply", "-"}, std::string(kOwnPolicy) + "  overrides: [{label: a/b}]\n");
  EXPECT_EQ(policy({"apply", "-"}, kOwnPolicy).out, "deletionpolicies.lastout.dev/own updated\n");
  EXPECT_EQ(policy({"apply", "-"}, kOwnPolicy).out, "deletionpolicies.lastout.dev/own unchanged\n");
}

TEST_F(PolicyInCluster, RemovesThePoliciesOfAProfile) {
  policy({"apply", "orkestra", "-"}, kOwnPolicy);
  EXPECT_EQ(policy({"remove", "orkestra", "--dry-run"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection deleted (dry run)\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode deleted (dry run)\n");
  EXPECT_EQ(policy({"remove", "orkestra"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection deleted\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode deleted\n");
  EXPECT_EQ(policy({"remove", "orkestra"}).out,
            "deletionpolicies.lastout.dev/orkestra-delete-protection was not there\n"
            "deletionpolicies.lastout.dev/orkestra-strict-mode was not there\n");
  EXPECT_EQ(policy({"apply", "-"}, kOwnPolicy).out, "deletionpolicies.lastout.dev/own unchanged\n");
}

}  // namespace
}  // namespace lastout
