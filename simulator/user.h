// Who asks: users as reviews show them, the tokens file that names them and says what they may do, and the
// answers about both (TokenReview, SubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/kubernetes_version.h"
#include "kube/parse.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

struct UserInfo {
  std::string username;
  std::string uid;  // empty: none
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>, std::less<>> extra;
  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

// As in reviews: what is empty is absent.
Json toJson(const UserInfo& user);

UserInfo adminUser();      // "admin", of system:masters (recordings/admission/01)
UserInfo apiserverUser();  // the API server itself, for what it does on its own (29, 30, 32)
UserInfo agentUser();      // the ManifestWork agent: "agent", of system:masters (admission/08)
// A controller of Kubernetes' own, "generic-garbage-collector" or "namespace-controller": its service account
// in kube-system (02, 15, 24). The uid, and the token that it is known by, depend on the name alone.
UserInfo controllerUser(std::string_view controller,
                        kube::KubernetesVersion kubernetes = kube::kNewestKubernetes);
// Adds by what the user is known, "JTI=<uid of a token>" or "X509SHA256=<hash of a certificate>", where that
// version tells it.
void addCredential(UserInfo& user, std::string credential, kube::KubernetesVersion kubernetes);

// What somebody asks to do: with an object, or (path not empty) with a path that is no object's.
struct AccessAttributes {
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string namespaceName;
  std::string name;
  std::string path;
};

// Allows what matches every list, as an RBAC rule does. "*" matches anything; no names and no namespaces mean
// any of them.
struct AccessRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups;
  std::vector<std::string> resources;  // "pods", "pods/status", "*/scale"
  std::vector<std::string> names;
  std::vector<std::string> namespaces;
  std::vector<std::string> paths;  // "/healthz", "/apis/*"; a rule for these is for nothing else
};

bool allows(const std::vector<AccessRule>& rules, const AccessAttributes& wanted);

struct KnownUser {
  std::string token;  // empty: known by certificate alone
  UserInfo user;
  std::vector<AccessRule> rights;
};

class Rbac;

// The users of a tokens file, and the stored roles and bindings where these count, too (nullptr: they do
// not). Without both every token is rejected, and all users may do everything.
struct Users {
  std::vector<KnownUser> known;
  const Rbac* rbac = nullptr;
};

// `users: [{token, username, uid, groups, extra, rights: [{verbs, groups, resources, names, namespaces,
// paths}]}]`, in YAML or JSON. Every user also gets the group system:authenticated, a ServiceAccount those of
// all ServiceAccounts and of its namespace's. Fails with every mistake
// and its place: unknown fields, a user without a name, the same token twice, no users at all.
tl::expected<Users, kube::Errors> parseUsers(std::string_view text, std::string_view file);

// Whose token it is; nullopt: nobody's (401).
std::optional<UserInfo> userWithToken(const Users& users, std::string_view token);
// Whether `user` may do that: members of system:masters, and all without a tokens file or RBAC, may do
// everything; anybody may ask what he may do, as Kubernetes' role system:basic-user has it.
bool mayDo(const Users& users, const UserInfo& user, const AccessAttributes& wanted);
// 403: `<type> "<name>" is forbidden: User "<user>" cannot <verb> resource "<resource>" ...`.
ApiError accessDenied(const UserInfo& user, const AccessAttributes& wanted);

// Who a client wants to be instead (kubectl --as): the headers Impersonate-User, -Uid and -Group.
struct Impersonation {
  std::string username;
  std::string uid;
  std::vector<std::string> groups;
  bool isAsked() const { return !username.empty() || !uid.empty() || !groups.empty(); }
};
// Him, when `asking` has the right to impersonate the user and each group; 403 otherwise, and 500 for groups
// without a user, as Kubernetes answers them.
ApiResult<UserInfo> impersonated(const Users& users, const UserInfo& asking, const Impersonation& wanted);

// The request with its status filled in. Fails as the API server does: 400 for a body that is none, 422 for
// one that does not say what it asks.
ApiResult<Json> answerTokenReview(const Users& users, Json review);
ApiResult<Json> answerSubjectAccessReview(const Users& users, Json review);
// Asks about one namespace alone, that of the request's path.
ApiResult<Json> answerLocalSubjectAccessReview(const Users& users, std::string_view namespaceName,
                                               Json review);
ApiResult<Json> answerSelfSubjectAccessReview(const Users& users, const UserInfo& asking, Json review);
// Returns everything that the user may do in a namespace.
ApiResult<Json> answerSelfSubjectRulesReview(const Users& users, const UserInfo& asking, Json review);

}  // namespace lastout::simulator
