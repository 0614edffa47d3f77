#include "tests/client/tls_peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "tls/names.h"
#include "tls/pem.h"

namespace lastout::testing {
namespace {

constexpr simulator::Validity kValid{0, 4'102'444'800};  // until 2100
constexpr simulator::Validity kOver{0, 86'400};          // the first day of 1970

simulator::UserInfo peerUser() {
  simulator::UserInfo user;
  user.username = "lastout-test";
  return user;
}

void use(SSL_CTX& context, const simulator::CertifiedKey& pair) {
  const auto certificate = tls::certificateIn(pair.certificate);
  const auto key = tls::privateKeyIn(pair.key);
  EXPECT_EQ(SSL_CTX_use_certificate(&context, certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(&context, key.get()), 1);
}

void believeClients(SSL_CTX& context, const std::string& authority) {
  const auto certificate = tls::certificateIn(authority);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), certificate.get());
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

uint16_t bindLoopback(int socket) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket, generic, size) != 0 || getsockname(socket, generic, &size) != 0)
    ADD_FAILURE() << "no port can be had";
  return ntohs(address.sin_port);
}

}  // namespace

PeerPki::PeerPki()
    : authority(simulator::makeAuthority("a test", kValid).value()),
      other(simulator::makeAuthority("a test", kValid).value()),
      server(simulator::makeServerCertificate(authority, {{"api.test"}, {"127.0.0.1"}}, kValid).value()),
      expired(simulator::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, kOver).value()),
      client(simulator::makeClientCertificate(authority, peerUser(), kValid).value()) {}

const PeerPki& pki() {
  static const PeerPki kPki;
  return kPki;
}

std::string PeerConnection::request() {
  std::string text;
  char byte = 0;
  while (!text.ends_with("\r\n\r\n")) {
    if (SSL_read(tls_, &byte, 1) <= 0) return {};
    text += byte;
  }
  constexpr std::string_view kLength = "Content-Length: ";
  const size_t found = text.find(kLength);
  size_t left = found == std::string::npos ? 0 : std::stoul(text.substr(found + kLength.size()));
  for (; left > 0 && SSL_read(tls_, &byte, 1) > 0; --left) text += byte;
  return text;
}

bool PeerConnection::send(std::string_view text) {
  return text.empty() || SSL_write(tls_, text.data(), static_cast<int>(text.size())) > 0;
}

void PeerConnection::waitForTheEnd() {
  char byte = 0;
  while (SSL_read(tls_, &byte, 1) > 0) {
  }
}

void PeerConnection::reset() {
  const linger now{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  drop();
}

void PeerConnection::drop() { SSL_set_quiet_shutdown(tls_, 1); }

std::string PeerConnection::clientName() const {
  const X509* certificate = SSL_get0_peer_certificate(tls_);
  if (certificate == nullptr) return {};
  return tls::subjectTexts(*certificate, NID_commonName).at(0);
}

TlsPeer::TlsPeer(Script script, Options options)
    : script_(std::move(script)),
      options_(options),
      context_(SSL_CTX_new(TLS_server_method())),
      listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  std::signal(SIGPIPE, SIG_IGN);
  use(*context_, options_.certificate == nullptr ? pki().server : *options_.certificate);
  if (options_.clientCertificates) believeClients(*context_, pki().authority.certificate);
  port_ = bindLoopback(listening_);
  listen(listening_, 64);
  accepting_ = std::thread([this] { accept(); });
}

TlsPeer::~TlsPeer() {
  shutdown(listening_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : open_) shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  close(listening_);
}

void TlsPeer::accept() {
  while (true) {
    const int made = ::accept(listening_, nullptr, nullptr);
    if (made < 0) return;
    const std::lock_guard lock(mutex_);
    ++accepted_;
    open_.push_back(made);
    threads_.emplace_back([this, made] { serve(made); });
    changed_.notify_all();
  }
}

void TlsPeer::serve(int socket) {
  {
    const tls::Owned<SSL> tls(SSL_new(context_.get()));
    SSL_set_fd(tls.get(), socket);
    PeerConnection connection(socket, tls.get());
    if (options_.handshakes && SSL_accept(tls.get()) == 1) {
      script_(connection);
      SSL_shutdown(tls.get());
    } else {
      char byte = 0;  // until the client ends it
      while (recv(socket, &byte, 1, 0) > 0) {
      }
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase(open_, socket);
  close(socket);
}

int TlsPeer::connections() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

void TlsPeer::waitForConnections(int number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return accepted_ >= number; });
}

client::HttpOptions TlsPeer::options() const {
  client::HttpOptions options;
  options.host = "127.0.0.1";
  options.port = port_;
  options.authorities = pki().authority.certificate;
  return options;
}

PeerPort::PeerPort(bool listens) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  port_ = bindLoopback(socket_);
  if (listens) listen(socket_, 0);
}

PeerPort::~PeerPort() {
  for (const int socket : waiting_) close(socket);
  close(socket_);
}

void PeerPort::fill() {
  constexpr int kMost = 64;
  constexpr int kSettled = 200;  // milliseconds in which the kernel would have made one on loopback
  for (int i = 0; i < kMost; ++i) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    waiting_.push_back(made);
    const sockaddr_in address = loopback(port_);
    connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    pollfd wanted{made, POLLOUT, 0};
    if (poll(&wanted, 1, kSettled) == 0) return;
  }
  ADD_FAILURE() << "the queue of connections does not fill";
}

}  // namespace lastout::testing
