// WebhookProbe: tries at each known address of the API server whether it asks lastout, by the webhook
// configuration that stands. Every replica does so: whichever gets the Lease next knows it already, and each
// can raise the alarm.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "kube/locks.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/webhook/probe_record.h"

namespace lastout::server {

struct ProbeTimes {
  std::chrono::milliseconds period{60'000};  // between two rounds, when all is well
  std::chrono::milliseconds retry{
      1'000};  // the first of them after one that was not; doubles up to the period
  std::chrono::milliseconds grace{10'000};    // as of ProbeRecord
  std::chrono::milliseconds patience{8'000};  // for one answer; the webhook's timeout is less
};

struct WebhookProbeOptions {
  // Returns the configuration in force; nullopt: it is not the declared one. Called by any thread; must not
  // wait.
  std::function<std::optional<ProbedConfiguration>()> configuration;
  ProbeTimes times;
  client::RandomFraction random;                    // used by the probe's thread alone
  std::function<void(ProbeResult result)> counted;  // a probe has ended
  // With this answer; empty, or called by the probe's thread.
  std::function<void(const ProbeAnswer& answer)> answered = {};
  std::function<void(const ProbeStanding& standing)> changed;  // an address stands otherwise than before
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class WebhookProbe {
 public:
  WebhookProbe(std::shared_ptr<client::Access> access, WebhookProbeOptions options);
  ~WebhookProbe() { stop(); }
  WebhookProbe(const WebhookProbe&) = delete;
  WebhookProbe& operator=(const WebhookProbe&) = delete;

  void start() { loop_.start(); }  // once
  void stop();                     // for good
  // Time has passed, or something may have changed: looks whether there is anything to do. To be called each
  // second.
  void reconsider() { loop_.wake(); }

  // As of ProbeRecord; these never wait for an API server.
  WebhookEnforcement enforcementFor(const ReviewedObjects& wanted) const;
  // Every address denies by the configuration with this fingerprint.
  bool isProvenFor(const std::string& fingerprint) const;
  std::vector<ProbeStanding> standings() const;

 private:
  void look();
  bool round(const ProbedConfiguration& configuration);
  std::vector<client::ServerAddress> findAddresses();
  ProbeAnswer probe(client::ApiServer& server);
  std::string makeSentinel(client::ApiServer& server);
  client::ApiServer* serverAt(const client::ServerAddress& address);

  const std::shared_ptr<client::Access> access_;
  const WebhookProbeOptions options_;

  // All of these are of the thread.
  client::Backoff backoff_;
  std::optional<ProbedConfiguration> probed_;     // in the last round
  TimePoint dueAt_;                               // the next one
  std::vector<client::ServerAddress> endpoints_;  // as they were read last
  ProblemLog problems_;                           // with reading them

  mutable kube::Mutex mutex_;
  ProbeRecord record_ LASTOUT_GUARDED_BY(mutex_);
  // Only the thread uses and changes them.
  std::map<std::string, std::unique_ptr<client::ApiServer>> servers_ LASTOUT_GUARDED_BY(mutex_);
  Loop loop_;
};

}  // namespace lastout::server
