// Users: held against the recorded ones, and what a tokens file lets them do.
#include "simulator/user.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lastout::simulator {
namespace {

// Without the uid, and with "JTI=" alone of the token that the user is known by.
Json withoutUids(Json user) {
  user.erase("uid");
  constexpr const char* kCredential = "authentication.kubernetes.io/credential-id";
  if (user.contains("extra")) {
    std::string credential = user["extra"][kCredential][0];
    user["extra"][kCredential][0] = credential.substr(0, credential.find('=') + 1);
  }
  return user;
}

class UsersOf : public ::testing::TestWithParam<kube::KubernetesVersion> {};

TEST_P(UsersOf, TheControlPlaneAreTheRecordedOnes) {
  const std::string kPrefix = "system:serviceaccount:kube-system:";
  const std::string recording = "tests/recordings/kubernetes-" + std::string(toString(GetParam()));
  size_t controllers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recording + "/admission")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const Json recorded = Json::parse(file)["body"]["request"]["userInfo"];
    const std::string name = recorded["username"];
    if (name == "agent") continue;  // a client of the recording
    const bool isController = name.starts_with(kPrefix);
    UserInfo user = name == "admin" ? adminUser()
                    : isController  ? controllerUser(name.substr(kPrefix.size()), GetParam())
                                    : apiserverUser();
    if (name == "admin") addCredential(user, "X509SHA256=", GetParam());  // as a listener does
    EXPECT_EQ(withoutUids(toJson(user)), withoutUids(recorded));
    controllers += isController ? 1 : 0;
  }
  EXPECT_GT(controllers, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, UsersOf,
                         ::testing::Values(kube::KubernetesVersion::V1_26, kube::KubernetesVersion::V1_36),
                         [](const auto& version) {
                           return version.param == kube::KubernetesVersion::V1_26 ? "Kubernetes126"
                                                                                  : "Kubernetes136";
                         });

TEST(User, OfAControllerHasOneUidForEver) {
  const UserInfo collector = controllerUser("generic-garbage-collector");
  EXPECT_EQ(collector, controllerUser("generic-garbage-collector"));
  EXPECT_NE(collector.uid, controllerUser("namespace-controller").uid);
  EXPECT_EQ(collector.uid.size(), 36U);
  EXPECT_EQ(collector.uid.find_first_not_of("0123456789abcdef-"), std::string::npos);
}

constexpr std::string_view kTokens = R"(
users:
- token: s3cret
  username: jane
  uid: "7"
  groups: [ops]
  extra: {scopes: [a, b]}
  rights:
  - {verbs: [get, list], groups: [apps], resources: [deployments, "*/status"], namespaces: [demo]}
  - {verbs: ["*"], groups: [""], resources: [configmaps], names: [mine]}
  - {verbs: [get], paths: ["/healthz", "/apis/*"]}
- username: root
  groups: ["system:masters"]
)";

Users someUsers() { return parseUsers(kTokens, "tokens.yaml").value(); }

TEST(TokensFile, NamesUsers) {
  const UserInfo jane = userWithToken(someUsers(), "s3cret").value();
  EXPECT_EQ(toJson(jane), (Json{{"username", "jane"},
                                {"uid", "7"},
                                {"groups", {"ops", "system:authenticated"}},
                                {"extra", {{"scopes", {"a", "b"}}}}}));
  EXPECT_FALSE(userWithToken(someUsers(), "other"));
  EXPECT_FALSE(userWithToken(someUsers(), "")) << "root has none";
}

TEST(TokensFile, WithoutOneNobodyHasAToken) {
  EXPECT_FALSE(userWithToken({}, "anything")) << "nobody was given a token";
  EXPECT_FALSE(userWithToken({}, ""));
  EXPECT_TRUE(mayDo({}, {"jane", "", {}, {}}, {"delete", "", "secrets", "", "demo", "s", ""}));
}

