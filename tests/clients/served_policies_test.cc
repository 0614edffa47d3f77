// Deletion policies that ask of other objects, beside `lastout serve`, by kubectl.
#include <gmock/gmock.h>

#include "tests/clients/serving.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Usages : public Serving {
 public:
  void SetUp() override {
    Serving::SetUp();
    start();
    kubectl("apply -f scenarios/crds/usage.yaml");
    kubectl("apply -f protection/profiles/usage.yaml");
    serve();
  }
  void create(const std::string& yaml) const {
    write("objects.yaml", "apiVersion: protection.crossplane.io/v1beta1\n" + yaml);
    kubectl("apply -f $FOLDER/objects.yaml");
  }
  void waitUntilDenied(const std::string& object) const {
    waitUntil("kubectl delete " + object + " --dry-run=server 2>&1 | grep in-use");
  }
};

constexpr const char* kDatabaseInUse = R"(kind: Usage
metadata: {name: app-uses-db}
spec:
  of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}
  by: {apiVersion: apps/v1, kind: Deployment, resourceRef: {name: app}}
)";

TEST_F(Usages, AnObjectInUseIsDeniedAsCrossplaneDoes) {
  kubectl("create configmap db");
  kubectl("create configmap free");
  create(kDatabaseInUse);
  waitUntilDenied("configmap db");
  EXPECT_THAT(kubectl("delete configmap db", 1),
              AllOf(HasSubstr("(Conflict)"),
                    HasSubstr("nousages.protection.crossplane.io\" denied the request: "
                              "This resource is in-use by 1 usage(s), including the *v1beta1.Usage "
                              "\"app-uses-db\" (in namespace \"default\") by resource Deployment/app.")));
  kubectl("delete configmap free");
  create(
      "kind: Usage\nmetadata: {name: a-reason}\n"
      "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}, reason: in production}\n");
  waitUntil("kubectl delete configmap db --dry-run=server 2>&1 | grep 'in-use by 2 usage'");
  EXPECT_THAT(kubectl("delete configmap db", 1),
              HasSubstr("the *v1beta1.Usage \"a-reason\" (in namespace \"default\") with reason: \"in "
                        "production\"."));
  kubectl("delete usages --all");
  waitUntil("kubectl delete configmap db");
}

TEST_F(Usages, ANamespacedUsageOfAClusterScopedObjectSaysThatItDoesNot) {
  kubectl("create clusterrole view-db --verb=get --resource=configmaps");
  const std::string of =
      "spec: {reason: r, of: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, "
      "resourceRef: {name: view-db}}}\n";
  create("kind: Usage\nmetadata: {name: role}\n" + of);
  waitUntil("kubectl get events -o yaml | grep NotProtected");
  EXPECT_THAT(kubectl("get events -o yaml"),
              AllOf(HasSubstr("name: role"), HasSubstr("which is cluster-scoped")));
  EXPECT_THAT(kubectl("delete clusterrole view-db --dry-run=server"), Not(HasSubstr("in-use")));
  create("kind: ClusterUsage\nmetadata: {name: role}\n" + of);
  waitUntilDenied("clusterrole view-db");
  EXPECT_THAT(kubectl("delete clusterrole view-db", 1),
              HasSubstr("including the *v1beta1.ClusterUsage \"role\" with reason: \"r\"."));
}

}  // namespace
}  // namespace lastout::clients
