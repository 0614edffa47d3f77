// kubectl against `lastout up`: what people type all day. Expectations are what kubectl 1.20 to 1.36 print on
// a real cluster.
#include <gmock/gmock.h>

#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kShop = R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "example.com/web:1"}
)";

class Kubectl : public Cluster {
 public:
  void SetUp() override {
    Cluster::SetUp();
    start({"--speed", "20"});
    write("shop.yaml", kShop);
    kubectl("create -f $FOLDER/shop.yaml");
  }
};

using KubectlApply = Kubectl;

TEST_F(KubectlApply, CreatesChangesAndLeavesAlone) {
  kubectl("delete -f $FOLDER/shop.yaml");
  EXPECT_EQ(kubectl("apply -f $FOLDER/shop.yaml"),
            "namespace/shop created\nconfigmap/settings created\ndeployment.apps/web created");
  EXPECT_EQ(kubectl("apply -f $FOLDER/shop.yaml"),
            "namespace/shop unchanged\nconfigmap/settings unchanged\ndeployment.apps/web unchanged");
  run("sed -i s/blue/green/ $FOLDER/shop.yaml");
  EXPECT_THAT(kubectl("apply -f $FOLDER/shop.yaml"), HasSubstr("configmap/settings configured"));
  EXPECT_EQ(kubectl("get configmap settings -n shop -o jsonpath='{.data.colour}'"), "green");
}

TEST_F(KubectlApply, IsDoneByTheServerWhenAsked) {
  run("sed -i s/blue/red/ $FOLDER/shop.yaml");
  EXPECT_THAT(kubectl("apply --server-side --force-conflicts -f $FOLDER/shop.yaml"),
              HasSubstr("configmap/settings serverside-applied"));
  EXPECT_EQ(kubectl("get configmap settings -n shop -o jsonpath='{.data.colour}'"), "red");
}

using KubectlCreate = Kubectl;

TEST_F(KubectlCreate, MakesObjectsFromItsArguments) {
  EXPECT_EQ(kubectl("create namespace other"), "namespace/other created");
  EXPECT_EQ(kubectl("create configmap sizes -n other --from-literal=large=9"), "configmap/sizes created");
  EXPECT_EQ(kubectl("get configmap sizes -n other -o jsonpath='{.data.large}'"), "9");
  EXPECT_EQ(kubectl("create secret generic keys -n other --from-literal=word=hunter2"),
            "secret/keys created");
  EXPECT_EQ(kubectl("get secret keys -n other -o jsonpath='{.data.word}'"), "aHVudGVyMg==");
  EXPECT_EQ(kubectl("create serviceaccount robot -n other"), "serviceaccount/robot created");
  EXPECT_EQ(kubectl("create deployment idle -n other --image=example.com/idle:1 --replicas=0"),
            "deployment.apps/idle created");
  EXPECT_EQ(kubectl("get deployment idle -n other -o jsonpath='{.spec.replicas}'"), "0");
  EXPECT_EQ(kubectl("create role reader -n other --verb=get --resource=pods"),
            "role.rbac.authorization.k8s.io/reader created");
  EXPECT_THAT(kubectl("create namespace other", 1),
              HasSubstr("Error from server (AlreadyExists): namespaces \"other\" already exists"));
}

using KubectlGet = Kubectl;

TEST_F(KubectlGet, PrintsTables) {
  kubectl("rollout status deployment/web -n shop --timeout=50s");
  EXPECT_THAT(kubectl("get deployments -n shop"),
              ContainsRegex("NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2/2 +2 +2 +[0-9]+"));
  EXPECT_THAT(kubectl("get deployments -n shop -o wide"),
              AllOf(HasSubstr("CONTAINERS"), HasSubstr("example.com/web:1"), HasSubstr("app=web")));
  EXPECT_THAT(kubectl("get pods -n shop -l app=web"),
              ContainsRegex("NAME +READY +STATUS +RESTARTS +AGE\nweb-.* +1/1 +Running +0 +"));
  EXPECT_THAT(kubectl("get namespaces shop"), ContainsRegex("NAME +STATUS +AGE\nshop +Active +"));
  EXPECT_EQ(kubectl("get pods -n shop -l app=none"), "No resources found in shop namespace.");
  EXPECT_EQ(kubectl("get pod none -n shop", 1), "Error from server (NotFound): pods \"none\" not found");
  EXPECT_EQ(kubectl("get nonsense", 1), "error: the server doesn't have a resource type \"nonsense\"");
}