TEST(TokensFile, MistakesAreReportedWithTheirPlaces) {
  const auto messageOf = [](std::string_view text) {
    const auto users = parseUsers(text, "t");
    return users ? std::string("none") : kube::toString(users.error().front());
  };
  EXPECT_EQ(messageOf("users: []").find("t:1:8: "), 0U) << messageOf("users: []");
  EXPECT_NE(messageOf("users: [{username: a, token: ''}]").find("users[0].token is empty"),
            std::string::npos);
  EXPECT_NE(messageOf("users: [{token: a}]").find("users[0].username"), std::string::npos);
  EXPECT_NE(messageOf("users: [{username: a, tokn: b}]").find("tokn"), std::string::npos);
  EXPECT_NE(messageOf("users:\n- {username: a, token: x}\n- {username: b, token: x}\n")
                .find("t:3:24: users[1].token"),
            std::string::npos);
  EXPECT_NE(messageOf("users: [{username: a, rights: [{verbs: [get]}]}]").find("resources"),
            std::string::npos);
  EXPECT_NE(messageOf("users: {").find("t:"), std::string::npos);
  EXPECT_NE(messageOf("").find("one document"), std::string::npos);
}

TEST(Rights, AreThoseOfTheRules) {
  const Users users = someUsers();
  const UserInfo jane = userWithToken(users, "s3cret").value();
  const auto may = [&](const AccessAttributes& wanted) { return mayDo(users, jane, wanted); };
  EXPECT_TRUE(may({"get", "apps", "deployments", "", "demo", "web", ""}));
  EXPECT_TRUE(may({"list", "apps", "replicasets", "status", "demo", "", ""}));
  EXPECT_TRUE(may({"delete", "", "configmaps", "", "anywhere", "mine", ""}));
  EXPECT_TRUE(may({"get", "", "", "", "", "", "/apis/apps"}));
  EXPECT_FALSE(may({"delete", "apps", "deployments", "", "demo", "web", ""})) << "another verb";
  EXPECT_FALSE(may({"get", "", "deployments", "", "demo", "web", ""})) << "another group";
  EXPECT_FALSE(may({"get", "apps", "deployments", "scale", "demo", "web", ""})) << "a subresource";
  EXPECT_FALSE(may({"get", "apps", "deployments", "", "other", "web", ""})) << "another namespace";
  EXPECT_FALSE(may({"delete", "", "configmaps", "", "demo", "yours", ""})) << "another name";
  EXPECT_FALSE(may({"get", "", "", "", "", "", "/metrics"})) << "another path";
  EXPECT_TRUE(mayDo(users, {"root", "", {"system:masters"}, {}}, {"delete", "", "nodes", "", "", "", ""}));
  EXPECT_FALSE(mayDo(users, {"nobody", "", {}, {}}, {"get", "apps", "deployments", "", "demo", "web", ""}));
}

// Kubernetes' role system:basic-user, without which `kubectl auth can-i` cannot even ask.
TEST(Rights, ToAskWhatOneMayDoAreEverybodys) {
  const auto may = [](const char* resource) {
    return mayDo(someUsers(), {"nobody", "", {}, {}},
                 {"create", "authorization.k8s.io", resource, "", "", "", ""});
  };
  EXPECT_TRUE(may("selfsubjectaccessreviews"));
  EXPECT_TRUE(may("selfsubjectrulesreviews"));
  EXPECT_FALSE(may("subjectaccessreviews"));
}

TEST(Impersonation, NeedsTheRightTo) {
  const Users users = parseUsers(R"(
users:
- token: t
  username: helper
  rights:
  - {verbs: [impersonate], groups: [""], resources: [users], names: [jane]}
  - {verbs: [impersonate], groups: [""], resources: [groups], names: [ops]}
  - {verbs: [impersonate], groups: [""], resources: [serviceaccounts], namespaces: [demo]}
)",
                                 "tokens.yaml")
                          .value();
  const UserInfo helper = userWithToken(users, "t").value();
  const auto as = [&](const Impersonation& wanted) { return impersonated(users, helper, wanted); };
  EXPECT_EQ(as({"jane", "", {"ops"}}), (UserInfo{"jane", "", {"ops", "system:authenticated"}, {}}));
  EXPECT_EQ(as({"system:serviceaccount:demo:default", "", {}})->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:demo",
                                      "system:authenticated"}));
  EXPECT_EQ(as({"bob", "", {}}).error().message,
            "users \"bob\" is forbidden: User \"helper\" cannot impersonate resource \"users\" in API group "
            "\"\" at the cluster scope");
  EXPECT_EQ(as({"jane", "", {"system:masters"}}).error().code, 403);
  EXPECT_EQ(as({"system:serviceaccount:other:default", "", {}}).error().message,
            "serviceaccounts \"default\" is forbidden: User \"helper\" cannot impersonate resource "
            "\"serviceaccounts\" in API group \"\" in the namespace \"other\"");
  EXPECT_EQ(as({"jane", "7", {}}).error().code, 403);
  EXPECT_EQ(as({"", "", {"ops"}}).error().code, 500);
}

