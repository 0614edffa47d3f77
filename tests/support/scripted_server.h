// ScriptedServer: the API server of tests: an embedded cluster, beside a script that refuses requests, lets
// something happen just before one, and notes them. It answers in process, and, as a listener's handler, over
// the wire.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_server.h"
#include "simulator/exchange.h"

namespace lastout::testing {

// How a request is refused.
struct ScriptedRefusal {
  std::string method;
  std::string ending;   // of its path
  int status = 0;       // 0: there is no answer
  std::string message;  // empty: one of the script's
  std::optional<int64_t> retryAfter = {};
};

// Safe for any number of threads, but for its public members, which are for tests in one.
class ScriptedServer : public client::ApiServer {
 public:
  using Json = nlohmann::json;

  explicit ScriptedServer(simulator::Handler cluster) : cluster_(std::move(cluster)) {}

  // The next request of that method whose path ends like this is refused.
  void refuse(ScriptedRefusal refusal);
  // This is done just before the next such request comes to the cluster.
  void before(const std::string& method, const std::string& ending, std::function<void()> does);
  // Refuses nothing any more.
  void allow();

  // In process, as the admin.
  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override;
  void stop() override {}
  // Over the wire, as the request's user.
  simulator::ExchangeResponse handle(const simulator::ExchangeRequest& request);

  // Notes a GET of a single object, too, from now on.
  void noteReads() {
    const std::lock_guard lock(mutex_);
    notesReads_ = true;
  }
  // Returns the notes since the last call, a request each: the method, the path with its query, what it
  // insists on ("if unchanged": the resourceVersion that it names; "if the same": the uid), the media type
  // unless that is a JSON merge patch's or JSON, and the status of a refusal; below it the body, without what
  // it insists on. A condition is one string in it, and a webhook its name; what a Secret holds, and the spec
  // of a ValidatingAdmissionPolicy, are "…".
  std::string takeNotes();
  // True if there is a note that takeNotes() would return; nothing is taken.
  std::string notes() const;
  // The uid is written like this in notes from now on.
  void nameUid(const std::string& uid, const std::string& name);
  // The text with the names of uids in their place, or the other way round.
  std::string withNames(std::string text) const;
  std::string withUids(std::string text) const;

  // Asked before each request in process: the status to refuse it with; 0: there is no answer; nullopt: as
  // the script and the cluster say.
  std::function<std::optional<int>(const client::ApiRequest& request)> rule;
  std::vector<std::string> asked;   // in process: "GET /api/v1/pods?limit=5"
  std::vector<std::string> writes;  // those that are no GET

 private:
  struct Intervention {
    std::string method;
    std::string ending;
    std::function<void()> does;
  };

  std::optional<ScriptedRefusal> refusalOf(const std::string& method, const std::string& path);
  std::function<void()> interventionOf(const std::string& method, const std::string& path);
  void note(const simulator::ExchangeRequest& request, int status);

  const simulator::Handler cluster_;
  mutable std::mutex mutex_;
  std::vector<ScriptedRefusal> refusals_;  // these are guarded by the mutex
  std::vector<Intervention> interventions_;
  std::vector<std::pair<std::string, std::string>> uids_;  // and their names, the longest name first
  std::string notes_;
  bool notesReads_ = false;
};

}  // namespace lastout::testing
