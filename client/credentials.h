// Credentials: how requests are authenticated at present: token files are read again as they rotate, and
// plugins are asked again before what they gave expires.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "client/connection.h"
#include "client/plugin.h"
#include "kube/locks.h"
#include "kube/result.h"

namespace lastout::client {

// What one request shows.
struct Identity {
  std::string authorization;  // the value of its Authorization header; empty: it has none
  KeyPair client;             // for the TLS handshake; when it changes, new connections are needed
  friend bool operator==(const Identity&, const Identity&) = default;
};

// May be used by several threads at once. While one of them waits for a plugin the others wait for the same
// answer. Times are seconds since the epoch; a clock that jumps costs at most a refused request.
class Credentials {
 public:
  using RunPlugin = std::function<kube::Result<std::string>(const ExecPlugin&, const std::stop_token&)>;

  explicit Credentials(Authentication authentication, RunPlugin runPlugin = {});  // empty: client::runPlugin

  // Takes as long as the plugin, when one has to be asked. Fails when a token file cannot be read and none
  // was known before, and when the plugin fails; that failure is then the answer for 5 seconds, so that many
  // watches do not start it over and over. Nothing secret is in a message.
  kube::Result<Identity> at(int64_t now);

  // The server answered 401 to this identity: at() gives another one as soon as there is one.
  void refused(const Identity& identity);

  // Ends a plugin that is being asked; from now on at() asks none. From any thread, at once.
  void stop();

 private:
  kube::Result<Identity> fromTokenFile(int64_t now) LASTOUT_REQUIRES(mutex_);
  kube::Result<Identity> fromPlugin(int64_t now) LASTOUT_REQUIRES(mutex_);
  kube::Result<void> askPlugin(int64_t now) LASTOUT_REQUIRES(mutex_);

  const Authentication authentication_;
  const RunPlugin runPlugin_;
  std::stop_source stop_;

  kube::Mutex mutex_;
  std::optional<Identity> known_ LASTOUT_GUARDED_BY(mutex_);     // from the token file or the plugin
  int64_t readAt_ LASTOUT_GUARDED_BY(mutex_) = 0;                // when the token file was read
  std::optional<int64_t> expires_ LASTOUT_GUARDED_BY(mutex_);    // of what the plugin gave
  std::optional<int64_t> refreshAt_ LASTOUT_GUARDED_BY(mutex_);  // some time before
  std::optional<kube::Error> failure_ LASTOUT_GUARDED_BY(mutex_);
  int64_t failedAt_ LASTOUT_GUARDED_BY(mutex_) = 0;
};

}  // namespace lastout::client
