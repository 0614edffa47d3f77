// Access: opens ApiServers to the one cluster of a Connection, all with the same credentials.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "client/api_server.h"
#include "client/connection.h"
#include "client/credentials.h"
#include "kube/result.h"

namespace lastout::client {

// Safe for any number of threads.
class Access : public std::enable_shared_from_this<Access> {
 public:
  // Seconds since the epoch, by any thread.
  using Clock = std::function<int64_t()>;

  // Asks nobody anything yet. Fails on a server without TLS, and on certificates or keys that are none.
  static kube::Result<std::shared_ptr<Access>> open(ConnectionConfig connection, Clock clock,
                                                    Credentials::RunPlugin runPlugin = {});

  // One with connections of its own, which can be stopped alone; it keeps the Access. Its exchanges say who
  // asks as of then. When the server answers 401, they ask once more, if the credentials have become others:
  // a token was rotated, or the plugin gives a new one. An exchange whose credentials cannot be had fails.
  std::unique_ptr<ApiServer> newServer();
  // The same at another address of the cluster, whose certificate has to be for the name of the Connection's.
  std::unique_ptr<ApiServer> newServerAt(ServerAddress address);
  // Ends a plugin that is being asked for credentials, for good.
  void stop() { credentials_.stop(); }

  const ConnectionConfig& connection() const { return connection_; }

 private:
  class Server;
  Access(ConnectionConfig connection, Clock clock, Credentials::RunPlugin runPlugin);

  kube::Result<std::unique_ptr<ApiServer>> connect(const ServerAddress& address, const KeyPair& client) const;

  const ConnectionConfig connection_;
  const Clock clock_;
  Credentials credentials_;
};

}  // namespace lastout::client