TEST_F(KubectlGet, PrintsObjectsInEveryForm) {
  EXPECT_THAT(kubectl("get configmap settings -n shop -o yaml"),
              AllOf(HasSubstr("\ndata:\n  colour: blue\n"), HasSubstr("\nkind: ConfigMap\n")));
  EXPECT_THAT(kubectl("get configmap settings -n shop -o json"), HasSubstr("\"colour\": \"blue\""));
  EXPECT_EQ(kubectl("get configmap settings -n shop -o name"), "configmap/settings");
  EXPECT_THAT(kubectl("get configmap settings -n shop -o custom-columns=N:.metadata.name,C:.data.colour"),
              ContainsRegex("N +C\nsettings +blue"));
}

TEST_F(KubectlGet, WatchesUntilItsTimeIsUp) {
  // A watch that began tells what is there; then another kubectl deletes it, and the watch tells that too.
  write("watch.sh",
        "mkfifo $FOLDER/watched\n"
        "timeout 300 kubectl get configmaps -n shop -w --output-watch-events >$FOLDER/watched &\n"
        "while read -r line; do\n"
        "  echo \"$line\"\n"
        "  case $line in\n"
        "    ADDED*settings*) kubectl delete configmap settings -n shop --wait=false ;;\n"
        "    DELETED*settings*) break ;;\n"
        "  esac\n"
        "done <$FOLDER/watched\n"
        "kill $!\n");
  const testing::Ran ran = run("sh $FOLDER/watch.sh");
  EXPECT_THAT(ran.out, AllOf(ContainsRegex("ADDED +settings"), ContainsRegex("DELETED +settings")));
  EXPECT_THAT(run("timeout 60 kubectl get namespaces -w --request-timeout=2s").out, HasSubstr("shop"));
}

using KubectlChange = Kubectl;

TEST_F(KubectlChange, LabelsAndAnnotates) {
  EXPECT_EQ(kubectl("label configmap settings -n shop tier=front"), "configmap/settings labeled");
  EXPECT_THAT(kubectl("label configmap settings -n shop tier=back", 1),
              HasSubstr("'tier' already has a value (front), and --overwrite is false"));
  EXPECT_EQ(kubectl("label configmap settings -n shop tier=back --overwrite"), "configmap/settings labeled");
  EXPECT_EQ(kubectl("get configmaps -n shop -l tier=back -o name"), "configmap/settings");
  EXPECT_THAT(kubectl("label configmap settings -n shop tier-"), HasSubstr("configmap/settings "));
  EXPECT_EQ(kubectl("annotate configmap settings -n shop note=x"), "configmap/settings annotated");
  EXPECT_EQ(kubectl("get configmap settings -n shop -o jsonpath='{.metadata.labels}{.metadata.annotations}'"),
            "{\"note\":\"x\"}");
}

TEST_F(KubectlChange, PatchesInThreeWays) {
  EXPECT_EQ(kubectl("patch configmap settings -n shop --type=json "
                    "-p '[{\"op\":\"add\",\"path\":\"/data/size\",\"value\":\"9\"}]'"),
            "configmap/settings patched");
  EXPECT_EQ(kubectl("patch configmap settings -n shop --type=merge -p '{\"data\":{\"colour\":null}}'"),
            "configmap/settings patched");
  EXPECT_EQ(kubectl("get configmap settings -n shop -o jsonpath='{.data}'"), "{\"size\":\"9\"}");
  // The list of containers is merged by name: the second one joins the first.
  EXPECT_EQ(kubectl("patch deployment web -n shop -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":"
                    "[{\"name\":\"side\",\"image\":\"example.com/side:1\"}]}}}}'"),
            "deployment.apps/web patched");
  EXPECT_THAT(kubectl("get deployment web -n shop -o jsonpath='{.spec.template.spec.containers[*].name}'"),
              AnyOf("main side", "side main"));
}

