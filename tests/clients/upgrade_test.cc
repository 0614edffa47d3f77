// From one Deployment and one account to two of each, as docs/install.md has it: the former one goes on
// working with its former rights, and the story stays guarded.
#include <gmock/gmock.h>

#include "tests/clients/serving.h"
#include "tests/clients/story.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFormerRights = "tests/clients/former/rbac.yaml";
// Their rights come from RBAC alone.
constexpr const char* kAccounts = R"(users:
- {token: token-of-the-former, username: "system:serviceaccount:lastout:lastout"}
- {token: token-of-the-webhook, username: "system:serviceaccount:lastout:lastout-webhook"}
- {token: token-of-the-controller, username: "system:serviceaccount:lastout:lastout-controller"}
)";
constexpr const char* kDeleteTheProvider =
    "delete deployment finalizer-deployment -n finalizer-namespace --dry-run=server";

class Upgraded : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    write("crd.yaml", kCrd);
    write("story.yaml", std::string(testing::kCriticalServiceExample) + kProvider + "---\n" + kInstance);
    write("controller.yaml", std::string(kCrd) + kController);
    write("users.yaml", kAccounts);
    start({"--rbac", "--speed", "50", "--load", (folder_ / "controller.yaml").string(), "--tokens",
           (folder_ / "users.yaml").string()});
    for (const std::string who : {"former", "webhook", "controller"}) {
      run("cp $CONFIG $FOLDER/" + who);
      kubectl("--kubeconfig $FOLDER/" + who + " config set-credentials " + who + " --token=token-of-the-" +
              who);
      kubectl("--kubeconfig $FOLDER/" + who + " config set-context --current --user=" + who);
    }
    kubectl("apply -f deploy/namespace.yaml -f deploy/crd/criticalservices.yaml");
    kubectl(std::string("apply -f ") + kFormerRights);
    write("reads.yaml", kReads);
    kubectl("apply -f $FOLDER/reads.yaml");
  }

  void createStory() const {
    kubectl("apply -f $FOLDER/crd.yaml");
    kubectl("wait --for=condition=Established crd/coolresources.my.crd.group --timeout=50s");
    kubectl("apply -f $FOLDER/story.yaml");
    waitUntilTheProviderIsGuarded();
  }
  void expectGuarded() const { EXPECT_THAT(kubectl(kDeleteTheProvider, 1), HasSubstr("must stay while")); }
};

// What the former Deployment says on its command line, without --roles.
const std::vector<std::string> kFormerOptions{"--listen",      "127.0.0.1:0",  "--own-namespace",
                                              "lastout",       "--tls-secret", "lastout/lastout-tls",
                                              "--deny-status", "403"};

TEST_F(Upgraded, TheFormerOneGoesOnUntilItIsDeleted) {
  auto former = started(kFormerOptions, "former");
  createStory();
  expectGuarded();

  kubectl("apply -k deploy");
  serveRoles({"--policies", "webhook", "--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls"});
  expectGuarded();
  const std::string holder = kubectl("get lease lastout -n lastout -o jsonpath={.spec.holderIdentity}");

  EXPECT_EQ(former->interrupt().exitCode, 0);
  waitUntil("test \"$(kubectl get lease lastout -n lastout -o jsonpath={.spec.holderIdentity})\" != " +
            holder);
  waitUntil("kubectl " + std::string(kDeleteTheProvider) + " 2>&1 | grep -q 'must stay while'");
  run("kubectl delete clusterrole,clusterrolebinding,serviceaccount,role,rolebinding lastout -n lastout && "
      "kubectl delete role,rolebinding lastout -n default && "
      "kubectl delete clusterrole,clusterrolebinding lastout-holds-providers");
  expectGuarded();
  EXPECT_THAT(kubectl("get clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts -A -o name"),
              Not(HasSubstr("/lastout\n")));

  kubectl("delete coolresource some-instance --timeout=50s");
  kubectl("delete crd coolresources.my.crd.group --timeout=50s");
  waitUntil("kubectl delete namespace finalizer-namespace --ignore-not-found --timeout=50s");
  waitUntil("kubectl delete criticalservices --all --timeout=50s");
}

}  // namespace
}  // namespace lastout::clients
