// CertificateSecret: the one authority and certificate of all replicas, in a Secret: made by whoever is
// first, renewed before they expire, and told to the listener and the webhook configuration whenever they
// change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/access.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "kube/object.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/webhook/certificate_plan.h"

namespace lastout::server {

struct CertificateSecretOptions {
  std::string namespaceName;
  std::string name;
  tls::ServerNames names;  // whom the certificate is for
  CertificateTerms terms;
  kube::Labels labels;  // that the Secret is to have, where it is lastout's own
  bool renews = true;   // false: another process makes and renews it; this one only uses it
  std::chrono::milliseconds lookAfter{60'000};  // for what the time has made old; also between two writes
  std::function<int64_t()> clock;               // seconds since the epoch; by any thread

  client::WatcherOptions watcher;                  // its `random` is replaced
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  LogSink log;
  // What is to be used from now on; called by one thread, for each usable one that differs from the one
  // before. Fails with why it cannot be used, for the log.
  std::function<kube::Result<void>(const SharedCertificate& shared)> use;
};

// start() and stop() by one thread at a time, the others by any.
class CertificateSecret {
 public:
  CertificateSecret(const std::shared_ptr<client::Access>& access, CertificateSecretOptions options);
  ~CertificateSecret();  // as stop()
  CertificateSecret(const CertificateSecret&) = delete;
  CertificateSecret& operator=(const CertificateSecret&) = delete;

  void start();  // once
  void stop();   // for good; the Secret stays as it is

  bool isKnown() const;  // one is used
  // Another path for reviews is made of the key, beside the one that is in use; or the former one is left.
  // Where somebody else makes the Secret (isOurs()), nothing happens, and renewPath() returns false.
  bool renewPath();
  void leaveFormerPath() { wish(PathWish::FormerLeft); }

 private:
  enum class PathWish : uint8_t { None, Renewed, FormerLeft };

  void wish(PathWish wish);
  PathWish takeWish();
  void wishAgain(PathWish wish);
  void told(std::optional<kube::Value> object);
  void know(const client::SyncStatus& knowledge);
  void follow();
  void report(const std::string& problem);
  void take(const SharedCertificate& shared);
  std::optional<std::string> whyNothingIsUsed(bool isThere) const;
  std::optional<std::string> renew(const std::optional<kube::Value>& standing);

  const CertificateSecretOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  client::Backoff backoff_;                // of the loop
  std::optional<SharedCertificate> used_;  // of the thread
  ProblemLog problems_;                    // of the thread: it cannot renew the certificate, or has none

  mutable kube::Mutex mutex_;
  bool known_ LASTOUT_GUARDED_BY(mutex_) = false;                   // whether the Secret is there
  std::optional<kube::Value> standing_ LASTOUT_GUARDED_BY(mutex_);  // what it says
  bool isUsed_ LASTOUT_GUARDED_BY(mutex_) = false;
  PathWish pathWish_ LASTOUT_GUARDED_BY(mutex_) = PathWish::None;  // until it was written
  Loop loop_;
  client::Watcher watcher_;
};

}  // namespace lastout::server
