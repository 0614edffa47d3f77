#include "tests/clients/rights.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "kube/parse.h"

namespace lastout::clients {
namespace {

using Json = nlohmann::json;

// The manifests' roles and bindings.
class Rbac {
 public:
  explicit Rbac(const std::vector<Json>& objects) {
    for (const Json& object : objects) {
      const std::string kind = object["kind"];
      if (kind == "ClusterRole") clusterRoles_[object["metadata"]["name"]] = object;
      if (kind == "Role") roles_[{object["metadata"]["namespace"], object["metadata"]["name"]}] = object;
      if (kind.ends_with("RoleBinding")) bindings_.push_back(object);
    }
  }

  // What the bindings give to the account, in the tokens file's words.
  Json rightsOf(const std::string& namespaceName, const std::string& name) const {
    Json rights = Json::array();
    for (const Json& binding : bindings_) {
      for (const Json& subject : binding["subjects"]) {
        if (subject["kind"] != "ServiceAccount" || subject["name"] != name ||
            subject["namespace"] != namespaceName)
          continue;
        const bool isEverywhere = binding["kind"] == "ClusterRoleBinding";
        const std::string where = isEverywhere ? "" : binding["metadata"]["namespace"].get<std::string>();
        for (const Json& rule : rulesOf(binding["roleRef"], where)) rights.push_back(rightOf(rule, where));
      }
    }
    return rights;
  }

 private:
  Json rulesOf(const Json& reference, const std::string& where) const {
    const std::string name = reference["name"];
    if (reference["kind"] == "Role" && roles_.contains({where, name}))
      return roles_.at({where, name}).value("rules", Json::array());
    if (reference["kind"] == "ClusterRole" && clusterRoles_.contains(name)) {
      const Json& role = clusterRoles_.at(name);
      return role.contains("aggregationRule") ? aggregated(role) : role.value("rules", Json::array());
    }
    ADD_FAILURE() << "a binding names " << reference << ", which is not there";
    return Json::array();
  }

  Json aggregated(const Json& role) const {
    Json rules = Json::array();
    for (const Json& selector : role["aggregationRule"]["clusterRoleSelectors"]) {
      for (const auto& [name, other] : clusterRoles_) {
        const Json labels = other["metadata"].value("labels", Json::object());
        bool matches = true;
        for (const auto& [label, value] : selector["matchLabels"].items())
          matches = matches && labels.contains(label) && labels[label] == value;
        if (matches) rules.insert(rules.end(), other["rules"].begin(), other["rules"].end());
      }
    }
    return rules;
  }

  // `where`: the only namespace; empty: anywhere.
  static Json rightOf(const Json& rule, const std::string& where) {
    Json right = {{"verbs", rule["verbs"]}};
    const std::pair<const char*, const char*> words[] = {{"apiGroups", "groups"},
                                                         {"resources", "resources"},
                                                         {"resourceNames", "names"},
                                                         {"nonResourceURLs", "paths"}};
    for (const auto& [theirs, ours] : words) {
      if (rule.contains(theirs)) right[ours] = rule[theirs];
    }
    if (!where.empty()) right["namespaces"] = Json::array({where});
    return right;
  }

  std::map<std::string, Json> clusterRoles_;
  std::map<std::pair<std::string, std::string>, Json> roles_;
  std::vector<Json> bindings_;
};

}  // namespace

std::string tokensFile(const std::string& manifests, const std::vector<Account>& accounts) {
  const auto documents = kube::parseYaml(manifests, "manifests");
  if (!documents) {
    ADD_FAILURE() << documents.error().message << "\n" << manifests;
    return {};
  }
  std::vector<Json> objects;
  for (const kube::Value& document : *documents)
    objects.push_back(Json::parse(kube::toJson(document).dump()));
  Json users = Json::array();
  for (const Account& account : accounts) {
    const std::string username = "system:serviceaccount:" + account.namespaceName + ":" + account.name;
    const Json rights = Rbac(objects).rightsOf(account.namespaceName, account.name);
    EXPECT_FALSE(rights.empty()) << "nothing is bound to " << username;
    users.push_back({{"token", account.token}, {"username", username}, {"rights", rights}});
  }
  return Json{{"users", users}}.dump();
}

}  // namespace lastout::clients
