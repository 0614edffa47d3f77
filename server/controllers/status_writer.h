// StatusWriter: keeps the status of each CriticalService as statusOf() says, where it differs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "server/controllers/status_of.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/runtime/object_client.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct StatusWriterOptions {
  std::function<bool()> mayWrite;  // this lastout holds the Lease
  // Of a service in the view, whose lock is held.
  std::function<WebhookEnforcement(const criticalservice::CriticalService& service,
                                   const admission::ClusterView& view)>
      enforcement;
  // Why its provider cannot be held, or let go; empty: nothing is known. Must not ask the view.
  std::function<std::string(const criticalservice::CriticalService& service)> holdProblem =
      [](const criticalservice::CriticalService&) { return std::string(); };
  std::function<std::chrono::sys_seconds()> clock;  // what time it is, for people
  std::function<client::RandomFraction()> random;   // makes one for a thread of its own
  client::BackoffLimits backoff;                    // after what went wrong, of all writes and reads
  // Of one CriticalService: counts, examples and words alone are written no more often than this.
  std::chrono::milliseconds detailPause{5'000};
  // A type that is not listed yet is waited for so long before a status says so.
  std::chrono::milliseconds listPause{10'000};
  std::chrono::milliseconds patience{5'000};  // for one answer
  LogSink log;
  std::function<void()> failed = [] {};  // a read or write did; each time
  // The status of that CriticalService was another, and has been written; must not wait. May be empty.
  std::function<void(const std::string& name, const std::string& uid, const nlohmann::json& before,
                     const nlohmann::json& after)>
      written;
};

// Its functions may be called by any thread, unless they say otherwise; start() and stop() by one at a time.
class StatusWriter {
 public:
  StatusWriter(const std::shared_ptr<client::Access>& access, const LiveView& view,
               StatusWriterOptions options);
  ~StatusWriter() { stop(); }
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  void start() { loop_.start(); }  // once
  // For good; what is not written yet is for the next holder of the Lease.
  void stop() {
    loop_.stop([this] { server_->stop(); });
  }
  // Something may have changed. To be called each second, too: time alone changes some of it.
  void reconsider() { loop_.wake(); }

 private:
  // What is known of a provider beside its metadata.
  struct ReadProvider {
    std::string uid;
    std::string resourceVersion;  // at which it was read
    criticalservice::Readiness readiness;
    TimePoint notBefore;  // of the next read
  };
  // What was done about one CriticalService.
  struct Record {
    TimePoint writtenAt;
    TimePoint awaitsListsSince;
    bool awaitsLists = false;
    std::string doneWith;  // a resourceVersion that is not to be written over again
    TimePoint doneUntil;   // before this
    std::optional<ProblemLog> problems = {};
    nlohmann::json inVain;  // what was written, and the API server made nothing of: its CRD is older
    TimePoint inVainUntil;
  };
  // What there is to do about one: filled with the view's lock held.
  struct Due {
    std::string resourceVersion;
    nlohmann::json standing;
    nlohmann::json wanted;
    bool awaitsLists = false;
    std::string uid = {};
  };
  struct Name {
    std::string name;
    kube::ObjectKey provider;
    std::string providerUid;  // empty: it is not there
    std::string providerVersion;
  };

  void pass();
  bool lookAtAll();
  std::vector<Name> names() const;
  bool readProvider(const Name& name);
  bool settle(const std::string& name);
  std::optional<Due> due(const std::string& name);
  bool isDue(Record& record, const Due& due, TimePoint now) const;
  bool write(const std::string& name, const Due& due, nlohmann::json patch);
  bool took(const std::string& name, const Due& due, const RequestResult<client::WholeAnswer>& written);
  void troubled(const NotDone& failure);

  const LiveView& view_;
  const StatusWriterOptions options_;
  const std::unique_ptr<client::ApiServer> server_;

  // All of these are of the thread.
  client::Backoff backoff_;
  TimePoint notBefore_;
  ProblemLog problems_;
  uint64_t seenRevision_ =
      0;  // of the view, when all was looked at and nothing was left to do; 0: something was
  TimePoint seenAt_;
  bool isLeft_ = false;  // in this look at all of them
  std::map<kube::ObjectKey, ReadProvider> providers_;
  std::map<std::string, Record> records_;
  Loop loop_;
};

}  // namespace lastout::server
