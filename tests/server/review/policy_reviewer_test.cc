// Verdicts by DeletionPolicies that need other objects, beside a real API.
#include "server/review/policy_reviewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/protection/plain_policy.h"
#include "tests/protection/policies.h"
#include "tests/support/seed.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::definition;
using lastout::testing::Json;
using lastout::testing::kComposites;
using lastout::testing::kDefinitionsPath;
using lastout::testing::kProvider;
using lastout::testing::kSpaces;
using lastout::testing::objectOf;
using lastout::testing::ownerLabels;
using lastout::testing::ServerWorld;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kClaims = "/api/v1/namespaces/inst/persistentvolumeclaims";

class AppcatReviews : public ServerWorld {
 public:
  AppcatReviews() : ServerWorld({.policies = protection::PolicyMode::ApiServer}) {
    create(kDefinitionsPath, definition("vshn.appcat.vshn.io", "xvshnpostgresqls", "XVSHNPostgreSQL"));
    Json composite = objectOf("vshn.appcat.vshn.io/v1", "XVSHNPostgreSQL", "pg", Json::object());
    composite["metadata"]["finalizers"] = {"example.com/cleanup"};
    composite["spec"]["parameters"]["backup"]["deletionProtection"] = true;
    create(kComposites, composite);
    create(kSpaces, objectOf("v1", "Namespace", "inst", ownerLabels()));
    create(kClaims, objectOf("v1", "PersistentVolumeClaim", "data", Json::object()));
    followAll();
    applyProfile("appcat");
  }
  Json ofClaim(bool allowed, const std::string& said = "") {
    return deletionOf(std::string(kClaims) + "/data", claim, allowed, said);
  }
  Json ofNamespace(bool allowed, const std::string& said = "") {
    return deletionOf(std::string(kSpaces) + "/inst", space, allowed, said);
  }
  void setProtection(const Json& value) {
    patch(std::string(kComposites) + "/pg",
          {{"spec", {{"parameters", {{"backup", {{"deletionProtection", value}}}}}}}});
  }

  const kube::ObjectKey claim{{"", "persistentvolumeclaims"}, "inst", "data"};
  const kube::ObjectKey space{{"", "namespaces"}, "", "inst"};
  const std::string belongs = "xvshnpostgresqls.vshn.appcat.vshn.io/pg";
};

TEST_F(AppcatReviews, TheCompositeDecidesAboutItsNamespaceAndTheClaimsInIt) {
  const Json denied = ofNamespace(false, belongs);
  EXPECT_EQ(denied["status"]["code"], 403);
  const Json cause = denied["status"]["details"]["causes"][0];
  EXPECT_EQ(cause["reason"], "Protected");
  EXPECT_EQ(cause["field"], "deletionpolicies.lastout.dev/appcat");
  EXPECT_EQ(ofClaim(false, belongs)["status"]["details"]["causes"][0]["field"],
            "deletionpolicies.lastout.dev/appcat-claims");

  setProtection(false);
  ofNamespace(true);
  ofClaim(true);

  setProtection(nullptr);
  ofClaim(false, belongs);
}

// A bucket is cluster-scoped, in no namespace whose labels could count.
TEST_F(AppcatReviews, ABucketIsProtectedByItsOwnLabels) {
  const std::string path = "/apis/appcat.vshn.io/v1/xobjectbuckets";
  const kube::GroupResource type{"appcat.vshn.io", "xobjectbuckets"};
  create(kDefinitionsPath, definition("appcat.vshn.io", "xobjectbuckets", "XObjectBucket"));
  create(path, objectOf("appcat.vshn.io/v1", "XObjectBucket", "backups", ownerLabels()));
  create(path, objectOf("appcat.vshn.io/v1", "XObjectBucket", "free", Json::object()));
  deletionOf(path + "/backups", {type, "", "backups"}, false, belongs);
  deletionOf(path + "/free", {type, "", "free"}, true);
  setProtection(false);
  deletionOf(path + "/backups", {type, "", "backups"}, true);
}

