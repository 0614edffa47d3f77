#include "tests/simulator/https_server.h"

#include <httplib.h>

#include <thread>
#include <utility>

#include "tls/pem.h"

namespace lastout::simulator {
namespace {

bool useCertificate(SSL_CTX& context, const CertifiedKey& pair) {
  const auto certificate = tls::certificateIn(pair.certificate);
  const auto key = tls::privateKeyIn(pair.key);
  return SSL_CTX_use_certificate(&context, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(&context, key.get()) == 1;
}

}  // namespace

struct HttpsServer::Running {
  CertifiedKey authority;
  CertifiedKey certificate;
  Handler handler;
  httplib::SSLServer server;
  int port = 0;
  std::thread thread;

  Running(Handler given, const ServerNames& names)
      : authority(makeAuthority("a test", kAlways).value()),
        certificate(makeServerCertificate(authority, names, kAlways).value()),
        handler(std::move(given)),
        server([this](SSL_CTX& context) { return useCertificate(context, certificate); }) {}
};

HttpsServer::HttpsServer(Handler handler, const ServerNames& names)
    : running_(std::make_unique<Running>(std::move(handler), names)) {
  httplib::SSLServer& server = running_->server;
  server.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
    ReceivedRequest received{request.target, {}, request.body, request.remote_port};
    for (const auto& [name, value] : request.headers) received.headers[name] = value;
    WebhookResponse answer = running_->handler(received);
    response.status = answer.status;
    response.set_content(answer.body, "application/json");
  });
  running_->port = server.bind_to_any_port("127.0.0.1");
  running_->thread = std::thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  // What the library makes at its first request is made now, by one thread: ThreadSanitizer cannot see how
  // the library, which is not built with it, keeps others from it.
  httplib::SSLClient first("127.0.0.1", running_->port);
  first.enable_server_certificate_verification(false);
  first.Get("/");
}

HttpsServer::~HttpsServer() {
  running_->server.stop();
  running_->thread.join();
}

int HttpsServer::port() const { return running_->port; }

const std::string& HttpsServer::authority() const { return running_->authority.certificate; }

}  // namespace lastout::simulator