TEST_F(KubectlChange, ScalesAndWaits) {
  EXPECT_EQ(kubectl("scale deployment web -n shop --replicas=3"), "deployment.apps/web scaled");
  EXPECT_THAT(kubectl("rollout status deployment/web -n shop --timeout=50s"),
              HasSubstr("deployment \"web\" successfully rolled out"));
  EXPECT_EQ(kubectl("wait --for=condition=Available deployment/web -n shop --timeout=50s"),
            "deployment.apps/web condition met");
  EXPECT_EQ(kubectl("get deployment web -n shop -o jsonpath='{.status.readyReplicas}'"), "3");
  EXPECT_EQ(kubectl("scale deployment web -n shop --current-replicas=7 --replicas=1", 1),
            "error: Expected replicas to be 7, was 3");
}

using KubectlDescribe = Kubectl;

TEST_F(KubectlDescribe, TellsWhatThereIs) {
  kubectl("rollout status deployment/web -n shop --timeout=50s");
  EXPECT_THAT(kubectl("describe deployment web -n shop"),
              AllOf(ContainsRegex("Name: +web"), HasSubstr("2 desired | 2 updated | 2 total | 2 available"),
                    ContainsRegex("Image: +example.com/web:1")));
  EXPECT_THAT(kubectl("describe pods -n shop"), ContainsRegex("Controlled By: +ReplicaSet/web-"));
  EXPECT_THAT(kubectl("describe namespace shop"), ContainsRegex("Status: +Active"));
}

TEST_F(KubectlDescribe, ListsWhatIsServed) {
  EXPECT_THAT(kubectl("api-resources"), AllOf(ContainsRegex("deployments +deploy +apps/v1 +true +Deployment"),
                                              ContainsRegex("namespaces +ns +v1 +false +Namespace")));
  EXPECT_THAT(kubectl("api-versions"), AllOf(HasSubstr("apps/v1"), HasSubstr("lastout.dev/v1alpha1")));
  EXPECT_THAT(kubectl("version"), HasSubstr("v1.36"));
}

using KubectlAuth = Cluster;

TEST_F(KubectlAuth, MayDoWhatTheTokensFileSays) {
  write("users.yaml",
        "users:\n"
        "- token: ann-token\n"
        "  username: ann\n"
        "  rights:\n"
        "  - {verbs: [get, list], groups: [''], resources: [pods]}\n"
        "  - {verbs: [list], groups: [''], resources: [configmaps], names: [own]}\n"
        "  - {verbs: [create], groups: [authorization.k8s.io], resources: ['*']}\n");
  start({"--tokens", (folder_ / "users.yaml").string()});
  run("kubectl config set-credentials ann --token=ann-token; kubectl config set-context --current "
      "--user=ann");
  EXPECT_EQ(kubectl("auth can-i get pods"), "yes");
  EXPECT_THAT(kubectl("auth can-i delete pods", 1), HasSubstr("no"));
  EXPECT_THAT(kubectl("auth can-i --list"), ContainsRegex("pods +\\[\\] +\\[\\] +\\[get list\\]"));
  EXPECT_THAT(kubectl("get configmaps", 1), HasSubstr("cannot list resource \"configmaps\""));
  EXPECT_THAT(kubectl("get configmaps --field-selector metadata.name=own"), HasSubstr("No resources found"));
  EXPECT_THAT(kubectl("get configmaps --field-selector metadata.name=other", 1), HasSubstr("Forbidden"));
}

constexpr const char* kInstalled = R"(
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: inside, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: shop}
spec: {hard: {pods: "5"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: "example.com/nightly:1"}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: shop}
spec:
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disks
)";