// They name the next composite of a nested service, which is not even there; or nothing but the composite.
TEST_F(AppcatReviews, OwnerReferencesDoNotCount) {
  const auto owner = [](const char* name) {
    return Json::array({{{"apiVersion", "vshn.appcat.vshn.io/v1"},
                         {"kind", "XVSHNPostgreSQL"},
                         {"name", name},
                         {"uid", std::string("of-") + name},
                         {"controller", true}}});
  };
  const std::string maps = std::string(kSpaces) + "/inst/configmaps";
  const auto createOwned = [&](const char* name, const Json& labels, const char* of) {
    Json map = objectOf("v1", "ConfigMap", name, labels);
    map["metadata"]["ownerReferences"] = owner(of);
    create(maps, map);
  };
  createOwned("nested", ownerLabels(), "missing");
  createOwned("unlabelled", Json::object(), "pg");
  deletionOf(maps + "/nested", {{"", "configmaps"}, "inst", "nested"}, false, belongs);
  deletionOf(maps + "/unlabelled", {{"", "configmaps"}, "inst", "unlabelled"}, true);
}

// As docs/protection.md says how.
TEST_F(AppcatReviews, UsersAddTypesThatAreJudgedByTheirNamespace) {
  const std::string services = std::string(kSpaces) + "/inst/services";
  Json service = objectOf("v1", "Service", "web", Json::object());
  service["spec"]["ports"] = Json::array({{{"port", 80}}});
  create(services, service);
  ofClaim(false, belongs);
  deletionOf(services + "/web", {{"", "services"}, "inst", "web"}, true);
  patch("/apis/lastout.dev/v1alpha1/deletionpolicies/appcat-claims",
        {{"spec", {{"objects", Json::parse(R"([{"resources": [{"resource": "persistentvolumeclaims"},
                                                      {"resource": "services"}]}])")}}}});
  deletionOf(services + "/web", {{"", "services"}, "inst", "web"}, false, belongs);
  ofClaim(false, belongs);
}

TEST_F(AppcatReviews, ACompositeThatTerminatesOrIsGoneFrees) {
  ofClaim(false, belongs);
  remove(std::string(kComposites) + "/pg");
  ofClaim(true);
  patch(std::string(kComposites) + "/pg", {{"metadata", {{"finalizers", nullptr}}}});
  ofNamespace(true);
}

TEST_F(AppcatReviews, AnIncompleteLabelProtectsAndTheOverrideLiftsIt) {
  const std::string path = std::string(kSpaces) + "/inst";
  patch(path, {{"metadata", {{"labels", {{"appcat.vshn.io/ownergroup", nullptr}}}}}});
  const Json denied = ofNamespace(false, "appcat.vshn.io/ownergroup");
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "ProtectionUnknown");
  patch(path, {{"metadata", {{"labels", {{"appcat.vshn.io/webhook-allowdeletion", "yes"}}}}}});
  ofNamespace(false, "appcat.vshn.io/ownergroup");
  patch(path, {{"metadata", {{"labels", {{"appcat.vshn.io/webhook-allowdeletion", "true"}}}}}});
  ofNamespace(true);
  ofClaim(false, "appcat.vshn.io/ownergroup");  // the override is of exactly that object
}

TEST_F(AppcatReviews, AnUnknownKindProtectsUnlessItIsOverridden) {
  const std::string path = std::string(kClaims) + "/data";
  Json labels = ownerLabels();
  labels["appcat.vshn.io/ownerkind"] = "XNothing";
  patch(path, {{"metadata", {{"labels", labels}}}});
  ofClaim(false, "no kind XNothing");
  patch(path, {{"metadata", {{"labels", {{"appcat.vshn.io/webhook-allowdeletion", "true"}}}}}});
  ofClaim(true);
}

// Before what is in it counts as unlabelled.
TEST_F(AppcatReviews, ANamespaceThatNoWatchHasToldOfIsRead) {
  ofClaim(false, belongs);
  policyWatches->stop();
  create(kSpaces, objectOf("v1", "Namespace", "late", ownerLabels()));
  create(kSpaces, objectOf("v1", "Namespace", "free", Json::object()));
  const auto deletionIn = [&](const std::string& name, bool allowed, const std::string& said) {
    const std::string claims = std::string(kSpaces) + "/" + name + "/persistentvolumeclaims";
    create(claims, objectOf("v1", "PersistentVolumeClaim", "data", Json::object()));
    deletionOf(claims + "/data", {{"", "persistentvolumeclaims"}, name, "data"}, allowed, said);
  };
  deletionIn("late", false, belongs);
  deletionIn("free", true, "");
}

TEST_F(AppcatReviews, APolicyThatIsGoneSaysNothing) {
  ofClaim(false, belongs);
  remove("/apis/lastout.dev/v1alpha1/deletionpolicies/appcat-claims");
  ofClaim(true);
  ofNamespace(false, belongs);
}

// --- the composite is on another cluster

constexpr const char* kOverThere = "control-plane";

struct Elsewhere : ServerWorld {
  void TestBody() override {}
};

PolicyClustersOptions patientOptions() {
  PolicyClustersOptions options;
  options.backoff = lastout::testing::kSoonAgain;
  options.random = lastout::testing::oneHalf;
  return options;
}

struct OtherCluster {
  OtherCluster() {
    elsewhere.create(kDefinitionsPath,
                     definition("vshn.appcat.vshn.io", "xvshnpostgresqls", "XVSHNPostgreSQL"));
    elsewhere.create(kComposites,
                     objectOf("vshn.appcat.vshn.io/v1", "XVSHNPostgreSQL", "pg", Json::object()));
  }
  ~OtherCluster() { clusters.stop(); }
  OtherCluster(const OtherCluster&) = delete;
  OtherCluster& operator=(const OtherCluster&) = delete;

  Elsewhere elsewhere;
  PolicyClusters clusters{{{kOverThere, elsewhere.access}}, patientOptions()};
};

class AppcatElsewhere : public OtherCluster, public ServerWorld {
 public:
  AppcatElsewhere()
      : ServerWorld({.policies = protection::PolicyMode::ApiServer, .policyClusters = &clusters}) {
    create(kSpaces, objectOf("v1", "Namespace", "inst", ownerLabels()));
    create(kClaims, objectOf("v1", "PersistentVolumeClaim", "data", Json::object()));
    followAll();
  }
  void applyFor(const std::string& cluster) {
    applyProfile("appcat", [&](Json& policy) { policy["spec"]["when"][0]["ancestor"]["cluster"] = cluster; });
  }
  void ofClaim(bool allowed, const std::string& said = "") {
    deletionOf(std::string(kClaims) + "/data", {{"", "persistentvolumeclaims"}, "inst", "data"}, allowed,
               said);
  }
};

TEST_F(AppcatElsewhere, TheCompositeThereDecides) {
  clusters.start();
  applyFor(kOverThere);
  ofClaim(false, "it belongs to xvshnpostgresqls.vshn.appcat.vshn.io/pg on cluster control-plane");
  const auto setProtection = [&](const Json& value) {
    elsewhere.patch(std::string(kComposites) + "/pg",
                    {{"spec", {{"parameters", {{"backup", {{"deletionProtection", value}}}}}}}});
  };
  setProtection(false);
  ofClaim(true);
  setProtection(true);
  ofClaim(false, "on cluster control-plane");
  elsewhere.remove(std::string(kComposites) + "/pg");
  ofClaim(true);
}

TEST_F(AppcatElsewhere, AClusterThatWasNotReadProtectsAndTheOverrideLiftsIt) {
  applyFor(kOverThere);
  ofClaim(false, "cluster control-plane cannot be read: it has not been asked yet");
  patch(std::string(kClaims) + "/data",
        {{"metadata", {{"labels", {{"appcat.vshn.io/webhook-allowdeletion", "true"}}}}}});
  ofClaim(true);
}

TEST_F(AppcatElsewhere, AClusterThatCannotBeReadAnyMoreProtects) {
  elsewhere.remove(std::string(kComposites) + "/pg");
  clusters.start();
  applyFor(kOverThere);
  ofClaim(true);
  clusters.stop();
  ofClaim(false, "xvshnpostgresqls.vshn.appcat.vshn.io/pg on cluster control-plane: ");
}

TEST_F(AppcatElsewhere, AKindThatTheOtherClusterDoesNotServeProtects) {
  clusters.start();
  create(kDefinitionsPath, definition("vshn.appcat.vshn.io", "xothers", "XOther"));  // here it is served
  Json labels = ownerLabels();
  labels["appcat.vshn.io/ownerkind"] = "XOther";
  patch(std::string(kSpaces) + "/inst", {{"metadata", {{"labels", labels}}}});
  applyFor(kOverThere);
  ofClaim(false, "cluster control-plane serves no kind XOther of group vshn.appcat.vshn.io");
}

TEST_F(AppcatElsewhere, AClusterThatNobodyNamedProtects) {
  clusters.start();
  applyFor("another");
  ofClaim(false,
          "cluster another is not known to lastout: name its kubeconfig with lastout serve "
          "--policy-cluster another=FILE");
}

class PolicyReviewerTest : public ServerWorld {
 public:
  PolicyReviewerTest() : ServerWorld({.policies = protection::PolicyMode::ApiServer}) {}

  const kube::ObjectKey shop{{"", "namespaces"}, "", "shop"};
};

TEST_F(PolicyReviewerTest, DeniesADeletionUntilPoliciesAreKnown) {
  create(kSpaces, objectOf("v1", "Namespace", "shop", Json::object()));
  follow();
  const Json denied =
      deletionOf(std::string(kSpaces) + "/shop", shop, false, "DeletionPolicies are not known");
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "ProtectionUnknown");
}

