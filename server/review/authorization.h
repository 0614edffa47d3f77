// What users may do, as the API server knows it (SubjectAccessReview). Authorization: who may read lastout's
// answers: whose token it is (TokenReview), and whether they may get that path. ObjectRights: what whoever
// writes a CriticalService may do to objects.
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
  std::chrono::milliseconds remember{10'000};
  size_t most = 1'000;                        // answers that are remembered
  std::chrono::milliseconds patience{5'000};  // for each of the two reviews
  // How many tokens the API server is asked about at once that it has not known lately: whoever invents
  // tokens does not keep others waiting.
  size_t strangers = 1;
  // One line when the API server cannot be asked, and one when it can again. May be empty.
  Log log;
};

// Safe for any number of threads.
class Authorization {
 public:
  using TimePoint = client::TimePoint;

  // 200: they may. 401: nobody knows who asks; 403: they may not; 503: the API server could not be asked, so
  // nobody may, and why not is for the log alone.
  struct Answer {
    int status = 503;
    std::string message;  // of others than 200, for people
  };

  Authorization(const std::shared_ptr<client::Access>& access, AuthorizationOptions options);

  // `header`: the value of Authorization, "Bearer <token>". `path`: "/metrics"; the right is to `get` it as a
  // nonResourceURL.
  Answer mayGet(std::string_view header, const std::string& path);
  size_t remembered();
  // Ends what is under way; from now on nobody may.
  void stop() { server_->stop(); }

 private:
  using Digest = std::array<unsigned char, 32>;  // the SHA-256 of a token, so that no token is kept
  using Key = std::pair<Digest, std::string>;    // and a path
  struct Remembered {
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
  void remember(const Key& key, const Answer& answer) LASTOUT_REQUIRES(mutex_);

  const AuthorizationOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  kube::Mutex mutex_;
  kube::ConditionVariable landed_;
  std::map<Key, Remembered> remembered_ LASTOUT_GUARDED_BY(mutex_);
  // Tokens that the API server knew, and when it said so last.
  std::map<Digest, TimePoint> known_ LASTOUT_GUARDED_BY(mutex_);
  std::map<Key, std::shared_ptr<Flight>> flights_ LASTOUT_GUARDED_BY(mutex_);
  size_t strangers_ LASTOUT_GUARDED_BY(mutex_) = 0;  // under way
  bool troubled_ LASTOUT_GUARDED_BY(mutex_) = false;
};

// Remembers nothing: a right may be taken away at any time, and CriticalServices are seldom written. Safe for
// any number of threads.
class ObjectRights {
 public:
  static constexpr size_t kMostLacking = 5;  // then no others are asked about

  explicit ObjectRights(const std::shared_ptr<client::Access>& access);

  // Those of `rights` that the user lacks, in their order; empty: none. `userInfo`: as admission::Review has
  // it. Fails with why that could not be found out until `deadline`.
  kube::Result<std::vector<admission::NeededRight>> lacking(const std::string& userInfo,
                                                            const std::vector<admission::NeededRight>& rights,
                                                            client::TimePoint deadline) const;
  // Ends what is under way; from now on everything fails.
  void stop() { server_->stop(); }

 private:
  const std::unique_ptr<client::ApiServer> server_;
};

}  // namespace lastout::server
