// Which types are served, and what a CRD makes of it.
#include "simulator/served_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/object.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

const kube::GroupResource kCoolResources{"my.crd.group", "coolresources"};

Json coolCrd() { return recordedRequest("010-create-crd"); }

Json versionNamed(const std::string& name, bool served, bool storage) {
  Json version = coolCrd()["spec"]["versions"][0];
  version["name"] = name;
  version["served"] = served;
  version["storage"] = storage;
  return version;
}

std::vector<std::string> fieldsOf(const ApiError& error) {
  std::vector<std::string> fields;
  for (const Json& cause : error.details["causes"]) fields.push_back(cause["field"]);
  return fields;
}

TEST(TypeRegistry, KnowsABuiltInTypeByItsResource) {
  const TypeRegistry types;
  const ServedTypePointer deployment = types.find("apps", "v1", "deployments");
  ASSERT_NE(deployment, nullptr);
  EXPECT_EQ(deployment, types.findPreferred({"apps", "deployments"}));
  EXPECT_EQ(deployment->apiVersion(), "apps/v1");
  EXPECT_EQ(deployment->listKind, "DeploymentList");
  EXPECT_TRUE(deployment->tracksGeneration);
  EXPECT_EQ(deployment->subresource("scale")->kind, "Scale");
  EXPECT_EQ(deployment->subresource("finalize"), nullptr);
  EXPECT_EQ(types.find("apps", "v1beta1", "deployments"), nullptr);
  EXPECT_NE(types.find("batch", "v1", "jobs"), nullptr);
  EXPECT_EQ(types.find("batch", "v1beta1", "cronjobs"), nullptr);
}

TEST(TypeRegistry, TracksTheGenerationOfWhatTheRecordedServerGaveOne) {
  const TypeRegistry types(kube::KubernetesVersion::V1_26);
  EXPECT_FALSE(types.find("", "v1", "pods")->tracksGeneration);
  EXPECT_TRUE(TypeRegistry().find("", "v1", "pods")->tracksGeneration);  // rest/074 of 1.36
  EXPECT_FALSE(types.find("", "v1", "namespaces")->tracksGeneration);
  for (const char* name : {"009-create-namespace-app", "010-create-crd", "072-create-deployment",
                           "091-create-configmap-with-finalizer", "098-create-webhook-configuration"}) {
    const Json object = recordedAnswer(name);
    const auto* known = types.resources().findKind(kube::groupOf(std::string(object["apiVersion"])),
                                                   std::string(object["kind"]));
    ASSERT_NE(known, nullptr) << name;
    const auto type = types.findPreferred(known->type);
    EXPECT_EQ(type->tracksGeneration, object["metadata"].contains("generation")) << name;
  }
}

TEST(TypeRegistry, ServesWhatOurOwnCrdAndOpenClusterManagementsDefine) {
  const TypeRegistry types;
  const ServedTypePointer service = types.find("lastout.dev", "v1alpha1", "criticalservices");
  ASSERT_NE(service, nullptr);
  EXPECT_FALSE(service->builtIn);
  EXPECT_FALSE(service->namespaced);
  EXPECT_EQ(service->columns.front().name, "Type");
  EXPECT_TRUE(service->schema["properties"]["spec"].is_object());
  EXPECT_TRUE(types.find("work.open-cluster-management.io", "v1", "manifestworks")->namespaced);
  EXPECT_FALSE(types.find("work.open-cluster-management.io", "v1", "appliedmanifestworks")->namespaced);
}

TEST(TypeRegistry, ServesACrdFromItsCreationToItsRemoval) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(coolCrd()));
  const ServedTypePointer cool = types.find("my.crd.group", "v1", "coolresources");
  ASSERT_NE(cool, nullptr);
  EXPECT_EQ(cool->storageVersionHash,
            recordedAnswer("012-discovery-crd-group")["resources"][0]["storageVersionHash"]);
  EXPECT_EQ(types.resources().findKind("my.crd.group", "CoolResource")->type, kCoolResources);

  types.remove(kCoolResources);
  EXPECT_EQ(types.find("my.crd.group", "v1", "coolresources"), nullptr);
  EXPECT_EQ(types.resources().find(kCoolResources), nullptr);
  EXPECT_NE(types.resources().find({"", "pods"}), nullptr);
  EXPECT_EQ(cool->kind, "CoolResource");  // whoever holds it may go on
}