// Their writes are reviewed for the sake of warnings; no policy is about policies.
TEST_F(PolicyReviewerTest, LetsPoliciesBeWrittenUntilTheyAreKnown) {
  follow();
  const Json after = {{"apiVersion", "lastout.dev/v1alpha1"},
                      {"kind", "DeletionPolicy"},
                      {"metadata", {{"name", "p"}, {"uid", "u"}}},
                      {"spec", Json::object()}};
  Json before = after;
  before["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", "{}"}};
  EXPECT_TRUE(reviewUpdate({protection::deletionPolicyType(), "", "p"},
                           {{"oldObject", before}, {"object", after}})["allowed"]
                  .get<bool>());
}

TEST_F(PolicyReviewerTest, CascadingProtectsWhileSomethingIsActiveBelow) {
  const Json cascading = {{"policy.kruise.io/delete-protection", "Cascading"}};
  create(kSpaces, objectOf("v1", "Namespace", "shop", cascading));
  create(kDefinitionsPath, definition("example.com", "gizmos", "Gizmo", "Cluster", cascading));
  create("/apis/example.com/v1/gizmos", objectOf("example.com/v1", "Gizmo", "one", Json::object()));
  Json pod = objectOf("v1", "Pod", "web", Json::object());
  pod["spec"]["containers"] = Json::array({{{"name", "c"}, {"image", "i"}}});
  create("/api/v1/namespaces/shop/pods", pod);
  followAll();
  apply(R"(  objects: [{resources: [{resource: namespaces}]}]
  when: [{label: policy.kruise.io/delete-protection, values: [Cascading], active: Pods}]
)",
        "spaces");
  apply(R"(  objects: [{resources: [{group: apiextensions.k8s.io, resource: customresourcedefinitions}]}]
  when: [{label: policy.kruise.io/delete-protection, values: [Cascading], active: Instances}]
)",
        "definitions");
  deletionOf(std::string(kSpaces) + "/shop", shop, false, "1 active Pod in it (Pod/web)");
  deletionOf(std::string(kDefinitionsPath) + "/gizmos.example.com", kube::crdKey({"example.com", "gizmos"}),
             false, "1 instance of it (Gizmo/one)");
  remove("/api/v1/namespaces/shop/pods/web");
  remove("/apis/example.com/v1/gizmos/one");
  cluster.runUntil(std::chrono::minutes(2));
  deletionOf(std::string(kSpaces) + "/shop", shop, true);
  deletionOf(std::string(kDefinitionsPath) + "/gizmos.example.com", kube::crdKey({"example.com", "gizmos"}),
             true);
}

