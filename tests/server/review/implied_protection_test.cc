// What keeps a Namespace or a CRD because of what is in it, beside a real API.
#include "server/review/implied_protection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

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

// --- what lastout may not read, or cannot

// An API server that answers some lists, or discovery of some groups, otherwise than the embedded cluster.
class Refused : public Implied {
 public:
  Refused() {
    create(kDefinitionsPath, definition("example.com", "gizmos", "Gizmo", "Namespaced"));
    serveAndConnect([this](const simulator::ExchangeRequest& request) {
      if (request.method == "GET") {
        const std::lock_guard lock(mutex_);
        const auto found = refused_.find(request.path);
        if (found != refused_.end()) return answerOf(found->second);
      }
      return handle(request);
    });
  }
  ~Refused() override { listener.reset(); }

  void refuse(const std::string& path, int code, const std::string& message) {
    const std::lock_guard lock(mutex_);
    refused_[path] = {code, Json{{"apiVersion", "v1"},
                                 {"kind", "Status"},
                                 {"status", "Failure"},
                                 {"message", message},
                                 {"reason", code == 403 ? "Forbidden" : "ServiceUnavailable"},
                                 {"code", code}}
                                .dump()};
  }
  // As RBAC of a real API server says it.
  static std::string lackOfRight(const std::string& type, const std::string& user = "lastout") {
    return type + " is forbidden: User \"" + user + "\" cannot list resource \"" + type +
           "\" in API group \"\" in the namespace \"shop\"";
  }
  void forbid(const std::string& type) { refuse(inShop(type), 403, lackOfRight(type)); }
  static std::string inShop(const std::string& type) { return "/api/v1/namespaces/shop/" + type; }
  Json reviewed(bool allowed, const std::string& said = "") {
    return deletionOf(std::string(kSpaces) + "/shop", {{"", "namespaces"}, "", "shop"}, allowed, said);
  }

 private:
  using Answer = std::pair<int, std::string>;

  static simulator::ExchangeResponse answerOf(const Answer& answer) {
    simulator::ExchangeResponse response;
    response.status = answer.first;
    response.body = answer.second;
    return response;
  }

  std::mutex mutex_;
  std::map<std::string, Answer> refused_;  // by path: code and body
};

TEST_F(Refused, ATypeThatLastoutMayNotListLetsANamespaceGoWithAWarning) {
  for (const char* type : {"endpoints", "secrets", "limitranges", "pods", "services"}) forbid(type);
  followAll();
  apply(kAlways, "everything");
  const Json warnings = reviewed(true)["warnings"];
  ASSERT_EQ(warnings.size(), 1U) << warnings;
  EXPECT_EQ(
      std::string(warnings[0]),
      "the rest of the namespace goes; it may hang at what is protected: whether namespaces/shop holds what "
      "DeletionPolicy everything protects is not known, as lastout may not list endpoints, limitranges, pods "
      "and 2 more (its condition TypesReadable says more)");
}

TEST_F(Refused, StrictKeepsItAsLongAsATypeMayNotBeListed) {
  forbid("endpoints");
  followAll();
  apply(std::string(kAlways) + "  namespaces: Strict\n", "everything");
  EXPECT_THAT(messageOf(reviewed(false, "as endpoints cannot be read")),
              ::testing::AllOf(HasSubstr("ClusterRole lastout-reads"), HasSubstr("namespaces: Ignore")));
}

// What protects it is deleted with the Namespace, maybe before it.
TEST_F(Refused, WhatIsProtectedByObjectsBesideItKeepsIt) {
  create(kDefinitionsPath, definition("lists.example.com", "usages", "Usage", "Namespaced"));
  Json usage = objectOf("lists.example.com/v1", "Usage", "u", Json::object());
  usage["spec"]["of"] = {{"apiVersion", "v1"}, {"kind", "Endpoints"}};
  create("/apis/lists.example.com/v1/namespaces/shop/usages", usage);
  forbid("endpoints");
  followAll();
  apply(
      "  listedBy: {group: lists.example.com, resource: usages, selectors: spec.of, apiVersion: apiVersion, "
      "kind: kind, in: OwnNamespace}\n",
      "listed");
  reviewed(false, "as endpoints cannot be read");
  remove("/apis/lists.example.com/v1/namespaces/shop/usages/u");
  reviewed(true);
  apply(R"(  objects: [{resources: [{resource: endpoints}]}]
  when: [{children: [{resource: configmaps, ownerReference: true}]}]
)",
        "referred-to");
  reviewed(false, "as endpoints cannot be read");
}