// What an install manifest holds beside workloads: stored, and printed by kubectl's own words for each type.
TEST_F(Kubectl, KeepsWhateverAnInstallManifestHolds) {
  write("installed.yaml", kInstalled);
  EXPECT_EQ(kubectl("create -f $FOLDER/installed.yaml"),
            "networkpolicy.networking.k8s.io/inside created\nresourcequota/small created\n"
            "priorityclass.scheduling.k8s.io/urgent created\ncronjob.batch/nightly created\n"
            "ingress.networking.k8s.io/front created\nstorageclass.storage.k8s.io/fast created");
  EXPECT_EQ(kubectl("get netpol,quota,cj,ing -n shop -o name"),
            "networkpolicy.networking.k8s.io/inside\nresourcequota/small\ncronjob.batch/nightly\n"
            "ingress.networking.k8s.io/front");
  EXPECT_EQ(kubectl("get pc,sc -o name"),
            "priorityclass.scheduling.k8s.io/urgent\nstorageclass.storage.k8s.io/fast");
  EXPECT_THAT(kubectl("get networkpolicies -n shop"),
              ContainsRegex("NAME +POD-SELECTOR +AGE\ninside +app=web +[0-9]+"));
  EXPECT_THAT(kubectl("get cronjobs -n shop"),
              ContainsRegex("NAME +SCHEDULE .*\nnightly +0 3 \\* \\* \\* .*False +0 "));
  EXPECT_THAT(kubectl("get ingresses -n shop"),
              ContainsRegex("NAME +CLASS +HOSTS .*\nfront +<none> +shop.example.com"));
  EXPECT_THAT(kubectl("get storageclasses"),
              ContainsRegex("NAME +PROVISIONER .*\nfast +example.com/disks +Delete +Immediate"));
  EXPECT_THAT(kubectl("get priorityclasses"), ContainsRegex("NAME +VALUE .*\nurgent +1000 +false"));
  EXPECT_THAT(kubectl("get all -n shop"), HasSubstr("cronjob.batch/nightly"));
  EXPECT_THAT(kubectl("describe networkpolicy inside -n shop"), HasSubstr("PodSelector:     app=web"));
  EXPECT_THAT(kubectl("describe resourcequota small -n shop"),
              ContainsRegex("pods +0? +5|pods +5|Resource +Used +Hard"));
  EXPECT_THAT(kubectl("describe priorityclass urgent"), ContainsRegex("Value: +1000"));
  EXPECT_THAT(kubectl("describe cronjob nightly -n shop"), HasSubstr("0 3 * * *"));
  EXPECT_THAT(kubectl("describe ingress front -n shop"), HasSubstr("shop.example.com"));
  EXPECT_THAT(kubectl("describe storageclass fast"), ContainsRegex("Provisioner: +example.com/disks"));
  EXPECT_EQ(kubectl("delete -f $FOLDER/installed.yaml"),
            "networkpolicy.networking.k8s.io \"inside\" deleted\nresourcequota \"small\" deleted\n"
            "priorityclass.scheduling.k8s.io \"urgent\" deleted\ncronjob.batch \"nightly\" deleted\n"
            "ingress.networking.k8s.io \"front\" deleted\nstorageclass.storage.k8s.io \"fast\" deleted");
  EXPECT_EQ(kubectl("get netpol,quota,cj,ing -n shop -o name"), "");
}

// The Service is there; nothing says where it listens.
TEST_F(Kubectl, TellsAWebhookWhoseServiceHasNoAddress) {
  write("checks.yaml", R"(
apiVersion: v1
kind: Service
metadata: {name: reviewer, namespace: shop}
spec: {selector: {app: reviewer}, ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: reviewer}
webhooks:
- name: strict.reviewer.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: shop, name: reviewer, path: /strict}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
- name: lenient.reviewer.example.com
  failurePolicy: Ignore
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: shop, name: reviewer, path: /lenient}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE]}]
)");
  kubectl("create -f $FOLDER/checks.yaml");
  EXPECT_THAT(kubectl("create configmap more -n shop", 1),
              AllOf(HasSubstr("failed calling webhook \"strict.reviewer.example.com\""),
                    HasSubstr("lastout up does not know where service shop/reviewer listens: start it with "
                              "--service shop/reviewer=ADDRESS")));
  EXPECT_EQ(kubectl("create secret generic word -n shop"), "secret/word created");
  EXPECT_TRUE(hasSaid("warning: webhook \"lenient.reviewer.example.com\" cannot be called"));
  kubectl("delete service reviewer -n shop");
  EXPECT_THAT(kubectl("create configmap more -n shop", 1), HasSubstr("service \"reviewer\" not found"));
}

}  // namespace
}  // namespace lastout::clients