TEST_F(PolicyReviewerTest, WhatRefersToAnObjectCountsBeforeAWatchTellsOfIt) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* name : {"by-label", "by-owner", "free"})
    create(maps, objectOf("v1", "ConfigMap", name, Json::object()));
  create(kSpaces, objectOf("v1", "Namespace", "shop", {{"example.com/active", "Pods"}}));
  followAll();
  apply(R"(  objects: [{resources: [{resource: configmaps}]}]
  when: [{children: [{resource: secrets, label: example.com/of}, {resource: services, ownerReference: true}]}]
)",
        "referred");
  apply(
      "  objects: [{resources: [{resource: namespaces}]}]\n"
      "  when: [{label: example.com/active, active: Pods}]\n",
      "active");
  const auto deletionOfMap = [&](const std::string& name, bool allowed, const std::string& said = "") {
    deletionOf(maps + "/" + name, {{"", "configmaps"}, "default", name}, allowed, said);
  };
  for (const char* name : {"by-label", "by-owner", "free"}) deletionOfMap(name, true);
  deletionOf(std::string(kSpaces) + "/shop", shop, true);
  policyWatches->stop();
  create("/api/v1/namespaces/default/secrets",
         objectOf("v1", "Secret", "child", {{"example.com/of", "by-label"}}));
  Json owned = objectOf("v1", "Service", "child", Json::object());
  owned["spec"]["ports"] = Json::array({{{"port", 80}}});
  owned["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                                       {"kind", "ConfigMap"},
                                                       {"name", "by-owner"},
                                                       {"uid", get(maps + "/by-owner")["metadata"]["uid"]}}});
  create("/api/v1/namespaces/default/services", owned);
  Json pod = objectOf("v1", "Pod", "web", Json::object());
  pod["spec"]["containers"] = Json::array({{{"name", "c"}, {"image", "i"}}});
  create("/api/v1/namespaces/shop/pods", pod);
  deletionOfMap("by-label", false, "1 object of secrets that refers to it (Secret/child)");
  deletionOfMap("by-owner", false, "1 object of services that refers to it (Service/child)");
  deletionOfMap("free", true);
  deletionOf(std::string(kSpaces) + "/shop", shop, false, "1 active Pod in it (Pod/web)");
}

