// PausingApiServer: the API server that a controller asks. Where it answers that it may be asked again later
// (client::retryPauseOf()), it is not asked about the object of that request until then: the same answer is
// given once more, from memory. So a controller tries again by its own back-off, and never waits between a
// check and the write that rests on it.
//
// The Lease is read and written past it, in distances that LeaseElection keeps: a pause longer than the Lease
// lasts would lose it. Events wait in EventWriter, which drops what is refused.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/access.h"
#include "client/api_server.h"
#include "kube/locks.h"

namespace lastout::server {

// Safe for any number of threads.
class PausingApiServer : public client::ApiServer {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // Of so many objects it keeps an answer; about others it asks all the same.
  static constexpr size_t kMostObjects = 1'000;

  explicit PausingApiServer(
      std::unique_ptr<client::ApiServer> server, Clock now = [] { return std::chrono::steady_clock::now(); })
      : server_(std::move(server)), now_(std::move(now)) {}

  // The answer from memory has the seconds that are left as its Retry-After.
  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override;
  void stop() override { server_->stop(); }
  // From now on it asks about every object: for a last clean-up, after which nobody tries again.
  void answerNothingFromMemory();

 private:
  struct Refusal {
    int status = 0;
    std::string body;
    std::chrono::steady_clock::time_point until;
  };

  std::optional<Refusal> refusalOf(const std::string& object);
  void keep(const std::string& object, Refusal refusal);

  const std::unique_ptr<client::ApiServer> server_;
  const Clock now_;
  kube::Mutex mutex_;
  std::map<std::string, Refusal> refusals_ LASTOUT_GUARDED_BY(mutex_);  // by the object
  bool remembers_ LASTOUT_GUARDED_BY(mutex_) = true;
};

// Returns one with connections of its own.
std::unique_ptr<PausingApiServer> newControllerServer(client::Access& access);

}  // namespace lastout::server
