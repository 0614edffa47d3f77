// kubectl delete against `lastout up`, in all its ways, and what follows from it.
#include <gmock/gmock.h>

#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using ::testing::HasSubstr;

class KubectlDelete : public Cluster {
 public:
  void SetUp() override {
    Cluster::SetUp();
    start({"--speed", "20"});
    write("web.yaml",
          "apiVersion: apps/v1\n"
          "kind: Deployment\n"
          "metadata: {name: web}\n"
          "spec:\n"
          "  replicas: 2\n"
          "  selector: {matchLabels: {app: web}}\n"
          "  template:\n"
          "    metadata: {labels: {app: web}}\n"
          "    spec: {containers: [{name: main, image: 'example.com/web:1'}]}\n");
    kubectl("create -f $FOLDER/web.yaml");
    kubectl("rollout status deployment/web --timeout=50s");
  }
  std::string left() const { return kubectl("get deployments,replicasets,pods -o name"); }
};

TEST_F(KubectlDelete, InTheBackground) {
  EXPECT_THAT(kubectl("delete deployment web --cascade=background"),
              HasSubstr("deployment.apps \"web\" deleted"));
  waitUntil("left=$(kubectl get deployments,replicasets,pods -o name) && test -z \"$left\"");
}

TEST_F(KubectlDelete, InTheForegroundWaitsForDependents) {
  EXPECT_THAT(kubectl("delete deployment web --cascade=foreground --timeout=50s"),
              HasSubstr("deployment.apps \"web\" deleted"));
  EXPECT_EQ(left(), "");
}

TEST_F(KubectlDelete, OrphansDependents) {
  kubectl("delete deployment web --cascade=orphan --timeout=50s");
  EXPECT_THAT(left(), HasSubstr("replicaset.apps/web-"));
  EXPECT_EQ(kubectl("get replicasets -o jsonpath='{.items[*].metadata.ownerReferences}'"), "");
  EXPECT_EQ(kubectl("get pods -l app=web -o jsonpath='{.items[*].metadata.ownerReferences[0].kind}'"),
            "ReplicaSet ReplicaSet");
}

TEST_F(KubectlDelete, AllOfAKind) {
  kubectl("create secret generic one");
  kubectl("create secret generic two");
  EXPECT_EQ(kubectl("delete secrets --all --wait --timeout=50s"),
            "secret \"one\" deleted\nsecret \"two\" deleted");
  EXPECT_EQ(kubectl("get secrets -o name"), "");
}

// Newer releases of kubectl name the namespace of what they have deleted.
TEST_F(KubectlDelete, InTheWordsOfANewerKubectl) {
  kubectl("create configmap settings");
  kubectl("create configmap sizes");
  std::filesystem::create_directory(folder_ / "bin");
  write("bin/kubectl",
        "#!/bin/sh\n"
        "real=$(PATH=${PATH#*/bin:} command -v kubectl)\n"
        "\"$real\" \"$@\" >\"$FOLDER/said\"\n"
        "code=$?\n"
        "sed '/ from [^ ]* namespace/!s/ deleted/ deleted from default namespace/' \"$FOLDER/said\"\n"
        "exit $code\n");
  std::filesystem::permissions(folder_ / "bin/kubectl", std::filesystem::perms::owner_all);
  EXPECT_THAT(run("kubectl delete configmap settings").out,
              HasSubstr("configmap \"settings\" deleted from default namespace"));
  EXPECT_EQ(kubectl("delete configmap sizes"), "configmap \"sizes\" deleted");
  EXPECT_EQ(kubectl("delete deployment web --dry-run=server"),
            "deployment.apps \"web\" deleted (server dry run)");
}

TEST_F(KubectlDelete, OnlyAsATrial) {
  EXPECT_THAT(kubectl("delete deployment web --dry-run=server"),
              HasSubstr("deployment.apps \"web\" deleted (server dry run)"));
  EXPECT_THAT(left(), HasSubstr("deployment.apps/web"));
}

TEST_F(KubectlDelete, ByForce) {
  kubectl("delete deployment web --cascade=orphan --timeout=50s");
  kubectl("delete replicasets --all --cascade=orphan --timeout=50s");
  const std::string pod = kubectl("get pods -o jsonpath='{.items[0].metadata.name}'");
  EXPECT_THAT(kubectl("delete pod " + pod + " --force --grace-period=0"),
              HasSubstr("pod \"" + pod + "\" force deleted"));
  EXPECT_THAT(kubectl("get pod " + pod, 1), HasSubstr("(NotFound)"));
}

TEST_F(KubectlDelete, OfANamespaceTakesItsContent) {
  kubectl("create namespace shop");
  kubectl("create configmap settings -n shop");
  EXPECT_EQ(kubectl("delete namespace shop --timeout=50s"), "namespace \"shop\" deleted");
  EXPECT_THAT(kubectl("get configmap settings -n shop", 1), HasSubstr("(NotFound)"));
}

TEST_F(KubectlDelete, WaitsForFinalizers) {
  kubectl("create configmap kept");
  kubectl("patch configmap kept --type=merge -p '{\"metadata\":{\"finalizers\":[\"example.com/keep\"]}}'");
  EXPECT_EQ(kubectl("delete configmap kept --wait=false"), "configmap \"kept\" deleted");
  EXPECT_THAT(kubectl("wait --for=delete configmap/kept --timeout=1s", 1), HasSubstr("timed out"));
  kubectl("patch configmap kept --type=merge -p '{\"metadata\":{\"finalizers\":null}}'");
  EXPECT_THAT(kubectl("get configmap kept", 1), HasSubstr("(NotFound)"));
}

}  // namespace
}  // namespace lastout::clients
