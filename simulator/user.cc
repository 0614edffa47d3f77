#include "simulator/user.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "kube/encoding.h"
#include "kube/fields.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"
#include "simulator/rbac.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kMasters = "system:masters";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr size_t kMostUsers = 10'000;  // of one file
constexpr size_t kLongestUserToken = 4096;

std::string uidOfName(std::string_view name) {
  const uint64_t high = kube::stableHash(name);
  const uint64_t low = kube::stableHash(name, high);
  std::string uid;
  for (unsigned i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uid += '-';
    uid += kube::kHexDigits[(i < 16 ? high >> (60 - 4 * i) : low >> (124 - 4 * i)) & 15U];
  }
  uid[14] = '4';  // the version and the variant of a random one
  uid[19] = 'a';
  return uid;
}

bool hasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool matchesWord(const std::vector<std::string>& words, std::string_view word) {
  return hasWord(words, "*") || hasWord(words, word);
}

bool matchesResource(const std::vector<std::string>& resources, const AccessAttributes& wanted) {
  if (hasWord(resources, "*")) return true;
  if (wanted.subresource.empty()) return hasWord(resources, wanted.resource);
  return hasWord(resources, wanted.resource + "/" + wanted.subresource) ||
         hasWord(resources, "*/" + wanted.subresource);
}

bool matchesPath(const std::vector<std::string>& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [path](std::string_view pattern) {
    if (!pattern.ends_with('*')) return pattern == path;
    return path.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

bool allowsOne(const AccessRule& rule, const AccessAttributes& wanted) {
  if (!matchesWord(rule.verbs, wanted.verb)) return false;
  if (!wanted.path.empty()) return matchesPath(rule.paths, wanted.path);
  return matchesWord(rule.groups, wanted.group) && matchesResource(rule.resources, wanted) &&
         (rule.names.empty() || matchesWord(rule.names, wanted.name)) &&
         (rule.namespaces.empty() || matchesWord(rule.namespaces, wanted.namespaceName));
}

AccessRule readAccessRule(kube::Fields& fields) {
  AccessRule rule;
  rule.verbs = fields.strings("verbs");
  rule.groups = fields.strings("groups");
  rule.resources = fields.strings("resources");
  rule.names = fields.strings("names");
  rule.namespaces = fields.strings("namespaces");
  rule.paths = fields.strings("paths");
  fields.finish();
  if (rule.verbs.empty()) fields.fail("verbs", fields.pathOf("verbs") + " must name at least one verb, or *");
  if (rule.paths.empty() && rule.resources.empty())
    fields.fail("resources", fields.path() + " needs resources (with their groups), or paths");
  if (!rule.resources.empty() && rule.groups.empty())
    fields.fail("groups",
                fields.pathOf("groups") + " must name at least one group (\"\" is the core's), or *");
  return rule;
}

// A service account's name, "system:serviceaccount:<namespace>:<name>", in its parts.
std::optional<std::pair<std::string, std::string>> serviceAccountIn(std::string_view username) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!username.starts_with(kPrefix)) return std::nullopt;
  username.remove_prefix(kPrefix.size());
  const size_t colon = username.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == username.size() ||
      username.find(':', colon + 1) != std::string_view::npos)
    return std::nullopt;
  return std::pair(std::string(username.substr(0, colon)), std::string(username.substr(colon + 1)));
}

// The groups that an API server puts every such user in.
void addGroups(UserInfo& user) {
  const auto add = [&user](std::string group) {
    if (!hasWord(user.groups, group)) user.groups.push_back(std::move(group));
  };
  if (const auto account = serviceAccountIn(user.username)) {
    add("system:serviceaccounts");
    add("system:serviceaccounts:" + account->first);
  }
  add(std::string(kAuthenticated));
}

KnownUser readKnownUser(kube::Fields& fields) {
  KnownUser known;
  const std::optional<std::string> token = fields.string("token");
  if (token && token->empty())
    fields.fail("token", fields.pathOf("token") + " is empty; leave it out for one without a token");
  known.token = token.value_or("");
  known.user.username = fields.requiredString("username");
  known.user.uid = fields.string("uid").value_or("");
  known.user.groups = fields.strings("groups");
  addGroups(known.user);
  if (auto extra = fields.fields("extra")) {
    for (const kube::Member& member : *extra->value().asMap())
      known.user.extra[member.key] = extra->strings(member.key);
  }
  for (kube::Fields& rule : fields.items("rights")) known.rights.push_back(readAccessRule(rule));
  fields.finish();
  if (known.token.size() > kLongestUserToken)
    fields.fail("token", fields.pathOf("token") + " is longer than 4096 bytes");
  return known;
}

