// Several deletion policies and a CriticalService about one object: whatever any of them denies is denied,
// and each is named. As docs/protection.md has it under "Several rules about one object".
#include <gmock/gmock.h>

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
