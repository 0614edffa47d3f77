// What keeps a Namespace or a CRD because of what is in it, beside a real API.
#include "server/review/implied_protection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::definition;
using lastout::testing::Json;
using lastout::testing::kComposites;
using lastout::testing::kDefinitionsPath;
using lastout::testing::kSpaces;
using lastout::testing::objectOf;
using lastout::testing::ownerLabels;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ofAncestor(const std::string& orOfNamespace) {
  return R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      groupLabel: appcat.vshn.io/ownergroup
      versionLabel: appcat.vshn.io/ownerapiversion
      kindLabel: appcat.vshn.io/ownerkind
      nameLabel: appcat.vshn.io/ownercomposite
      orOfNamespace: )" +
         orOfNamespace + R"(
      field: {path: spec.parameters.backup.deletionProtection, whenAbsent: Protected}
  overrides: [{label: example.com/allow, values: ["true"]}]
)";
}

class Implied : public lastout::testing::ServerWorld {
 public:
  Implied() : ServerWorld({.policies = protection::PolicyMode::ApiServer}) {
    create(kDefinitionsPath, definition("vshn.appcat.vshn.io", "xvshnpostgresqls", "XVSHNPostgreSQL"));
    create(kSpaces, objectOf("v1", "Namespace", "shop", Json::object()));
  }
  void createComposite() {
    create(kComposites, objectOf("vshn.appcat.vshn.io/v1", "XVSHNPostgreSQL", "pg", Json::object()));
  }
  void createMap(const std::string& name, const Json& labels = Json::object()) {
    create(kMaps, objectOf("v1", "ConfigMap", name, labels));
  }
  void createManyMaps(const Json& labels = Json::object()) {
    for (size_t i = 0; i <= kMostImpliedObjects; ++i) createMap("m" + std::to_string(i), labels);
  }
  std::string ofNamespace(bool allowed, const std::string& said = "") {
    return messageOf(
        deletionOf(std::string(kSpaces) + "/shop", {{"", "namespaces"}, "", "shop"}, allowed, said));
  }
  std::string ofDefinition(const kube::GroupResource& type, bool allowed, const std::string& said = "") {
    return messageOf(deletionOf(std::string(kDefinitionsPath) + "/" + kube::crdName(type), kube::crdKey(type),
                                allowed, said));
  }
  static std::string messageOf(const Json& response) {
    return response["allowed"] ? "" : response["status"]["message"].get<std::string>();
  }

  static constexpr const char* kMaps = "/api/v1/namespaces/shop/configmaps";
};

// --- how many objects

TEST_F(Implied, ManyObjectsWithoutTheLabelsThatNameAnAncestorDoNotCount) {
  createComposite();
  createManyMaps();
  followAll();
  apply(ofAncestor("false"), "appcat");
  ofNamespace(true);
  createMap("z-last", {{"appcat.vshn.io/ownergroup", "vshn.appcat.vshn.io"}});
  ofNamespace(false, "holds configmaps/shop/z-last");
}

TEST_F(Implied, TheLabelsOfTheNamespaceItselfSayWhetherManyObjectsBelongToAnAncestor) {
  createManyMaps();
  followAll();
  apply(ofAncestor("true"), "appcat");
  ofNamespace(true);
  createComposite();
  patch(std::string(kSpaces) + "/shop", {{"metadata", {{"labels", ownerLabels()}}}});
  ofNamespace(false, "namespaces/shop holds configmaps/shop/m");
  remove(std::string(kComposites) + "/pg");
  ofNamespace(true);
}

TEST_F(Implied, TooManyObjectsThatMayBeProtectedAreNamedWithARemedyThatHelps) {
  createManyMaps({{"example.com/protect", "Always"}, {"example.com/allow", "true"}});
  followAll();
  apply(R"(  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/protect, values: [Always]}]
  overrides: [{label: example.com/allow, values: ["true"]}]
)",
        "labelled");
  EXPECT_THAT(
      ofNamespace(false, "there are more than 5000 configmaps that it may protect"),
      ::testing::AllOf(HasSubstr("delete some of these first, or set namespaces: Ignore in the policy"),
                       Not(HasSubstr("ClusterRole"))));
  remove(std::string(kMaps) + "/m0");
  ofNamespace(true);
}

// --- ancestors

// No Namespace names the composite's kind, so that no watch follows it.
TEST_F(Implied, WhatIsLeftOfACompositeThatIsGoneDoesNotKeepItsNamespace) {
  createMap("left", ownerLabels());
  followAll();
  apply(ofAncestor("false"), "appcat");
  ofNamespace(true);
  ofDefinition({"vshn.appcat.vshn.io", "xvshnpostgresqls"}, true);
  createComposite();
  ofNamespace(false, "it belongs to xvshnpostgresqls.vshn.appcat.vshn.io/pg");
}

// What the watch told last is not believed where it would let something go.
TEST_F(Implied, AnAncestorIsReadOnceMoreBeforeANamespaceGoes) {
  createMap("data", ownerLabels());
  Json composite = objectOf("vshn.appcat.vshn.io/v1", "XVSHNPostgreSQL", "pg", Json::object());
  composite["spec"]["parameters"]["backup"]["deletionProtection"] = false;
  create(kComposites, composite);
  followAll();
  apply(ofAncestor("false"), "appcat");
  ofNamespace(true);
  policyWatches->stop();
  patch(std::string(kComposites) + "/pg",
        {{"spec", {{"parameters", {{"backup", {{"deletionProtection", true}}}}}}}});
  ofNamespace(false, "it belongs to xvshnpostgresqls.vshn.appcat.vshn.io/pg");
}

// --- CRDs that are not served

constexpr const char* kAlways = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect, values: [Always]}]
)";

TEST_F(Implied, ACrdWhoseNamesAreTakenMayBeDeletedAsItNeverHadInstances) {
  create(kDefinitionsPath, definition("example.com", "gizmos", "Gizmo"));
  create(kDefinitionsPath, definition("example.com", "gadgets", "Gizmo"));
  followAll();
  apply(kAlways);
  cluster.runUntil(std::chrono::minutes(1));
  const Json conditions = get(std::string(kDefinitionsPath) + "/gadgets.example.com")["status"]["conditions"];
  EXPECT_THAT(conditions.dump(), HasSubstr("NotAccepted"));
  ofDefinition({"example.com", "gadgets"}, true);
}

TEST_F(Implied, ACrdThatServesNoVersionIsDeniedWithARemedyThatHelps) {
  Json unserved = definition("example.com", "gizmos", "Gizmo");
  unserved["spec"]["versions"][0]["served"] = false;
  create(kDefinitionsPath, unserved);
  followAll();
  apply(kAlways);
  EXPECT_THAT(ofDefinition({"example.com", "gizmos"}, false, "the API server does not serve it now"),
              ::testing::AllOf(HasSubstr("serve a version of it, or set crds: Ignore in the policy"),
                               Not(HasSubstr("ClusterRole"))));
}

}  // namespace
}  // namespace lastout::server