TEST_F(PolicyReviewerTest, WhatIsListedIsInUse) {
  create(kDefinitionsPath, definition("example.com", "usages", "Usage"));
  create("/api/v1/namespaces/default/configmaps", objectOf("v1", "ConfigMap", "key", Json::object()));
  followAll();
  apply(
      R"(  listedBy: {group: example.com, resource: usages, selectors: spec.of, apiVersion: apiVersion, kind: kind, name: resourceRef.name}
  code: 409
  namespaces: Ignore
  crds: Ignore
)");
  const kube::ObjectKey key{{"", "configmaps"}, "default", "key"};
  const std::string path = "/api/v1/namespaces/default/configmaps/key";
  deletionOf(path, key, true);
  Json usage = objectOf("example.com/v1", "Usage", "u", Json::object());
  usage["spec"]["of"] = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"resourceRef", {{"name", "key"}}}};
  create("/apis/example.com/v1/usages", usage);
  const Json denied = deletionOf(path, key, false, "usages/u lists it");
  EXPECT_EQ(denied["status"]["code"], 409);
  remove("/apis/example.com/v1/usages/u");
  deletionOf(path, key, true);
}

// What lists something where nobody asks is told of, once, as it does not protect.
TEST_F(PolicyReviewerTest, WhatIsListedInANamespaceThatIsNotAskedAboutIsTold) {
  std::vector<std::string> told;
  PolicyViewOptions options;
  options.unasked = {"kube-system", "lastout"};
  options.inVain = [&](const kube::ObjectMeta& policy, const std::string& lister, const std::string& why) {
    told.push_back(policy.name + ": " + lister + " " + why);
  };
  PolicyView watched(view, std::move(options));
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"example.com", "usages"}, "Usage", "v1", "usage", {}, false, false});
  watched.upsertPolicy(lastout::testing::object(
      protection::policyText(
          "  listedBy: {group: example.com, resource: usages, selectors: spec, apiVersion: "
          "apiVersion, kind: kind, namespace: namespace}\n"),
      types));
  client::SyncStatus synced;
  synced.state = client::SyncStatus::State::Synced;
  watched.knowPolicies(synced, std::chrono::steady_clock::now());
  const auto lists = [&](const std::string& spaces) {
    const kube::Object lister = lastout::testing::object(
        "apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: u, uid: u}\nspec: [" + spaces + "]\n",
        types);
    watched.upsert(lister, watched.wanted().front().generation);
    return std::exchange(told, {});
  };
  const std::string shopOnly = "{apiVersion: v1, kind: Secret, namespace: shop}";
  EXPECT_THAT(lists(shopOnly), ::testing::IsEmpty());
  const std::string both = shopOnly + ", {apiVersion: v1, kind: Secret, namespace: kube-system}";
  EXPECT_THAT(lists(both),
              ::testing::ElementsAre(AllOf(HasSubstr("p: usages.example.com/u does not protect"),
                                           HasSubstr("in namespace kube-system"), Not(HasSubstr("shop")))));
  EXPECT_THAT(lists(both), ::testing::IsEmpty());
}

