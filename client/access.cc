#include "client/access.h"

#include <string>
#include <utility>
#include <vector>

#include "client/http.h"
#include "kube/locks.h"

namespace lastout::client {

// What it uses is an HttpApiServer for the client certificate of now, which plugins change.
class Access::Server : public ApiServer {
 public:
  Server(std::shared_ptr<Access> access, ServerAddress address)
      : access_(std::move(access)), address_(std::move(address)) {}

  kube::Result<ApiAnswer> exchange(const ApiRequest& request, const Take& take) override {
    auto identity = access_->credentials_.at(access_->clock_());
    if (!identity) return tl::unexpected(std::move(identity.error()));
    std::string refusal;
    auto answer = exchangeAs(*identity, request, [&](int status, std::string_view piece) {
      if (status != 401) return take(status, piece);
      refusal.append(piece.substr(0, kMostRefusalBytes - refusal.size()));
      return refusal.size() < kMostRefusalBytes;
    });
    if (!answer || answer->status != 401) return answer;
    access_->credentials_.refused(*identity);
    const auto other = access_->credentials_.at(access_->clock_());
    if (other && *other != *identity) return exchangeAs(*other, request, take);
    if (take(401, "") && !refusal.empty()) take(401, refusal);
    return answer;
  }

  void stop() override {
    const kube::MutexLock lock(mutex_);
    stopped_ = true;
    for (const auto& former : former_) {
      if (const auto server = former.lock()) server->stop();
    }
    if (server_) server_->stop();
  }

 private:
  kube::Result<ApiAnswer> exchangeAs(const Identity& identity, const ApiRequest& request, const Take& take) {
    auto server = serverFor(identity.client);
    if (!server) return tl::unexpected(std::move(server.error()));
    ApiRequest mine = request;
    mine.authorization = identity.authorization;
    return (*server)->exchange(mine, take);
  }

  // Exchanges under way keep the server that they began with.
  kube::Result<std::shared_ptr<ApiServer>> serverFor(const KeyPair& client) {
    const kube::MutexLock lock(mutex_);
    if (!server_ || client != client_) {
      auto server = access_->connect(address_, client);
      if (!server) return tl::unexpected(std::move(server.error()));
      std::erase_if(former_, [](const auto& one) { return one.expired(); });
      if (server_) former_.push_back(server_);
      server_ = std::move(*server);
      client_ = client;
      if (stopped_) server_->stop();
    }
    return server_;
  }

  const std::shared_ptr<Access> access_;
  const ServerAddress address_;
  kube::Mutex mutex_;
  std::shared_ptr<ApiServer> server_ LASTOUT_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<ApiServer>> former_ LASTOUT_GUARDED_BY(mutex_);  // with exchanges under way
  KeyPair client_ LASTOUT_GUARDED_BY(mutex_);
  bool stopped_ LASTOUT_GUARDED_BY(mutex_) = false;
};

Access::Access(ConnectionConfig connection, Clock clock, Credentials::RunPlugin runPlugin)
    : connection_(std::move(connection)),
      clock_(std::move(clock)),
      credentials_(connection_.authentication, std::move(runPlugin)) {}

kube::Result<std::shared_ptr<Access>> Access::open(ConnectionConfig connection, Clock clock,
                                                   Credentials::RunPlugin runPlugin) {
  if (!connection.server.tls)
    return tl::unexpected(kube::Error{"the API server " + toString(connection.server) +
                                          " is reached without TLS, where anybody could answer in its place; "
                                          "give an address that begins with https://",
                                      "",
                                      {}});
  std::shared_ptr<Access> access(new Access(std::move(connection), std::move(clock), std::move(runPlugin)));
  if (auto usable = access->connect(access->connection_.server, access->connection_.authentication.client);
      !usable)
    return tl::unexpected(std::move(usable.error()));
  return access;
}

std::unique_ptr<ApiServer> Access::newServer() { return newServerAt(connection_.server); }

std::unique_ptr<ApiServer> Access::newServerAt(ServerAddress address) {
  return std::make_unique<Server>(shared_from_this(), std::move(address));
}

kube::Result<std::unique_ptr<ApiServer>> Access::connect(const ServerAddress& address,
                                                         const KeyPair& client) const {
  HttpOptions options;
  options.host = address.host;
  options.port = address.port;
  options.pathPrefix = address.path;
  options.authorities = connection_.authority;
  options.serverName = connection_.serverName.empty() ? connection_.server.host : connection_.serverName;
  options.verify = !connection_.insecure;
  options.clientCertificate = client.certificate;
  options.clientKey = client.key;
  options.headers.reserve(connection_.headers.size());
  for (const Header& header : connection_.headers) options.headers.emplace_back(header.name, header.value);
  return HttpApiServer::open(std::move(options));
}

}  // namespace lastout::client
