// What users may do, from the API server (SubjectAccessReview). Authorization: checks whether the user of a
// token (TokenReview) may get a path of lastout's answers. ObjectRights: checks what the writer of a
// CriticalService, or an account of lastout's, may do to objects.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/service_changes.h"
#include "client/access.h"
#include "client/reflector.h"
#include "kube/locks.h"
#include "kube/result.h"
#include "server/runtime/log.h"

namespace lastout::server {

struct AuthorizationOptions {
  std::function<client::TimePoint()> now = std::chrono::steady_clock::now;
  // How long an answer of the API server is believed; as long as Kubernetes' own components do.
  std::chrono::milliseconds cacheTtl{10'000};
  size_t most = 1'000;                        // cached answers
  std::chrono::milliseconds patience{5'000};  // for each of the two reviews
  // How many tokens that the API server has not confirmed lately are checked at once, so that a client with
  // invented tokens does not keep others waiting.
  size_t strangers = 1;
  // One line when the API server cannot be asked, and one when it can again. May be empty.
  LogSink log;
};

// Safe for any number of threads.
class Authorization {
 public:
  using TimePoint = client::TimePoint;

  // 200: allowed; 401: the token belongs to no known user; 403: not allowed; 503: the API server could not be
  // asked, so nobody is allowed, and only the log says why.
  struct Answer {
    int status = 503;
    std::string message;  // of others than 200, for people
  };

  Authorization(const std::shared_ptr<client::Access>& access, AuthorizationOptions options);

  // `header`: the value of Authorization, "Bearer <token>". `path`: "/metrics"; the right is to `get` it as a
  // nonResourceURL.
  Answer mayGet(std::string_view header, const std::string& path);
  size_t cachedAnswers();
  // Ends what is under way; from now on nobody may.
  void stop() { server_->stop(); }

 private:
  using Digest = std::array<unsigned char, 32>;  // the SHA-256 of a token, so that no token is kept
  using Key = std::pair<Digest, std::string>;    // and a path
  struct CachedAnswer {
    Answer answer;
    TimePoint until;
  };

  // The API server is being asked.
  struct Flight {
    bool landed = false;
    Answer answer;
  };

  static std::optional<Digest> digestOf(std::string_view token);
  Answer ask(const std::string& token, const std::string& path);
  Answer notAsked(const std::string& what, const std::string& why);
  void cache(const Key& key, const Answer& answer) LASTOUT_REQUIRES(mutex_);

  const AuthorizationOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  kube::Mutex mutex_;
  kube::ConditionVariable landed_;
  std::map<Key, CachedAnswer> cache_ LASTOUT_GUARDED_BY(mutex_);
  // Tokens that the API server knew, and when it said so last.
  std::map<Digest, TimePoint> known_ LASTOUT_GUARDED_BY(mutex_);
  std::map<Key, std::shared_ptr<Flight>> flights_ LASTOUT_GUARDED_BY(mutex_);
  size_t strangers_ LASTOUT_GUARDED_BY(mutex_) = 0;  // under way
  bool troubled_ LASTOUT_GUARDED_BY(mutex_) = false;
};

// The ServiceAccounts of deploy/, one for each role.
inline constexpr const char* kControllerAccount = "lastout-controller";
inline constexpr const char* kWebhookAccount = "lastout-webhook";
// Returns what an API server says of requests of a ServiceAccount, as admission::Review has it.
std::string userInfoOf(const std::string& namespaceName, const std::string& account);

// Those of `rights` that the user lacks, in their order; empty: none; after kMostLacking of ObjectRights no
// others are asked about. `userInfo`: as admission::Review has it; nullptr: the account that asks, which
// needs no right to ask. Fails with why that could not be found out until `deadline`.
kube::Result<std::vector<admission::NeededRight>> lackingRights(
    client::ApiServer& server, const std::string* userInfo, const std::vector<admission::NeededRight>& rights,
    client::TimePoint deadline);

// Returns "delete a, delete b and patch c", of what lackingRights() returned.
std::string lackingInWords(const std::vector<admission::NeededRight>& rights);

// Caches nothing: a right may be taken away at any time, and CriticalServices are seldom written. Safe for
// any number of threads.
class ObjectRights {
 public:
  static constexpr size_t kMostLacking = 5;  // then no others are asked about

  explicit ObjectRights(const std::shared_ptr<client::Access>& access);

  // As lackingRights().
  kube::Result<std::vector<admission::NeededRight>> lacking(const std::string* userInfo,
                                                            const std::vector<admission::NeededRight>& rights,
                                                            client::TimePoint deadline) const {
    return lackingRights(*server_, userInfo, rights, deadline);
  }
  // Ends what is under way; from now on everything fails.
  void stop() { server_->stop(); }

 private:
  const std::unique_ptr<client::ApiServer> server_;
};

}  // namespace lastout::server