// What it protects would go with the Namespace.
TEST_F(Refused, APolicyThatExemptsTheNamespaceControllerKeepsIt) {
  forbid("endpoints");
  followAll();
  apply(std::string(kAlways) + "  exempt: {groups: [\"system:serviceaccounts:kube-system\"]}\n",
        "everything");
  reviewed(false, "as endpoints cannot be read");
}

// Or while lastout does not answer.
TEST_F(Refused, APolicyThatFailsOpenKeepsIt) {
  forbid("endpoints");
  followAll();
  apply(std::string(kAlways) + "  failurePolicy: Ignore\n", "everything");
  reviewed(false, "as endpoints cannot be read");
}

TEST_F(Refused, AProtectedObjectThatWasFoundKeepsItWhateverElseMayNotBeListed) {
  forbid("endpoints");
  createMap("kept", {{"example.com/protect", "Always"}});
  followAll();
  apply(kAlways, "everything");
  EXPECT_TRUE(reviewed(false, "holds configmaps/shop/kept")["warnings"].is_null());
}

// Another policy that lets it go with a Warning says nothing where one denies.
TEST_F(Refused, AnotherPolicysDenialStandsAlone) {
  forbid("endpoints");
  createMap("kept", {{"example.com/keep", "x"}});
  followAll();
  apply(kAlways, "everything");
  apply("  objects: [{resources: [{resource: configmaps}]}]\n  when: [{label: example.com/keep}]\n", "maps");
  EXPECT_TRUE(reviewed(false, "holds configmaps/shop/kept")["warnings"].is_null());
}

// A broken APIService, or whatever else stands between, opens no Namespace.
TEST_F(Refused, NoOtherFailureLetsANamespaceGo) {
  followAll();
  apply(kAlways, "everything");
  reviewed(true);
  const std::string path = inShop("endpoints");
  for (const auto& [code, message] :
       {std::pair(503, std::string("the server is currently unable to handle the request")),
        {500, lackOfRight("endpoints")},
        {403, "a proxy forbids it"},
        {403, lackOfRight("endpoints", "system:anonymous")},
        {404, "the server could not find the requested resource"},
        {401, "Unauthorized"}}) {
    refuse(path, code, message);
    EXPECT_THAT(messageOf(reviewed(false, "as endpoints cannot be read")), HasSubstr("try again in a moment"))
        << code << " " << message;
  }
  forbid("endpoints");
  reviewed(true);
}

TEST_F(Refused, AReadThatTakesTooLongKeepsIt) {
  followAll();
  apply(kAlways, "everything");
  reviewed(true);
  admission::Review review;
  review.object = {{"", "namespaces"}, "", "shop"};
  review.oldObject = get(std::string(kSpaces) + "/shop").dump();
  const PolicyVerdict late = policyReviews->judge(review, std::chrono::steady_clock::now());
  ASSERT_EQ(late.denials.size(), 1U);
  EXPECT_THAT(late.denials[0].message, HasSubstr("reading it took too long"));
  EXPECT_TRUE(late.unseen.empty());
}

TEST_F(Refused, AGapInDiscoveryKeepsIt) {
  refuse("/apis/example.com/v1", 503, "the server is currently unable to handle the request");
  forbid("endpoints");
  followAll();
  apply(kAlways, "everything");
  reviewed(false, "what the API server serves cannot be read");
}

TEST_F(Refused, UnknownListersKeepIt) {
  create(kDefinitionsPath, definition("lists.example.com", "usages", "Usage"));
  refuse("/apis/lists.example.com/v1/usages", 403, lackOfRight("usages"));
  followAll();
  apply(
      "  listedBy: {group: lists.example.com, resource: usages, selectors: spec.of, apiVersion: apiVersion, "
      "kind: "
      "kind}\n",
      "listed");
  reviewed(false, "what usages.lists.example.com list is not known");
}

// The instances of a CRD go without a review.
TEST_F(Refused, ACrdStaysWhileItsInstancesMayNotBeListed) {
  refuse("/apis/example.com/v1/gizmos", 403, lackOfRight("gizmos"));
  followAll();
  apply(kAlways, "everything");
  EXPECT_THAT(ofDefinition({"example.com", "gizmos"}, false, "as gizmos.example.com cannot be read"),
              ::testing::AllOf(HasSubstr("ClusterRole lastout-reads"), HasSubstr("crds: Ignore")));
}

}  // namespace
}  // namespace lastout::server