TEST(TypeRegistry, ServesThoseVersionsOfACrdThatAreServedAndPrefersTheMostStable) {
  Json crd = coolCrd();
  crd["spec"]["versions"] = Json::array({versionNamed("v1beta1", true, true), versionNamed("v1", true, false),
                                         versionNamed("v2alpha1", false, false)});
  TypeRegistry types;
  ASSERT_TRUE(types.put(crd));
  EXPECT_EQ(types.findPreferred(kCoolResources)->version, "v1");
  const std::vector<ServedGroup> groups = types.groups();
  EXPECT_THAT(std::ranges::find(groups, kCoolResources.group, &ServedGroup::name)->versions,
              ElementsAre("v1", "v1beta1"));
  EXPECT_EQ(types.find("my.crd.group", "v2alpha1", "coolresources"), nullptr);
  EXPECT_EQ(types.findPreferred(kCoolResources)->storageVersionHash,
            storageVersionHash("my.crd.group", "v1beta1", "CoolResource"));

  crd["spec"]["versions"] = Json::array({versionNamed("v1", false, true)});
  ASSERT_TRUE(types.put(crd));
  EXPECT_EQ(types.findPreferred(kCoolResources), nullptr);
}

TEST(TypeRegistry, RefusesACrdWithAllItsCauses) {
  Json crd = coolCrd();
  crd["metadata"]["name"] = "other.my.crd.group";
  crd["spec"]["scope"] = "Galaxy";
  crd["spec"]["names"].erase("kind");
  crd["spec"]["versions"][0]["storage"] = false;
  crd["spec"]["versions"][0].erase("schema");
  TypeRegistry types;
  const auto refused = types.put(crd);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_THAT(fieldsOf(refused.error()),
              UnorderedElementsAre("metadata.name", "spec.scope", "spec.names.kind", "spec.versions",
                                   "spec.versions[0].schema.openAPIV3Schema"));
  for (const Json& nonsense :
       {Json(nullptr), Json("x"), Json::parse(R"({"spec": {"versions": 3, "names": []}})")})
    EXPECT_FALSE(types.put(nonsense));
}

TEST(TypeRegistry, DoesNotLetACrdTakeTheNamesOfAnotherType) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(coolCrd()));
  Json other = coolCrd();
  other["metadata"]["name"] = "otherresources.my.crd.group";
  other["spec"]["names"] = {{"plural", "otherresources"}, {"kind", "CoolResource"}};
  EXPECT_EQ(types.takenName(other)->reason, "SingularConflict");
  other["spec"]["names"]["singular"] = "other";
  EXPECT_EQ(types.takenName(other)->reason, "KindConflict");
  EXPECT_EQ(types.takenName(other)->message, "\"CoolResource\" is already in use");
  EXPECT_EQ(types.put(other).error().code, 409);
  other["spec"]["names"]["kind"] = "Other";
  EXPECT_TRUE(types.put(other));
}

TEST(TypeRegistry, LetsNoCrdReplaceABuiltInType) {
  Json crd = coolCrd();
  crd["metadata"]["name"] = "leases.coordination.k8s.io";
  crd["spec"]["group"] = "coordination.k8s.io";
  crd["spec"]["names"] = {{"plural", "leases"}, {"kind", "Lease"}};
  TypeRegistry types;
  EXPECT_THAT(fieldsOf(types.put(crd).error()),
              ElementsAre("metadata.annotations[api-approved.kubernetes.io]"));
  crd["metadata"]["annotations"]["api-approved.kubernetes.io"] = "unapproved";
  EXPECT_EQ(types.put(crd).error().code, 409);
  types.remove({"coordination.k8s.io", "leases"});
  EXPECT_TRUE(types.find("coordination.k8s.io", "v1", "leases")->builtIn);
}

}  // namespace
}  // namespace lastout::simulator
