#include "server/webhook/certificate_secret.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api_server.h"
#include "client/writes.h"
#include "kube/encoding.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/watch/object_watch.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

// 32 hexadecimal digits; empty: there is no randomness to be had.
std::string newSeed() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
  std::string seed;
  for (const unsigned char byte : bytes) seed += kube::hexOf(byte);
  return seed;
}

}  // namespace

CertificateSecret::CertificateSecret(const std::shared_ptr<client::Access>& access,
                                     CertificateSecretOptions options)
    : options_(std::move(options)),
      server_(newControllerServer(*access)),
      backoff_(options_.watcher.reflector.backoff, options_.random()),
      problems_(options_.log,
                options_.renews ? "the certificate's Secret cannot be renewed: "
                                : "no review is answered before there is a certificate in Secret " +
                                      options_.namespaceName + "/" + options_.name + ": ",
                options_.renews ? "the certificate's Secret is as it should be again"
                                : "there is a certificate to answer reviews with"),
      loop_([this] { follow(); }, std::chrono::milliseconds(0)),
      watcher_(watchOf(*access,
                       {client::collectionPath(kube::kSecrets, options_.namespaceName), options_.name,
                        "the certificate's Secret", options_.log,
                        [this](std::optional<kube::Value> object) { told(std::move(object)); },
                        [this](const client::SyncStatus& knowledge) { know(knowledge); }},
                       forOneMore(options_.watcher, options_.random))) {}

CertificateSecret::~CertificateSecret() { stop(); }

void CertificateSecret::start() {
  loop_.start();
  watcher_.start();
}

void CertificateSecret::stop() {
  loop_.stop([this] {
    server_->stop();
    watcher_.stop();
  });
}

bool CertificateSecret::isKnown() const {
  const kube::MutexLock lock(mutex_);
  return isUsed_;
}

bool CertificateSecret::renewPath() {
  {
    const kube::MutexLock lock(mutex_);
    if (!options_.renews || !standing_ || !isOurs(sharedCertificateIn(*standing_))) return false;
  }
  wish(PathWish::Renewed);
  return true;
}

void CertificateSecret::wish(PathWish wish) {
  {
    const kube::MutexLock lock(mutex_);
    if (pathWish_ != PathWish::Renewed) pathWish_ = wish;
  }
  loop_.wake();
}

void CertificateSecret::told(std::optional<kube::Value> object) {
  {
    const kube::MutexLock lock(mutex_);
    standing_ = std::move(object);
  }
  loop_.wake();
}

void CertificateSecret::know(const client::SyncStatus& knowledge) {
  if (!knowledge.listed) return;
  {
    const kube::MutexLock lock(mutex_);
    if (std::exchange(known_, true)) return;
  }
  loop_.wake();
}

// A write is believed when the watch tells of it; the same goes for those of other replicas.
void CertificateSecret::follow() {
  std::optional<kube::Value> standing;
  {
    const kube::MutexLock lock(mutex_);
    if (!known_) return;
    standing = standing_;
  }
  if (standing) take(sharedCertificateIn(*standing));
  const std::optional<std::string> problem =
      options_.renews ? renew(standing) : whyNothingIsUsed(standing.has_value());
  report(problem.value_or(""));
  if (!problem) backoff_.reset();
  const bool writesAgain = problem && options_.renews;
  loop_.wakeAt(steady_clock::now() + (writesAgain ? backoff_.next() : options_.lookAfter));
}

CertificateSecret::PathWish CertificateSecret::takeWish() {
  const kube::MutexLock lock(mutex_);
  return std::exchange(pathWish_, PathWish::None);
}

// What was not written, unless something else is wished by now.
void CertificateSecret::wishAgain(PathWish wish) {
  const kube::MutexLock lock(mutex_);
  if (pathWish_ == PathWish::None) pathWish_ = wish;
}

// What was cut off is no problem.
void CertificateSecret::report(const std::string& problem) {
  if (!loop_.isStopping()) problems_.note(problem);
}

void CertificateSecret::take(const SharedCertificate& shared) {
  if (shared == used_ || !isUsable(shared, options_.clock())) return;
  if (auto taken = options_.use(shared); !taken) {
    options_.log(Level::Warning, "the certificate in the Secret cannot be used: " + taken.error().message);
    return;
  }
  used_ = shared;
  const kube::MutexLock lock(mutex_);
  isUsed_ = true;
}

std::optional<std::string> CertificateSecret::whyNothingIsUsed(bool isThere) const {
  if (used_ && isUsable(*used_, options_.clock())) return std::nullopt;
  if (isThere) return "it holds none that can be used";
  return "it is not there; lastout serve --roles controller makes it";
}

// Over the version that was seen, or none. Fails with why not, for the log; that another replica was faster
// is no failure, nor does it end one.
std::optional<std::string> CertificateSecret::renew(const std::optional<kube::Value>& standing) {
  const SharedCertificate stands = standing ? sharedCertificateIn(*standing) : SharedCertificate();
  const auto next = nextCertificate(stands, options_.names, options_.terms, options_.clock());
  if (!next) return next.error().message;
  SharedCertificate wanted = *next ? **next : stands;
  const PathWish wish = takeWish();
  if (wish != PathWish::None && isOurs(wanted)) {
    const std::string seed = newSeed();
    if (wish == PathWish::FormerLeft) wanted = withoutFormerPath(std::move(wanted));
    if (wish == PathWish::Renewed && !seed.empty()) wanted = withNewPath(std::move(wanted), seed);
  }
  const bool isLabelled = !standing || !isOurs(stands) || hasLabels(*standing, options_.labels);
  if (wanted == stands && isLabelled) return std::nullopt;
  const std::string version = standing ? kube::textAt(*standing, {"metadata", "resourceVersion"}) : "";
  const auto written = ObjectClient(*server_).ask(client::creationOrPatch(
      client::collectionPath(kube::kSecrets, options_.namespaceName),
      secretOf(options_.namespaceName, options_.name, wanted, version, options_.labels)));
  if (written) return std::nullopt;
  wishAgain(wish);
  if (!isConflict(written.error())) return written.error().why;
  return problems_.last().empty() ? std::nullopt : std::optional(problems_.last());
}

}  // namespace lastout::server
