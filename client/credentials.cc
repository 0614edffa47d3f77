#include "client/credentials.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/secret.h"
#include "kube/encoding.h"
#include "kube/parse.h"

namespace lastout::client {
namespace {

// All in seconds.
constexpr int64_t kTokenFileCounts = 10;  // the kubelet writes a new token long before the old one expires
constexpr int64_t kFailureCounts = 5;
constexpr int64_t kBeforeExpiry = 10;
constexpr int64_t kLatestTime = int64_t{1} << 40;  // no overflow below it, and nobody lives to see it

// Whether what was seen at `then` still counts; a clock that went back makes it unknown.
bool within(int64_t now, int64_t then, int64_t seconds) { return std::llabs(now - then) < seconds; }

std::string bearer(const std::string& token) { return "Bearer " + token; }

kube::Result<std::string> readTokenFile(const std::string& path) {
  auto text = kube::readFile(path, {.bytes = kMostTokenBytes});
  if (!text) return text;
  constexpr const char* kAround = " \t\r\n";
  text->erase(text->find_last_not_of(kAround) + 1);
  text->erase(0, std::min(text->find_first_not_of(kAround), text->size()));
  if (const auto problem = tokenProblem(*text))
    return tl::unexpected(kube::Error{"the token in it " + *problem, path, {}});
  return text;
}

}  // namespace

Credentials::Credentials(Authentication authentication, RunPlugin runPlugin)
    : authentication_(std::move(authentication)),
      runPlugin_(runPlugin ? std::move(runPlugin)
                           : [](const ExecPlugin& plugin, const std::stop_token& stop) {
                               return client::runPlugin(plugin, {}, stop);
                             }) {}

kube::Result<Identity> Credentials::at(int64_t now) {
  const kube::MutexLock lock(mutex_);
  if (!authentication_.tokenFile.empty()) return fromTokenFile(now);
  if (authentication_.plugin) return fromPlugin(now);
  Identity identity{"", authentication_.client};
  if (!authentication_.token.empty()) {
    identity.authorization = bearer(authentication_.token);
  } else if (!authentication_.username.empty()) {
    identity.authorization =
        "Basic " + kube::toBase64(authentication_.username + ":" + authentication_.password);
  }
  return identity;
}

kube::Result<Identity> Credentials::fromTokenFile(int64_t now) {
  if (known_ && within(now, readAt_, kTokenFileCounts)) return *known_;
  const auto token = readTokenFile(authentication_.tokenFile);
  if (token) {
    known_ = Identity{bearer(*token), authentication_.client};
    readAt_ = now;
    return *known_;
  }
  // Amid a rotation, or for good: then the server refuses the last one, and the next call fails.
  if (known_) return *known_;
  if (!authentication_.token.empty()) return Identity{bearer(authentication_.token), authentication_.client};
  return tl::unexpected(token.error());
}

kube::Result<Identity> Credentials::fromPlugin(int64_t now) {
  if (known_ && (!refreshAt_ || now < *refreshAt_)) return *known_;
  const bool failedLately = failure_ && within(now, failedAt_, kFailureCounts);
  if (!failedLately) {
    if (auto asked = askPlugin(now); !asked) {
      failure_ = std::move(asked.error());
      failedAt_ = now;
    } else {
      failure_.reset();
      return *known_;
    }
  }
  if (known_ && now < *expires_) return *known_;
  return tl::unexpected(*failure_);
}

kube::Result<void> Credentials::askPlugin(int64_t now) {
  const ExecPlugin& plugin = *authentication_.plugin;
  if (stop_.stop_requested()) return tl::unexpected(pluginError(plugin, "is not asked any more"));
  const auto text = runPlugin_(plugin, stop_.get_token());
  if (!text) return tl::unexpected(text.error());
  auto credential = parsePluginAnswer(*text, plugin);
  if (!credential) return tl::unexpected(std::move(credential.error()));
  if (credential->expires && *credential->expires <= now)
    return tl::unexpected(
        pluginError(plugin, "gave a credential that has expired already; is this machine's clock right?"));

  Identity identity{"", authentication_.client};
  if (!credential->token.empty()) identity.authorization = bearer(credential->token);
  if (!credential->client.certificate.empty()) identity.client = std::move(credential->client);
  known_ = std::move(identity);
  expires_.reset();
  refreshAt_.reset();
  if (credential->expires) {
    expires_ = std::min(*credential->expires, kLatestTime);
    // Of one that lives shortly, a quarter of its life.
    refreshAt_ = *expires_ - std::min(kBeforeExpiry, (*expires_ - now) / 4);
  }
  return {};
}

void Credentials::refused(const Identity& identity) {
  const kube::MutexLock lock(mutex_);
  if (known_ == identity) known_.reset();
}

void Credentials::stop() { stop_.request_stop(); }

}  // namespace lastout::client
