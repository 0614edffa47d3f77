#include "server/review/authorization.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/secret.h"
#include "client/writes.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using kube::Json;

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr const char* kSelfAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

constexpr size_t kMostKnown = 100;

// "Bearer abc" as "abc"; the word in any case; empty: it is none.
std::string tokenIn(std::string_view header) {
  constexpr std::string_view kBearer = "bearer ";
  if (kube::lowerCase(header.substr(0, kBearer.size())) != kBearer) return {};
  std::string_view token = header.substr(kBearer.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  return std::string(token);
}

Json review(std::string_view group, const char* kind, Json spec) {
  return {{"apiVersion", std::string(group) + "/v1"}, {"kind", kind}, {"spec", std::move(spec)}};
}

// The `status` of a review that was posted, or why there is none.
kube::Result<Json> statusOf(client::ApiServer& server, const char* path, const Json& asked,
                            std::chrono::milliseconds patience) {
  const auto whole = ObjectClient(server, patience, kMostOwnObjectBytes).ask(client::creation(path, asked));
  if (!whole) return tl::unexpected(kube::Error{whole.error().why, {}, {}});
  Json answer = Json::parse(whole->body, nullptr, false);
  if (!answer.is_object() || !answer.contains("status") || !answer["status"].is_object())
    return tl::unexpected(kube::Error{"the answer is no review", {}, {}});
  return std::move(answer["status"]);
}

bool isTrue(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string textAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// What the user, as the API server describes them, is asked to be allowed; whether they are. nullptr: the
// account that asks.
kube::Result<bool> mayDo(client::ApiServer& server, const Json* user, const char* attributes, Json asked,
                         std::chrono::milliseconds patience) {
  Json spec = {{attributes, std::move(asked)}};
  if (user != nullptr) spec["user"] = textAt(*user, "username");
  for (const char* field : {"uid", "groups", "extra"}) {
    if (user != nullptr && user->contains(field)) spec[field] = (*user)[field];
  }
  const char* kind = user == nullptr ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const auto access = statusOf(server, user == nullptr ? kSelfAccessReviews : kAccessReviews,
                               review(kube::kAuthorizationGroup, kind, std::move(spec)), patience);
  if (!access) return tl::unexpected(access.error());
  return isTrue(*access, "allowed") && !isTrue(*access, "denied");
}

// As the API server sees a request: one for a Namespace is one in that namespace, too, whose Roles may grant
// it.
Json attributesOf(const admission::NeededRight& right) {
  const kube::ObjectKey& object = right.object;
  const bool isNamespace = object.type == kube::kNamespaces;
  const std::string& resource = object.type.resource;
  const size_t end = std::min(resource.find('/'), resource.size());
  Json attributes = {{"verb", right.verb},
                     {"group", object.type.group},
                     {"resource", resource.substr(0, end)},
                     {"namespace", isNamespace ? object.name : object.namespaceName},
                     {"name", object.name}};
  if (end < resource.size()) attributes["subresource"] = resource.substr(end + 1);
  return attributes;
}

// The oldest goes.
template <class Map, class Time>
void dropOldest(Map& map, Time time) {
  map.erase(std::min_element(map.begin(), map.end(),
                             [&](const auto& a, const auto& b) { return time(a.second) < time(b.second); }));
}

}  // namespace

Authorization::Authorization(const std::shared_ptr<client::Access>& access, AuthorizationOptions options)
    : options_(std::move(options)), server_(access->newServer()) {}

Authorization::Answer Authorization::mayGet(std::string_view header, const std::string& path) {
  const std::string token = tokenIn(header);
  if (token.empty())
    return {401, "who asks has to say so: send a token, as in \"Authorization: Bearer <token>\""};
  if (client::tokenProblem(token)) return {401, "what was sent is no token"};
  const auto digest = digestOf(token);
  if (!digest) return notAsked("who asks", "OpenSSL makes no SHA-256");
  const Key key{*digest, path};
  kube::MutexLock lock(mutex_);
  const auto found = cache_.find(key);
  if (found != cache_.end() && options_.now() < found->second.until) return found->second.answer;
  const bool isKnown = known_.contains(*digest);
  const auto under = flights_.find(key);
  if (isKnown && under != flights_.end()) {
    const std::shared_ptr<Flight> flight = under->second;
    landed_.wait(lock, [&] { return flight->landed; });
    return flight->answer;
  }
  if (!isKnown && (strangers_ >= options_.strangers || under != flights_.end()))
    return {503, "the API server is being asked about others; try again"};
  const auto flight = std::make_shared<Flight>();
  flights_.emplace(key, flight);
  if (!isKnown) ++strangers_;
  lock.unlock();
  Answer answer = ask(token, path);
  lock.lock();
  if (!isKnown) --strangers_;
  flights_.erase(key);
  if (answer.status != 503) cache(key, answer);
  flight->answer = answer;
  flight->landed = true;
  landed_.notifyAll();
  return answer;
}

std::optional<Authorization::Digest> Authorization::digestOf(std::string_view token) {
  Digest digest{};
  unsigned int size = 0;
  const bool isMade =
      EVP_Digest(token.data(), token.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1 &&
      size == digest.size();
  return isMade ? std::optional(digest) : std::nullopt;
}

// What the API server said may name what nobody else is to know. One line, however many ask.
Authorization::Answer Authorization::notAsked(const std::string& what, const std::string& why) {
  bool isNew = false;
  {
    const kube::MutexLock lock(mutex_);
    isNew = !std::exchange(troubled_, true);
  }
  if (isNew && options_.log)
    options_.log(Level::Warning, "answers: " + what + " cannot be found out: " + kube::printable(why));
  return {503, what + " cannot be found out now; try again"};
}

Authorization::Answer Authorization::ask(const std::string& token, const std::string& path) {
  const auto identity =
      statusOf(*server_, kTokenReviews, review(kube::kAuthenticationGroup, "TokenReview", {{"token", token}}),
               options_.patience);
  if (!identity) return notAsked("who asks", identity.error().message);
  const auto user = identity->find("user");
  if (!isTrue(*identity, "authenticated") || user == identity->end() || !user->is_object() ||
      textAt(*user, "username").empty())
    return {401, "the API server knows nobody with this token"};
  const auto may =
      mayDo(*server_, &*user, "nonResourceAttributes", {{"path", path}, {"verb", "get"}}, options_.patience);
  const std::string name = kube::inQuotes(textAt(*user, "username"));
  if (!may) return notAsked("what " + name + " may do", may.error().message);
  if (*may) return {200, {}};
  return {403, "user " + name + " cannot get path " + kube::inQuotes(path) +
                   "; a ClusterRole with nonResourceURLs grants it"};
}

// What is over goes first; if that is not enough, what will be over first.
void Authorization::cache(const Key& key, const Answer& answer) {
  const TimePoint now = options_.now();
  if (std::exchange(troubled_, false) && options_.log)
    options_.log(Level::Info, "answers: the API server tells again who may ask");
  if (answer.status == 401) {
    known_.erase(key.first);
  } else {
    if (known_.size() >= kMostKnown && !known_.contains(key.first))
      dropOldest(known_, [](TimePoint since) { return since; });
    known_[key.first] = now;
  }
  if (cache_.size() >= options_.most)
    std::erase_if(cache_, [&](const auto& each) { return each.second.until <= now; });
  if (cache_.size() >= options_.most && !cache_.contains(key))
    dropOldest(cache_, [](const CachedAnswer& each) { return each.until; });
  cache_[key] = {answer, now + options_.cacheTtl};
}

size_t Authorization::cachedAnswers() {
  const kube::MutexLock lock(mutex_);
  return cache_.size();
}

ObjectRights::ObjectRights(const std::shared_ptr<client::Access>& access) : server_(access->newServer()) {}

std::string userInfoOf(const std::string& namespaceName, const std::string& account) {
  const std::string all = "system:serviceaccounts";
  const Json user{{"username", "system:serviceaccount:" + namespaceName + ":" + account},
                  {"groups", {all, all + ":" + namespaceName, "system:authenticated"}}};
  return user.dump();
}

kube::Result<std::vector<admission::NeededRight>> lackingRights(
    client::ApiServer& server, const std::string* userInfo, const std::vector<admission::NeededRight>& rights,
    client::TimePoint deadline) {
  const Json user = userInfo == nullptr ? Json() : Json::parse(*userInfo, nullptr, false);
  std::vector<admission::NeededRight> lacking;
  for (const admission::NeededRight& right : rights) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return tl::unexpected(kube::Error{"asking the API server took too long", {}, {}});
    const auto may =
        mayDo(server, userInfo == nullptr ? nullptr : &user, "resourceAttributes", attributesOf(right), left);
    if (!may) return tl::unexpected(may.error());
    if (!*may) lacking.push_back(right);
    if (lacking.size() == ObjectRights::kMostLacking) break;
  }
  return lacking;
}

std::string lackingInWords(const std::vector<admission::NeededRight>& rights) {
  const bool isAll = rights.size() < ObjectRights::kMostLacking;
  return kube::listed(kube::wordsOf(rights)) + (isAll ? "" : " (no others were asked about)");
}

}  // namespace lastout::server