TEST(Reviews, OfTokensSayWhoseTheyAre) {
  const Users users = someUsers();
  const auto review = [](std::string_view token) { return Json{{"spec", {{"token", token}}}}; };
  const Json known = answerTokenReview(users, review("s3cret")).value()["status"];
  EXPECT_EQ(known["authenticated"], true);
  EXPECT_EQ(known["user"]["username"], "jane");
  const Json unknown = answerTokenReview(users, review("other")).value()["status"];
  EXPECT_NE(unknown.value("authenticated", false), true);
  EXPECT_EQ(answerTokenReview(users, review("")).error().code, 400);
  EXPECT_EQ(answerTokenReview(users, Json::array()).error().code, 400);
}

TEST(Reviews, OfAccessSayWhatIsAllowed) {
  const Users users = someUsers();
  const Json attributes = {
      {"verb", "get"}, {"group", "apps"}, {"resource", "deployments"}, {"namespace", "demo"}};
  Json review = {{"spec", {{"user", "jane"}, {"resourceAttributes", attributes}}}};
  EXPECT_EQ(answerSubjectAccessReview(users, review).value()["status"]["allowed"], true);
  EXPECT_EQ(answerSelfSubjectAccessReview(users, {"bob", "", {}, {}}, review).value()["status"]["allowed"],
            false);
  review["spec"]["user"] = "bob";
  EXPECT_EQ(answerSubjectAccessReview(users, review).value()["status"]["allowed"], false);
  review["spec"]["groups"] = {"system:masters"};
  EXPECT_EQ(answerSubjectAccessReview(users, review).value()["status"]["allowed"], true);
  EXPECT_EQ(answerSubjectAccessReview(users, {{"spec", Json::object()}}).error().details["causes"].size(),
            2U);
}

TEST(Reviews, OfAccessInOneNamespaceAskAboutThatOne) {
  const Users users = someUsers();
  Json review = {
      {"spec",
       {{"user", "jane"},
        {"resourceAttributes",
         {{"verb", "get"}, {"group", "apps"}, {"resource", "deployments"}, {"namespace", "demo"}}}}}};
  EXPECT_EQ(answerLocalSubjectAccessReview(users, "demo", review).value()["status"]["allowed"], true);
  EXPECT_EQ(answerLocalSubjectAccessReview(users, "other", review).error().details["causes"][0]["field"],
            "spec.resourceAttributes.namespace");
  review["spec"].erase("resourceAttributes");
  review["spec"]["nonResourceAttributes"] = {{"verb", "get"}, {"path", "/healthz"}};
  EXPECT_EQ(answerLocalSubjectAccessReview(users, "demo", review).error().details["causes"][0]["field"],
            "spec.nonResourceAttributes");
}

TEST(SelfSubjectRulesReview, ListsWhatCountsInTheNamespace) {
  const auto users = parseUsers(R"(
users:
- token: t
  username: jane
  rights:
  - { verbs: [get], groups: [apps], resources: [deployments], names: [web], namespaces: [demo] }
  - { verbs: [delete], groups: [""], resources: [pods], namespaces: [other] }
  - { verbs: [get], paths: [/healthz] }
)",
                                "tokens.yaml");
  ASSERT_TRUE(users);
  const Json review = {{"spec", {{"namespace", "demo"}}}};
  const Json status = answerSelfSubjectRulesReview(*users, {"jane", "", {}, {}}, review).value()["status"];
  EXPECT_EQ(status, Json::parse(R"({
    "resourceRules": [{"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
                       "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
                      {"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"]}],
    "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}],
    "incomplete": false})"));
  const Json all = answerSelfSubjectRulesReview(*users, adminUser(), review).value()["status"];
  EXPECT_EQ(all["resourceRules"][0]["verbs"], Json::array({"*"}));
  EXPECT_EQ(answerSelfSubjectRulesReview(*users, adminUser(), {{"spec", Json::object()}}).error().code, 400);
}

}  // namespace
}  // namespace lastout::simulator
