// `lastout check` of all of deploy/ beside a `lastout serve` for each role, as a person sees it who breaks
// one thing after the other.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/clients/serving.h"
#include "tests/clients/story.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kUsers = R"(users:
- {token: token-of-jane, username: jane}
- {token: token-of-the-webhook, username: "system:serviceaccount:lastout:lastout-webhook"}
- {token: token-of-the-controller, username: "system:serviceaccount:lastout:lastout-controller"}
)";

class Checked : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    write("users.yaml", kUsers);
    write("controller.yaml", std::string(kCrd) + kController);
    start({"--rbac", "--speed", "50", "--load", (folder_ / "controller.yaml").string(), "--tokens",
           (folder_ / "users.yaml").string()});
    for (const std::string who : {"webhook", "controller", "jane"}) {
      run("cp $CONFIG $FOLDER/" + who);
      kubectl("--kubeconfig $FOLDER/" + who + " config set-credentials " + who + " --token=token-of-" +
              (who == "jane" ? "" : "the-") + who);
      kubectl("--kubeconfig $FOLDER/" + who + " config set-context --current --user=" + who);
    }
  }

  void installAndServe() {
    kubectl("apply -k deploy");
    write("reads.yaml", kReads);
    kubectl("apply -f $FOLDER/reads.yaml");
    serveRoles(
        {"--policies", "webhook", "--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls"});
    write("crd.yaml", kCrd);
    write("story.yaml", std::string(testing::kCriticalServiceExample) + kProvider + "---\n" + kInstance);
    kubectl("apply -f $FOLDER/crd.yaml");
    kubectl("wait --for=condition=Established crd/coolresources.my.crd.group --timeout=50s");
    kubectl("apply -f $FOLDER/story.yaml");
    waitUntilTheProviderIsGuarded();
    waitUntil("lastout check");
  }

  // What it prints on both outputs.
  std::string check(int expected, const std::string& options = "") const {
    const testing::Ran ran = run("lastout check " + options);
    EXPECT_EQ(ran.exitCode, expected) << ran.out;
    return ran.out;
  }
  // It says that, and is content once deploy/ is applied again.
  void expectProblem(const std::string& said) {
    EXPECT_THAT(check(1), HasSubstr("problem        " + said));
    kubectl("apply -k deploy");
    waitUntil("lastout check");
  }
};

TEST_F(Checked, SaysWhatIsBrokenUntilItIsApplied) {
  installAndServe();
  EXPECT_THAT(
      check(0),
      AllOf(StartsWith("ok             deploy/crd/criticalservices.yaml: its objects are as shipped (1)\n"),
            HasSubstr("\nok             rights of lastout-controller: all that is installed gives ("),
            HasSubstr("\nok             API server at https://127.0.0.1:"),
            HasSubstr("\nok             criticalservices.lastout.dev: all are in force (1)\n"),
            HasSubstr("\nnot-installed  deploy/components/holds-policies/rbac.yaml: none of its objects "
                      "is there (3)\n"),
            HasSubstr("\nproblems: 0, not checked: 0\n"), Not(HasSubstr("\x1b"))));
  const auto told = nlohmann::json::parse(check(0, "-o json"), nullptr, false);
  ASSERT_TRUE(told.is_object()) << told;
  EXPECT_EQ(told["whole"], true);
  EXPECT_EQ(told["findings"][0], nlohmann::json({{"state", "ok"},
                                                 {"subject", "deploy/crd/criticalservices.yaml"},
                                                 {"message", "its objects are as shipped (1)"}}));

  kubectl("delete validatingadmissionpolicy lastout-deferred-deletions");
  EXPECT_THAT(check(1), HasSubstr("validatingadmissionpolicybindings.admissionregistration.k8s.io/"
                                  "lastout-deferred-deletions: denies nothing, as its policy "
                                  "\"lastout-deferred-deletions\" is not there\n"));
  expectProblem(
      "validatingadmissionpolicies.admissionregistration.k8s.io/lastout-deferred-deletions: is not there; "
      "apply deploy/ again, or run helm upgrade\n");
  kubectl(
      "patch role lastout-webhook -n default --type json -p '[{\"op\":\"remove\",\"path\":\"/rules/0\"}]'");
  EXPECT_THAT(check(1),
              HasSubstr("rights of lastout-webhook: it may not create events in namespace default"));
  expectProblem("roles.rbac.authorization.k8s.io/default/lastout-webhook: rules");
  kubectl(
      "patch validatingadmissionpolicy lastout-deferred-deletions --type json -p "
      "'[{\"op\":\"replace\",\"path\":\"/spec/validations/0/expression\",\"value\":\"true\"}]'");
  expectProblem(
      "validatingadmissionpolicies.admissionregistration.k8s.io/lastout-deferred-deletions: "
      "spec.validations[0].expression differs");
  kubectl("delete poddisruptionbudget lastout -n lastout");
  expectProblem("deploy/disruption-budget.yaml: none of its objects is there (1); apply deploy/ again");

  EXPECT_THAT(check(1, "--kubeconfig $FOLDER/jane"),
              AllOf(HasSubstr("not-checked    namespaces/lastout: could not be checked: 403"),
                    HasSubstr("not-checked    rights of lastout-webhook: could not be checked: 403"),
                    HasSubstr("not-checked    lastout serve: could not be checked: 403"),
                    Not(HasSubstr("\nproblem "))));
  interrupt();
  EXPECT_THAT(check(1), HasSubstr("problem        lastout serve: no lastout serve runs here; "));
}

TEST_F(Checked, OfAClusterWithoutLastout) {
  EXPECT_THAT(
      check(1),
      AllOf(HasSubstr("problem        lastout serve: no lastout serve runs here; "),
            HasSubstr("problem        deploy/namespace.yaml: none of its objects is there (1); apply ")));
}

TEST_F(Checked, WhatCannotBeAskedIsBadInput) {
  EXPECT_THAT(check(2, "--kubeconfig $FOLDER/nothing"), HasSubstr("nothing"));
  EXPECT_THAT(check(2, "--lease-name A_B"), HasSubstr("--lease-name: \"A_B\" is no name of an object"));
  EXPECT_THAT(check(2, "-o yaml"), HasSubstr("yaml"));
  run("cp $CONFIG $FOLDER/away");
  kubectl("--kubeconfig $FOLDER/away config set clusters.lastout.server https://127.0.0.1:1");
  EXPECT_THAT(check(2, "--kubeconfig $FOLDER/away"), HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace lastout::clients