// What everybody may do.
const AccessRule& ownQuestions() {
  static const AccessRule kRule{.verbs = {"create"},
                                .groups = {std::string(kube::kAuthorizationGroup)},
                                .resources = {"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
                                .names = {},
                                .namespaces = {},
                                .paths = {}};
  return kRule;
}

AccessAttributes toImpersonate(std::string group, std::string resource, std::string space, std::string name) {
  return {"impersonate", std::move(group), std::move(resource), "", std::move(space), std::move(name), ""};
}

bool everybodyIsAdmin(const Users& users) { return users.known.empty() && users.rbac == nullptr; }

// The part of a review that asks. A body that holds something else there is refused as a whole.
ApiResult<Json*> questionOf(Json& review, std::string_view kind) {
  if (!review.is_object() || !review.contains("spec") || !review["spec"].is_object())
    return tl::unexpected(badRequest(std::string(kind) + " needs a spec, an object"));
  return &review["spec"];
}

AccessAttributes accessAttributesOf(const Json& spec) {
  if (const Json* path = at(spec, {"nonResourceAttributes"}); path != nullptr && path->is_object()) {
    AccessAttributes wanted;
    wanted.verb = stringAt(*path, {"verb"});
    wanted.path = stringAt(*path, {"path"});
    if (wanted.path.empty()) wanted.path = "/";
    return wanted;
  }
  const auto text = [&spec](std::string_view key) {
    return std::string(stringAt(spec, {"resourceAttributes", key}));
  };
  return {text("verb"),
          text("group"),
          text("resource"),
          text("subresource"),
          text("namespace"),
          text("name"),
          ""};
}

// What is wrong with the question itself.
std::vector<StatusCause> problemsOfQuestion(const Json& spec, bool asksForAnother) {
  const auto has = [&spec](std::string_view key) {
    const Json* found = at(spec, {key});
    return found != nullptr && found->is_object();
  };
  std::vector<StatusCause> causes;
  if (has("resourceAttributes") && has("nonResourceAttributes"))
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"nonResourceAttributes\": cannot be specified in combination with "
                      "resourceAttributes",
                      "spec.nonResourceAttributes"});
  if (!has("resourceAttributes") && !has("nonResourceAttributes"))
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"null\": exactly one of nonResourceAttributes or resourceAttributes "
                      "must be specified",
                      "spec.resourceAttributes"});
  if (asksForAnother && stringAt(spec, {"user"}).empty() && wordsAt(spec, {"groups"}).empty())
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"\": at least one of user or group must be specified", "spec.user"});
  return causes;
}

UserInfo askedAbout(const Json& spec) {
  return {std::string(stringAt(spec, {"user"})),
          std::string(stringAt(spec, {"uid"})),
          wordsAt(spec, {"groups"}),
          {}};
}

bool mayDoEverything(const Users& users, const UserInfo& user) {
  return everybodyIsAdmin(users) || hasWord(user.groups, kMasters);
}

// Adds the rule as a SelfSubjectRulesReview lists it, to the one list or the other.
void addRule(Json& status, const AccessRule& rule) {
  if (!rule.paths.empty()) {
    status["nonResourceRules"].push_back({{"verbs", rule.verbs}, {"nonResourceURLs", rule.paths}});
    return;
  }
  Json listed = {{"verbs", rule.verbs}, {"apiGroups", rule.groups}, {"resources", rule.resources}};
  if (!rule.names.empty()) listed["resourceNames"] = rule.names;
  status["resourceRules"].push_back(std::move(listed));
}

Json accessStatus(bool allowed) {
  if (allowed) return {{"allowed", true}};
  return {{"allowed", false}, {"reason", "no rule allows it"}};
}

}  // namespace

Json toJson(const UserInfo& user) {
  Json json = Json::object();
  if (!user.username.empty()) json["username"] = user.username;
  if (!user.uid.empty()) json["uid"] = user.uid;
  if (!user.groups.empty()) json["groups"] = user.groups;
  if (!user.extra.empty()) json["extra"] = user.extra;
  return json;
}

UserInfo adminUser() { return {"admin", "", {std::string(kMasters), std::string(kAuthenticated)}, {}}; }

UserInfo agentUser() { return {"agent", "", {std::string(kMasters), std::string(kAuthenticated)}, {}}; }

