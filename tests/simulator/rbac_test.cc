// RBAC: what roles and their bindings allow, as Kubernetes' documentation of it says.
#include "simulator/rbac.h"

#include <gtest/gtest.h>

#include <string>

namespace lastout::simulator {
namespace {

Json roleOf(const std::string& kind, const std::string& space, const std::string& name, const char* rules) {
  Json role = {{"kind", kind}, {"metadata", {{"name", name}}}, {"rules", Json::parse(rules)}};
  if (!space.empty()) role["metadata"]["namespace"] = space;
  return role;
}

// A binding, named like its role, of one subject.
Json bindingOf(const std::string& kind, const std::string& space, const std::string& roleKind,
               const std::string& role, const char* subject) {
  Json binding = {{"kind", kind},
                  {"metadata", {{"name", role}}},
                  {"roleRef", {{"kind", roleKind}, {"name", role}}},
                  {"subjects", Json::array({Json::parse(subject)})}};
  if (!space.empty()) binding["metadata"]["namespace"] = space;
  return binding;
}

constexpr const char* kJane = R"({"kind": "User", "name": "jane"})";
const UserInfo kJaneHerself{"jane", "", {"developers", "system:authenticated"}, {}};

AccessAttributes to(const std::string& verb, const std::string& group, const std::string& resource,
                    const std::string& space = "", const std::string& name = "",
                    const std::string& sub = "") {
  return {verb, group, resource, sub, space, name, ""};
}

class RbacTest : public ::testing::Test {
 public:
  bool may(const AccessAttributes& wanted, const UserInfo& user = kJaneHerself) const {
    return rbac.allows(user, wanted);
  }
  Rbac rbac;
};

TEST_F(RbacTest, AllowsNothingWithoutABinding) {
  rbac.put(roleOf("ClusterRole", "", "all", R"([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}])"));
  EXPECT_FALSE(may(to("get", "", "pods", "app", "a")));
}

TEST_F(RbacTest, AClusterRoleCountsEverywhereOrInItsRoleBindingsNamespace) {
  constexpr const char* kRules =
      R"([{"verbs": ["delete"], "apiGroups": ["apps"], "resources": ["deployments"]}])";
  rbac.put(roleOf("ClusterRole", "", "everywhere", kRules));
  rbac.put(bindingOf("RoleBinding", "app", "ClusterRole", "everywhere", kJane));
  EXPECT_TRUE(may(to("delete", "apps", "deployments", "app", "a")));
  EXPECT_FALSE(may(to("delete", "apps", "deployments", "other", "a")));
  EXPECT_FALSE(may(to("get", "apps", "deployments", "app", "a")));
  EXPECT_FALSE(may(to("delete", "", "deployments", "app", "a")));
  EXPECT_FALSE(may(to("delete", "apps", "deployments", "app", "a", "status")));
  rbac.put(bindingOf("ClusterRoleBinding", "", "ClusterRole", "everywhere", kJane));
  EXPECT_TRUE(may(to("delete", "apps", "deployments", "other", "a")));
}

TEST_F(RbacTest, ARoleCountsInItsNamespaceAlone) {
  rbac.put(roleOf("Role", "app", "r", R"([{"verbs": ["*"], "apiGroups": [""], "resources": ["*"]}])"));
  rbac.put(bindingOf("RoleBinding", "app", "Role", "r", kJane));
  rbac.put(bindingOf("RoleBinding", "other", "Role", "r", kJane));
  EXPECT_TRUE(may(to("delete", "", "pods", "app", "a", "status")));
  EXPECT_TRUE(may(to("delete", "", "namespaces", "app", "app"))) << "a Namespace is in that of its name";
  EXPECT_FALSE(may(to("delete", "", "pods", "other", "a"))) << "there is no such role there";
  EXPECT_FALSE(may(to("delete", "", "nodes")));
}

TEST_F(RbacTest, NamesAreExact) {
  rbac.put(
      roleOf("Role", "app", "r",
             R"([{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["mine"]},
                      {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["*"]}])"));
  rbac.put(bindingOf("RoleBinding", "app", "Role", "r", kJane));
  EXPECT_TRUE(may(to("get", "", "secrets", "app", "mine")));
  EXPECT_FALSE(may(to("get", "", "secrets", "app", "yours")));
  EXPECT_FALSE(may(to("get", "", "secrets", "app")));
  EXPECT_FALSE(may(to("get", "", "configmaps", "app", "any"))) << "* is no wildcard for names";
}

TEST_F(RbacTest, SubjectsAreUsersGroupsAndServiceAccounts) {
  const UserInfo account{"system:serviceaccount:app:robot", "", {}, {}};
  const auto bind = [this](const char* kind, const std::string& space, const char* subject) {
    rbac.put(
        roleOf("ClusterRole", "", "r", R"([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}])"));
    rbac.put(bindingOf(kind, space, "ClusterRole", "r", subject));
  };
  bind("ClusterRoleBinding", "", R"({"kind": "Group", "name": "developers"})");
  EXPECT_TRUE(may(to("get", "", "pods", "app")));
  EXPECT_FALSE(may(to("get", "", "pods", "app"), account));
  bind("ClusterRoleBinding", "", R"({"kind": "ServiceAccount", "name": "robot", "namespace": "app"})");
  EXPECT_TRUE(may(to("get", "", "pods", "other"), account));
  EXPECT_FALSE(may(to("get", "", "pods", "app"))) << "the binding was replaced";
  bind("ClusterRoleBinding", "", R"({"kind": "ServiceAccount", "name": "robot"})");
  EXPECT_FALSE(may(to("get", "", "pods", "app"), account));
  bind("RoleBinding", "app", R"({"kind": "ServiceAccount", "name": "robot"})");
  EXPECT_TRUE(may(to("get", "", "pods", "app"), account)) << "of the binding's namespace";
  bind("ClusterRoleBinding", "", R"({"kind": "User", "name": "system:serviceaccount:app:robot"})");
  EXPECT_TRUE(may(to("get", "", "pods", "other"), account));
}

TEST_F(RbacTest, AnAggregatedRoleHasTheRulesOfThoseItSelects) {
  Json part =
      roleOf("ClusterRole", "", "part", R"([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}])");
  part["metadata"]["labels"] = {{"to", "whole"}};
  Json whole = roleOf("ClusterRole", "", "whole", "[]");
  whole["aggregationRule"] = Json::parse(R"({"clusterRoleSelectors": [{"matchLabels": {"to": "whole"}}]})");
  whole["metadata"]["labels"] = {{"to", "whole"}};  // it selects itself, too
  rbac.put(whole);
  rbac.put(bindingOf("ClusterRoleBinding", "", "ClusterRole", "whole", kJane));
  EXPECT_FALSE(may(to("get", "", "pods", "app")));
  rbac.put(part);
  EXPECT_TRUE(may(to("get", "", "pods", "app")));
  rbac.remove(part);
  EXPECT_FALSE(may(to("get", "", "pods", "app")));
}

TEST_F(RbacTest, PathsAreOfTheClusterAlone) {
  rbac.put(
      roleOf("ClusterRole", "", "r", R"([{"verbs": ["get"], "nonResourceURLs": ["/graph", "/why/*"]}])"));
  rbac.put(bindingOf("RoleBinding", "app", "ClusterRole", "r", kJane));
  EXPECT_FALSE(may({"get", "", "", "", "", "", "/graph"}));
  rbac.put(bindingOf("ClusterRoleBinding", "", "ClusterRole", "r", kJane));
  EXPECT_TRUE(may({"get", "", "", "", "", "", "/graph"}));
  EXPECT_TRUE(may({"get", "", "", "", "", "", "/why/a"}));
  EXPECT_FALSE(may({"get", "", "", "", "", "", "/graphs"}));
  EXPECT_FALSE(may(to("get", "", "pods", "app")));
}

TEST_F(RbacTest, ControllersHaveTheirRights) {
  EXPECT_TRUE(may(to("delete", "", "secrets", "app", "a"), controllerUser("generic-garbage-collector")));
  EXPECT_TRUE(may(to("deletecollection", "", "pods", "app"), controllerUser("namespace-controller")));
  EXPECT_FALSE(may(to("create", "", "pods", "app"), controllerUser("namespace-controller")));
  EXPECT_FALSE(
      may(to("delete", "", "pods", "app", "a"), {"system:serviceaccount:kube-system:other", "", {}, {}}));
}

TEST_F(RbacTest, DecidesForUsersBesideTheTokensFile) {
  Users users{{{"t", {"bob", "", {}, {}}, {{{"get"}, {""}, {"pods"}, {}, {}, {}}}}}, &rbac};
  EXPECT_TRUE(mayDo(users, {"bob", "", {}, {}}, to("get", "", "pods", "app", "a")));
  EXPECT_FALSE(mayDo(users, kJaneHerself, to("get", "", "pods", "app", "a")));
  rbac.put(
      roleOf("ClusterRole", "", "r", R"([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}])"));
  rbac.put(bindingOf("ClusterRoleBinding", "", "ClusterRole", "r", kJane));
  EXPECT_TRUE(mayDo(users, kJaneHerself, to("get", "", "pods", "app", "a")));
  EXPECT_TRUE(mayDo({{}, &rbac}, {"root", "", {"system:masters"}, {}}, to("delete", "", "nodes")));
  EXPECT_FALSE(mayDo({{}, &rbac}, {"bob", "", {}, {}}, to("get", "", "pods"))) << "nobody else is admin";
  const Json review =
      answerSelfSubjectRulesReview(users, kJaneHerself, {{"spec", {{"namespace", "app"}}}}).value();
  EXPECT_EQ(review["status"]["resourceRules"].back()["resources"], Json::array({"pods"}));
}

}  // namespace
}  // namespace lastout::simulator