TEST_F(PolicyReviewerTest, ANamespaceStaysWhileAProtectedObjectIsInIt) {
  create(kSpaces, objectOf("v1", "Namespace", "shop", Json::object()));
  const std::string maps = "/api/v1/namespaces/shop/configmaps";
  create(maps, objectOf("v1", "ConfigMap", "a", {{"example.com/protect", "never"}}));
  create(maps, objectOf("v1", "ConfigMap", "b", {{"example.com/protect", "Always"}}));
  followAll();
  apply(R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect, values: [Always]}]
)",
        "labelled");
  const Json denied =
      deletionOf(std::string(kSpaces) + "/shop", shop, false, "namespaces/shop holds configmaps/shop/b");
  EXPECT_THAT(std::string(denied["status"]["message"]),
              AllOf(HasSubstr("DeletionPolicy labelled"), HasSubstr("namespaces: Ignore")));
  patch(maps + "/b", {{"metadata", {{"labels", nullptr}}}});
  deletionOf(std::string(kSpaces) + "/shop", shop, true);
}

TEST_F(PolicyReviewerTest, AFieldOfAnObjectImpliesItsNamespaceUnlessThatIsIgnored) {
  create(kSpaces, objectOf("v1", "Namespace", "shop", Json::object()));
  create(kDefinitionsPath, definition("example.com", "databases", "Database", "Namespaced"));
  Json database = objectOf("example.com/v1", "Database", "main", Json::object());
  database["spec"]["deletionProtection"] = true;
  create("/apis/example.com/v1/namespaces/shop/databases", database);
  followAll();
  const std::string spec = R"(  objects: [{resources: [{group: example.com, resource: databases}]}]
  when: [{field: {path: spec.deletionProtection}}]
)";
  apply(spec + "  namespaces: Ignore\n", "ignoring");
  deletionOf(std::string(kSpaces) + "/shop", shop, true);
  deletionOf(std::string(kDefinitionsPath) + "/databases.example.com",
             kube::crdKey({"example.com", "databases"}), false, "holds databases.example.com/shop/main");
  apply(spec, "implying");
  deletionOf(std::string(kSpaces) + "/shop", shop, false, "holds databases.example.com/shop/main");
}

class AllInTheWebhook : public ServerWorld {
 public:
  AllInTheWebhook() : ServerWorld({.policies = protection::PolicyMode::Webhook}) {}
};

constexpr const char* kStrict = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
  blocks: [Delete, Unprotect]
  exemptions: [{label: example.com/exempt, values: ["true"]}]
  exempt: {groups: [keepers]}
  namespaces: Ignore
  crds: Ignore
)";

TEST_F(AllInTheWebhook, TheVerdictIsTheUnionWithCriticalServices) {
  createStory();
  const std::string path = "/apis/apps/v1/namespaces/default/deployments/provider";
  patch(path, {{"metadata", {{"labels", {{"example.com/protect", "yes"}}}}}});
  followAll();
  waitFor(lastout::testing::kCoolResources, graph::Knowledge::Synced);
  apply(kStrict, "strict");
  apply("  objects: [{resources: [{group: apps, resource: deployments}]}]\n  code: 409\n", "usage");
  const Json denied = deletionOf(path, kProvider, false, "usage");
  EXPECT_EQ(denied["status"]["code"], 403);
  const std::string message = denied["status"]["message"];
  const size_t service = message.find("is the provider of criticalservices.lastout.dev/s");
  EXPECT_NE(service, std::string::npos) << message;
  std::vector<std::string> fields;
  for (const Json& cause : denied["status"]["details"]["causes"])
    if (cause.contains("field")) fields.push_back(cause["field"]);
  EXPECT_THAT(fields, ::testing::IsSupersetOf(
                          {"deletionpolicies.lastout.dev/strict", "deletionpolicies.lastout.dev/usage"}));
  EXPECT_EQ(fields.front().find("criticalservices.lastout.dev/s"), 0U);
}