UserInfo apiserverUser() {
  return {"system:apiserver", uidOfName("system:apiserver"), {std::string(kMasters)}, {}};
}

void addCredential(UserInfo& user, std::string credential, kube::KubernetesVersion kubernetes) {
  if (kube::tellsCredentials(kubernetes))
    user.extra["authentication.kubernetes.io/credential-id"] = {std::move(credential)};
}

UserInfo controllerUser(std::string_view controller, kube::KubernetesVersion kubernetes) {
  const std::string name = "system:serviceaccount:kube-system:" + std::string(controller);
  UserInfo user{name,
                uidOfName(name),
                {"system:serviceaccounts", "system:serviceaccounts:kube-system", std::string(kAuthenticated)},
                {}};
  addCredential(user, "JTI=" + uidOfName("token of " + name), kubernetes);
  return user;
}

bool allows(const std::vector<AccessRule>& rules, const AccessAttributes& wanted) {
  return std::ranges::any_of(rules, [&wanted](const AccessRule& rule) { return allowsOne(rule, wanted); });
}

tl::expected<Users, kube::Errors> parseUsers(std::string_view text, std::string_view file) {
  const auto documents = kube::parseYaml(text, file);
  if (!documents) return tl::unexpected(kube::Errors{documents.error()});
  if (documents->size() != 1)
    return tl::unexpected(
        kube::Errors{{"a tokens file is one document: users: [{token, username, groups, rights}]",
                      std::string(file),
                      {}}});
  kube::Errors errors;
  Users users;
  std::set<std::string, std::less<>> tokens;
  kube::Fields fields(documents->front(), file, "", errors);
  const kube::Value* list = fields.requiredList("users");
  if (list != nullptr && list->asList()->empty()) fields.fail("users", "users names nobody");
  if (list != nullptr && list->asList()->size() > kMostUsers) {
    fields.fail("users", "users holds more than 10000 of them");
    return tl::unexpected(std::move(errors));
  }
  for (kube::Fields& user : fields.items("users")) {
    KnownUser known = readKnownUser(user);
    if (!known.token.empty() && !tokens.insert(known.token).second)
      user.fail("token", user.pathOf("token") + " is another user's, too");
    users.known.push_back(std::move(known));
  }
  fields.finish();
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return users;
}

std::optional<UserInfo> userWithToken(const Users& users, std::string_view token) {
  if (token.empty()) return std::nullopt;
  const auto found = std::ranges::find(users.known, token, &KnownUser::token);
  if (found == users.known.end()) return std::nullopt;
  return found->user;
}

bool mayDo(const Users& users, const UserInfo& user, const AccessAttributes& wanted) {
  if (mayDoEverything(users, user) || allowsOne(ownQuestions(), wanted)) return true;
  if (users.rbac != nullptr && users.rbac->allows(user, wanted)) return true;
  return std::ranges::any_of(users.known, [&user, &wanted](const KnownUser& known) {
    return known.user.username == user.username && allows(known.rights, wanted);
  });
}

ApiError accessDenied(const UserInfo& user, const AccessAttributes& wanted) {
  const std::string resource = wanted.resource + (wanted.subresource.empty() ? "" : "/" + wanted.subresource);
  const std::string where = wanted.namespaceName.empty()
                                ? "at the cluster scope"
                                : "in the namespace \"" + wanted.namespaceName + "\"";
  return forbidden({wanted.group, wanted.resource}, wanted.name,
                   "User \"" + user.username + "\" cannot " + wanted.verb + " resource \"" + resource +
                       "\" in API group \"" + wanted.group + "\" " + where);
}

ApiResult<UserInfo> impersonated(const Users& users, const UserInfo& asking, const Impersonation& wanted) {
  if (wanted.username.empty()) return tl::unexpected(internalError("requested without impersonating a user"));
  const auto account = serviceAccountIn(wanted.username);
  std::vector<AccessAttributes> needed = {
      account ? toImpersonate("", "serviceaccounts", account->first, account->second)
              : toImpersonate("", "users", "", wanted.username)};
  for (const std::string& group : wanted.groups) needed.push_back(toImpersonate("", "groups", "", group));
  if (!wanted.uid.empty())
    needed.push_back(toImpersonate(std::string(kube::kAuthenticationGroup), "uids", "", wanted.uid));
  for (const AccessAttributes& one : needed) {
    if (!mayDo(users, asking, one)) return tl::unexpected(accessDenied(asking, one));
  }
  UserInfo user{wanted.username, wanted.uid, wanted.groups, {}};
  if (account && user.groups.empty())
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->first};
  const std::string_view everyone =
      wanted.username == "system:anonymous" ? "system:unauthenticated" : kAuthenticated;
  if (!hasWord(user.groups, everyone)) user.groups.emplace_back(everyone);
  return user;
}

