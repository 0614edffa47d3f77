#include "net/http_server.h"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "net/http_loop.h"
#include "net/sockets.h"

namespace lastout::net {

std::string toString(const HttpEvent& event) {
  return (event.peer.empty() ? "" : event.peer + ": ") + event.message +
         (event.status == 0 ? "" : ", answered " + std::to_string(event.status));
}

bool isLoopback(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  return !error && parsed.is_loopback();
}

HttpServer::HttpServer(std::unique_ptr<HttpLoop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() { stop(std::chrono::milliseconds(0)); }

kube::Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpServerOptions& options,
                                                           std::vector<HttpRoute> routes, HttpLog log) {
  auto server = listen(options, std::move(routes), std::move(log));
  if (server) (*server)->start();
  return server;
}

kube::Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpServerOptions& options,
                                                             std::vector<HttpRoute> routes, HttpLog log) {
  ignoreBrokenPipes();
  auto loop = std::make_unique<HttpLoop>(options, std::move(routes), std::move(log));
  if (!options.plain) {
    if (auto used = loop->use(options.identity); !used) return tl::unexpected(std::move(used.error()));
  }
  if (auto listening = loop->listen(); !listening) return tl::unexpected(std::move(listening.error()));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

void HttpServer::start() { loop_->start(); }
kube::Result<void> HttpServer::use(const TlsIdentity& identity) { return loop_->use(identity); }
int HttpServer::port() const { return loop_->port; }
size_t HttpServer::connections() const { return loop_->open; }
void HttpServer::stop(std::chrono::milliseconds grace) { loop_->stop(grace); }

}  // namespace lastout::net