#ifdef LASTOUT_SANITIZED
constexpr int kReviewedPolicies = 20;
#else
constexpr int kReviewedPolicies = 150;
#endif

// The policies and requests of tests/protection/cel_property_test.cc, as API servers would ask about them.
TEST_F(AllInTheWebhook, ReviewsAndBruteForceAgree) {
  create(kDefinitionsPath, definition("example.com", "widgets", "Widget", "Namespaced"));
  followAll();
  const uint32_t seed = lastout::testing::seed();
  SCOPED_TRACE(lastout::testing::howToRepeat(seed));
  lastout::testing::Dice dice(seed);
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"example.com", "widgets"}, "Widget", "v1", "widget", {}, true, false});
  int denied = 0;
  for (int i = 0; i < kReviewedPolicies; ++i) {
    const lastout::testing::PlainPolicy plain = lastout::testing::drawPolicy(dice);
    const std::string spec = plain.spec() + "  namespaces: Ignore\n  crds: Ignore\n";
    policies.upsertPolicy(lastout::testing::object(protection::policyText(spec), types));
    for (int j = 0; j < 8; ++j) {
      const lastout::testing::PlainRequest drawn = lastout::testing::drawRequest(dice);
      const kube::Object before = lastout::testing::object(drawn.before.yaml(), types);
      Json request = {{"operation", drawn.isUpdate ? "UPDATE" : "DELETE"},
                      {"kind", {{"group", before.key.type.group}, {"version", "v1"}, {"kind", before.kind}}},
                      {"userInfo", {{"username", drawn.user}, {"groups", drawn.groups}}},
                      {"oldObject", Json(kube::toJson(before.content))}};
      if (drawn.isUpdate)
        request["object"] = Json(kube::toJson(lastout::testing::object(drawn.after.yaml(), types).content));
      if (!drawn.subresource.empty()) request["subResource"] = drawn.subresource;
      if (drawn.orphans) request["options"] = {{"propagationPolicy", "Orphan"}};
      const Json response = reviewUpdate(before.key, request);
      const bool expected = plain.denies(drawn);
      denied += expected ? 1 : 0;
      ASSERT_EQ(response["allowed"], !expected) << spec << "---\n" << request.dump(1) << response.dump(1);
    }
  }
  EXPECT_GT(denied, kReviewedPolicies / 4);
}

// The writer of a policy is told at once what protects less than it says.
class WrittenPolicies : public AllInTheWebhook {
 public:
  static Json policy(const Json& spec) {
    return objectOf("lastout.dev/v1alpha1", "DeletionPolicy", "p", spec);
  }
  static Json about(const Json& resources) {
    Json made = policy(Json::object());
    made["spec"] = {{"objects", {{{"resources", resources}}}},
                    {"when", {{{"label", "example.com/protect"}}}}};
    return made;
  }
  std::vector<std::string> warnings(const Json& after, const Json& before = nullptr) {
    Json request = {{"operation", before.is_null() ? "CREATE" : "UPDATE"},
                    {"kind", {{"group", "lastout.dev"}, {"version", "v1alpha1"}, {"kind", "DeletionPolicy"}}},
                    {"userInfo", masterUser()},
                    {"object", after}};
    if (!before.is_null()) request["oldObject"] = before;
    const Json response = reviewUpdate({protection::deletionPolicyType(), "", "p"}, request);
    EXPECT_EQ(response["allowed"], true) << response.dump();
    return response.value("warnings", std::vector<std::string>());
  }
};