ApiResult<Json> answerTokenReview(const Users& users, Json review) {
  const auto spec = questionOf(review, "TokenReview");
  if (!spec) return tl::unexpected(spec.error());
  const std::string_view token = stringAt(**spec, {"token"});
  if (token.empty()) return tl::unexpected(badRequest("token is required for TokenReview in authentication"));
  const auto user = userWithToken(users, token);
  review["status"] = user ? Json{{"authenticated", true}, {"user", toJson(*user)}}
                          : Json{{"user", Json::object()}, {"error", "invalid bearer token"}};
  return review;
}

ApiResult<Json> answerSubjectAccessReview(const Users& users, Json review) {
  const auto spec = questionOf(review, "SubjectAccessReview");
  if (!spec) return tl::unexpected(spec.error());
  if (const auto causes = problemsOfQuestion(**spec, true); !causes.empty())
    return tl::unexpected(invalid("SubjectAccessReview", kube::kAuthorizationGroup, "", causes));
  review["status"] = accessStatus(mayDo(users, askedAbout(**spec), accessAttributesOf(**spec)));
  return review;
}

ApiResult<Json> answerLocalSubjectAccessReview(const Users& users, std::string_view namespaceName,
                                               Json review) {
  const auto spec = questionOf(review, "LocalSubjectAccessReview");
  if (!spec) return tl::unexpected(spec.error());
  std::vector<StatusCause> causes = problemsOfQuestion(**spec, true);
  const AccessAttributes wanted = accessAttributesOf(**spec);
  if (!wanted.path.empty()) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"nonResourceAttributes\": disallowed on this kind of request",
                      "spec.nonResourceAttributes"});
  } else if (wanted.namespaceName != namespaceName) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + goQuoted(wanted.namespaceName) + ": must match metadata.namespace",
                      "spec.resourceAttributes.namespace"});
  }
  if (!causes.empty())
    return tl::unexpected(invalid("LocalSubjectAccessReview", kube::kAuthorizationGroup, "", causes));
  review["status"] = accessStatus(mayDo(users, askedAbout(**spec), wanted));
  return review;
}

ApiResult<Json> answerSelfSubjectAccessReview(const Users& users, const UserInfo& asking, Json review) {
  const auto spec = questionOf(review, "SelfSubjectAccessReview");
  if (!spec) return tl::unexpected(spec.error());
  if (const auto causes = problemsOfQuestion(**spec, false); !causes.empty())
    return tl::unexpected(invalid("SelfSubjectAccessReview", kube::kAuthorizationGroup, "", causes));
  review["status"] = accessStatus(mayDo(users, asking, accessAttributesOf(**spec)));
  return review;
}

ApiResult<Json> answerSelfSubjectRulesReview(const Users& users, const UserInfo& asking, Json review) {
  const auto spec = questionOf(review, "SelfSubjectRulesReview");
  if (!spec) return tl::unexpected(spec.error());
  const std::string_view space = stringAt(**spec, {"namespace"});
  if (space.empty()) return tl::unexpected(badRequest("no namespace on request"));
  Json status = {
      {"resourceRules", Json::array()}, {"nonResourceRules", Json::array()}, {"incomplete", false}};
  if (mayDoEverything(users, asking)) {
    addRule(
        status,
        {.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}, .names = {}, .namespaces = {}, .paths = {}});
    addRule(status,
            {.verbs = {"*"}, .groups = {}, .resources = {}, .names = {}, .namespaces = {}, .paths = {"*"}});
  } else {
    addRule(status, ownQuestions());
    for (const KnownUser& known : users.known) {
      if (known.user.username != asking.username) continue;
      for (const AccessRule& rule : known.rights) {
        if (rule.namespaces.empty() || hasWord(rule.namespaces, space)) addRule(status, rule);
      }
    }
    if (users.rbac != nullptr) {
      for (const AccessRule& rule : users.rbac->rulesFor(asking, space)) addRule(status, rule);
    }
  }
  review["status"] = std::move(status);
  return review;
}

}  // namespace lastout::simulator
