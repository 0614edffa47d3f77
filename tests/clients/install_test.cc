// Install manifests of the shape that operators ship, of our own invention: tests/clients/install/*.yaml. All
// of each is loaded and applied, and kubectl gets, describes and explains every type in it.
#include <gmock/gmock.h>

#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// What kubectl has to do with each type of the manifest; says what failed, and how many types there are.
constexpr const char* kEveryType = R"(
ran() { timeout 60 kubectl "$@" >$FOLDER/out 2>&1 || { echo "failed: kubectl $*"; cat $FOLDER/out; }; }
grep -q 'kind: APIService' $MANIFEST && ran wait --for=condition=Available apiservices --all --timeout=50s
kubectl get -f $MANIFEST --no-headers -o custom-columns=K:.kind,V:.apiVersion | sort -u >$FOLDER/types
kubectl api-resources --no-headers --verbs=list >$FOLDER/known
while read -r kind version; do
  group=${version%/*}
  type=$(awk -v k=$kind -v v=$version -v g=$group/ '$NF == k && ($(NF-2) == v || index($(NF-2), g) == 1) {print $1}' $FOLDER/known)
  name=$type; [ $group = $version ] || name=$type.$group
  ran get $name -A -o wide
  ran explain $type --api-version=$version
  ran explain $type.metadata.name --api-version=$version
  ran explain $type --recursive --api-version=$version
done <$FOLDER/types
wc -l <$FOLDER/types
)";

struct Install {
  const char* name;
  int types;            // how many there are in it
  const char* service;  // of the webhook that reviews its own instances; "": none does
};

class InstallManifest : public Cluster, public ::testing::WithParamInterface<Install> {
 protected:
  static std::string file() { return std::string("tests/clients/install/") + GetParam().name + ".yaml"; }
  void expectEveryObjectIsTold() const {
    kubectl("get -f " + file() + " -o wide");
    kubectl("describe -f " + file());
  }
  // As people do: once more when the types are there, and once more without the webhooks that nobody runs.
  void applyAll(const std::string& line) const {
    EXPECT_THAT(kubectl(line, 1), HasSubstr("ensure CRDs are installed first"));
    const std::string service = GetParam().service;
    if (!service.empty()) {
      EXPECT_THAT(kubectl(line, 1), HasSubstr("lastout up does not know where service " + service +
                                              " listens: start it with --service " + service + "="));
      write("instances.sh",
            "kubectl delete validatingwebhookconfigurations --all && "
            "sed 's/failurePolicy: Fail/failurePolicy: Ignore/' " +
                file() + " >$FOLDER/all.yaml");
      EXPECT_EQ(run("sh $FOLDER/instances.sh").exitCode, 0);
      kubectl(line.substr(0, line.rfind(' ')) + " $FOLDER/all.yaml");
    } else {
      kubectl(line);
    }
    expectEveryObjectIsTold();
  }
};

TEST_P(InstallManifest, IsLoaded) {
  start({"--speed", "20", "--load", file()});
  expectEveryObjectIsTold();
  write("every-type.sh", kEveryType);
  EXPECT_EQ(run("MANIFEST=" + file() + " sh $FOLDER/every-type.sh").out,
            std::to_string(GetParam().types) + "\n");
}

TEST_P(InstallManifest, IsAppliedByKubectl) {
  start({"--speed", "20"});
  applyAll("apply -f " + file());
}

TEST_P(InstallManifest, IsAppliedByTheServer) {
  start({"--speed", "20", "--kubernetes", "1.26"});
  EXPECT_THAT(kubectl("version"), HasSubstr("v1.26"));
  applyAll("apply --server-side -f " + file());
}

INSTANTIATE_TEST_SUITE_P(Operators, InstallManifest,
                         ::testing::Values(Install{"archive", 16, "archive-system/archive-webhook"},
                                           Install{"fleet", 19, ""}, Install{"gateway", 20, ""},
                                           Install{"guardrails", 21, "guardrails/guardrails"},
                                           Install{"ledger", 21, ""}),
                         [](const auto& info) { return std::string(info.param.name); });

class Explain : public Cluster {
 public:
  void SetUp() override {
    Cluster::SetUp();
    start({"--load", "tests/clients/install/archive.yaml", "--load", "tests/clients/install/gateway.yaml",
           "--load", "tests/clients/install/fleet.yaml"});
  }
};

TEST_F(Explain, TellsOfACustomTypeWhatItsSchemaSays) {
  EXPECT_THAT(
      kubectl("explain archives"),
      AllOf(HasSubstr("GROUP:      archive.example.com"), HasSubstr("KIND:       Archive"),
            HasSubstr("Archive says what is kept of a namespace, and how often."),
            ContainsRegex("apiVersion\t<string>"), ContainsRegex("metadata\t<ObjectMeta>"),
            ContainsRegex("spec\t<Object> -required-"), HasSubstr("What was seen of this archive last.")));
  EXPECT_THAT(kubectl("explain archive.spec"),
              AllOf(ContainsRegex("items\t<\\[\\]Object>"), ContainsRegex("keep\t<integer>"),
                    HasSubstr("enum: Full, Changes")));
  EXPECT_THAT(kubectl("explain arc.spec.items.names"), HasSubstr("FIELD: names <[]string>"));
  EXPECT_THAT(kubectl("explain archives.spec.shelf.options"),
              HasSubstr("FIELD: options <map[string]string>"));
  EXPECT_THAT(kubectl("explain routes.spec.rules.match.headers.exact"), HasSubstr("The whole value."));
  EXPECT_THAT(kubectl("explain archives --recursive"), AllOf(ContainsRegex("\n    items\t<\\[\\]Object>"),
                                                             ContainsRegex("\n      names\t<\\[\\]string>")));
  EXPECT_THAT(kubectl("explain archives.spec.nothing", 1), HasSubstr("field \"nothing\" does not exist"));
}

TEST_F(Explain, AddsWhatEveryObjectHas) {
  EXPECT_THAT(kubectl("explain clusters.metadata.finalizers"), HasSubstr("until all of these are gone"));
  EXPECT_THAT(kubectl("explain routes --api-version=gateway.example.org/v1alpha1"),
              AllOf(HasSubstr("VERSION:    v1alpha1"), ContainsRegex("metadata\t<ObjectMeta>")));
  EXPECT_THAT(kubectl("explain bundles.spec.objects"),
              AllOf(ContainsRegex("kind\t<string>"), ContainsRegex("metadata\t<ObjectMeta>")));
}

TEST_F(Explain, TellsOfBuiltInTypes) {
  EXPECT_THAT(kubectl("explain deployments"),
              AllOf(HasSubstr("GROUP:      apps"), ContainsRegex("metadata\t<ObjectMeta>"),
                    ContainsRegex("spec\t<Object>"), ContainsRegex("status\t<Object>")));
  EXPECT_THAT(kubectl("explain deployment.spec.template.spec.containers.image"),
              HasSubstr("FIELD: image <string>"));
  EXPECT_THAT(kubectl("explain cm.data"), HasSubstr("FIELD: data <map[string]string>"));
  EXPECT_THAT(kubectl("explain pods --recursive"), ContainsRegex("ownerReferences\t<\\[\\]OwnerReference>"));
}

TEST_F(Explain, FollowsAChangedType) {
  kubectl("explain archives.spec.paused");
  EXPECT_EQ(kubectl("patch crd archives.archive.example.com --type json -p "
                    "'[{\"op\": \"add\", \"path\": "
                    "\"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/colour\", "
                    "\"value\": {\"type\": \"string\", \"description\": \"Of its label.\"}}]'"),
            "customresourcedefinition.apiextensions.k8s.io/archives.archive.example.com patched");
  EXPECT_THAT(kubectl("explain archives.spec.colour"), HasSubstr("Of its label."));
  kubectl("delete crd archives.archive.example.com");
  waitUntil("! kubectl explain archives");
}

}  // namespace
}  // namespace lastout::clients