TEST_F(WrittenPolicies, WarnOfTypesThatTheClusterDoesNotServe) {
  create(kDefinitionsPath, definition("example.com", "widgets", "Widget", "Namespaced"));
  followAll();
  waitUntil([this] { return view.find({"example.com", "widgets"}).has_value(); });
  const Json misspelt =
      about({{{"group", "example.com"}, {"resource", "widget"}}, {{"resource", "configmaps"}}});
  const std::string sentence =
      "spec.objects: the cluster serves no widget.example.com; did you mean \"widgets.example.com\"?";
  EXPECT_THAT(warnings(misspelt), ElementsAre(sentence));
  const Json right =
      about({{{"group", "example.com"}, {"resource", "widgets"}}, {{"group", "*"}, {"resource", "*"}}});
  EXPECT_THAT(warnings(right), IsEmpty());
  EXPECT_THAT(warnings(misspelt, right), ElementsAre(sentence));
  Json labelled = misspelt;
  labelled["metadata"]["labels"] = {{"team", "a"}};
  EXPECT_THAT(warnings(labelled, misspelt), IsEmpty()) << "it was told of before";
}

TEST_F(WrittenPolicies, WarnOfWhatIsNotUnderstood) {
  followAll();
  const std::vector<std::string> told = warnings(about({{{"group", "*"}, {"resource", "*/*"}}}));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told.front(),
              AllOf(HasSubstr("spec.objects[0].resources[0].resource names a subresource"),
                    HasSubstr("until that is corrected lastout does not understand the policy")));
}

// Nothing is said that may be wrong a moment later.
TEST_F(WrittenPolicies, AreNotWarnedOfWhatNobodyKnows) {
  followAll();
  const kube::ObjectKey key{protection::deletionPolicyType(), "", "p"};
  EXPECT_FALSE(reviewUpdate(key, {{"operation", "UPDATE"},
                                  {"subResource", "status"},
                                  {"object", about({{{"resource", "widget"}}})},
                                  {"oldObject", about({{{"resource", "configmaps"}}})}})
                   .contains("warnings"))
      << "its status alone is written";
}

TEST_F(AllInTheWebhook, AProtectingLabelIsNotTakenAwayThroughASubresource) {
  create(kSpaces, objectOf("v1", "Namespace", "shop", {{"example.com/protect", "yes"}}));
  followAll();
  apply(kStrict);
  const kube::ObjectKey shop{{"", "namespaces"}, "", "shop"};
  const Json before = get(std::string(kSpaces) + "/shop");
  const auto update = [&](const Json& labels, const Json& more) {
    Json after = before;
    after["metadata"]["labels"] = labels;
    Json request = {{"oldObject", before}, {"object", after}};
    request.update(more);
    return reviewUpdate(shop, request)["allowed"].get<bool>();
  };
  EXPECT_FALSE(update(Json::object(), {{"subResource", "status"}}));
  EXPECT_FALSE(update({{"example.com/protect", "no"}}, Json::object())) << "a changed value is a removal";
  EXPECT_TRUE(update({{"example.com/protect", "yes"}, {"more", "labels"}}, Json::object()));
  EXPECT_TRUE(update({{"example.com/exempt", "true"}}, Json::object()));
  EXPECT_TRUE(update(Json::object(), {{"userInfo", {{"username", "jane"}, {"groups", {"keepers"}}}}}));
}

// A status that lastout writes on it is told by the watch, too.
TEST(PolicyViewLog, APolicyThatCannotBeUnderstoodIsSaidOnce) {
  std::vector<std::string> lines;
  const LiveView live({});
  PolicyViewOptions options;
  options.log = [&lines](Level /*level*/, const std::string& line) { lines.push_back(line); };
  PolicyView watched(live, std::move(options));
  const auto tell = [&](const std::string& blocks) {
    watched.upsertPolicy(lastout::testing::object(protection::policyText(
        "  objects: [{resources: [{resource: pods}]}]\n  blocks: [" + blocks + "]\n")));
  };
  tell("Updates");
  tell("Updates");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines.front(),
              HasSubstr("deletionpolicies.lastout.dev/p cannot be understood, and protects nothing: "
                        "spec.blocks must list"));
  tell("Delete");
  tell("Updates");
  EXPECT_EQ(lines.size(), 2U);
}

}  // namespace
}  // namespace lastout::server
