#include "tests/net/http_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "tests/support/stop.h"
#include "tls/pem.h"

namespace lastout::testing {
namespace {

constexpr simulator::Validity kAlways{0, 4'102'444'800};  // until 2100

int connectTo(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    stop("nobody listens");
  return descriptor;
}

}  // namespace

simulator::CertifiedKey testAuthority(std::string_view name) {
  return simulator::makeAuthority(name, kAlways).value();
}

net::TlsIdentity testIdentity(const simulator::CertifiedKey& authority) {
  const auto made = simulator::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, kAlways).value();
  return {made.certificate, made.key, ""};
}

simulator::CertifiedKey testClient(const simulator::CertifiedKey& authority, const std::string& name) {
  simulator::UserInfo user;
  user.username = name;
  return simulator::makeClientCertificate(authority, user, kAlways).value();
}

RawClient::RawClient(int port) : socket_(connectTo(port)), connected_(true) {}

RawClient::RawClient(int port, const Tls& tls)
    : socket_(connectTo(port)), context_(SSL_CTX_new(TLS_client_method())) {
  if (tls.identity != nullptr) {
    const auto certificate = tls::certificateIn(tls.identity->certificate);
    const auto key = tls::privateKeyIn(tls.identity->key);
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
  }
  connection_.reset(SSL_new(context_.get()));
  SSL_set_fd(connection_.get(), socket_);
  connected_ = SSL_connect(connection_.get()) == 1;
}

RawClient::~RawClient() {
  connection_.reset();
  ::close(socket_);
}

bool RawClient::send(std::string_view text) {
  while (!text.empty()) {
    size_t written = 0;
    if (connection_ != nullptr) {
      if (SSL_write_ex(connection_.get(), text.data(), text.size(), &written) != 1) return false;
    } else {
      const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      written = static_cast<size_t>(sent);
    }
    text.remove_prefix(written);
  }
  return true;
}

bool RawClient::readMore() {
  std::array<char, 4096> piece{};
  size_t got = 0;
  if (connection_ != nullptr) {
    if (SSL_read_ex(connection_.get(), piece.data(), piece.size(), &got) != 1) return false;
  } else {
    const auto received = ::recv(socket_, piece.data(), piece.size(), 0);
    if (received <= 0) return false;
    got = static_cast<size_t>(received);
  }
  come_.append(piece.data(), got);
  return true;
}

std::string RawClient::readUntil(std::string_view last) {
  while (last.empty() || come_.find(last) == std::string::npos)
    if (!readMore()) return std::exchange(come_, {});
  const size_t end = come_.find(last) + last.size();
  std::string text = come_.substr(0, end);
  come_.erase(0, end);
  return text;
}

std::string RawClient::readAnswer() {
  std::string answer = readUntil("\r\n\r\n");
  constexpr std::string_view kLength = "Content-Length: ";
  const size_t at = answer.find(kLength);
  if (at == std::string::npos) return answer;
  size_t length = 0;
  std::from_chars(answer.data() + at + kLength.size(), answer.data() + answer.size(), length);
  while (come_.size() < length && readMore()) {
  }
  answer += come_.substr(0, length);
  come_.erase(0, length);
  return answer;
}

void RawClient::halfClose() {
  if (connection_ != nullptr) SSL_shutdown(connection_.get());
  ::shutdown(socket_, SHUT_WR);
}

std::string RawClient::serverCertificate() const {
  const tls::Owned<BIO> text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), SSL_get0_peer_certificate(connection_.get()));
  return tls::textIn(*text);
}

int statusOf(const std::string& answer) {
  int status = 0;
  if (answer.starts_with("HTTP/1.1 "))
    std::from_chars(answer.data() + 9, answer.data() + answer.size(), status);
  return status;
}

std::string postText(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: lastout\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

void EventLog::add(const net::HttpEvent& event) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(event);
  changed_.notify_all();
}

net::HttpEvent EventLog::waitFor(std::string_view words) {
  std::unique_lock lock(mutex_);
  while (true) {
    for (const net::HttpEvent& event : events_)
      if (event.message.find(words) != std::string::npos) return event;
    changed_.wait(lock);
  }
}

size_t EventLog::count() {
  const std::scoped_lock lock(mutex_);
  return events_.size();
}

void Gate::open() {
  const std::scoped_lock lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::pass() {
  std::unique_lock lock(mutex_);
  ++come_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return open_; });
}

void Gate::waitFor(int people) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, people] { return come_ >= people; });
}

std::vector<net::HttpRoute> HttpWorld::routes() {
  using net::HttpRequest;
  using net::HttpResponse;
  const auto echo = [](HttpRequest request) {
    return HttpResponse{200, request.contentType, std::move(request.body), {}};
  };
  const auto who = [](const HttpRequest& request) {
    return HttpResponse{200, "text/plain", request.client + "?" + request.query, {{"Retry-After", "7"}}};
  };
  const auto live = [](const HttpRequest&) { return HttpResponse{200, "text/plain", "ok", {}}; };
  const auto wait = [this](const HttpRequest&) {
    gate.pass();
    return HttpResponse{200, "text/plain", "waited", {}};
  };
  const auto fail = [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("a secret"); };
  return {{"POST", "/echo", "application/json", echo, false, false},
          {"GET", "/who", "", who, false, false},
          {"GET", "/live", "", live, true, true},
          {"POST", "/wait", "", wait, false, false},
          {"POST", "/fail", "", fail, false, false},
          {"POST", "/secret/", "application/json", echo, false, false,
           [](const std::string& path) { return path == "/secret/word"; }}};
}

void HttpWorld::start(net::HttpServerOptions options) {
  const net::TlsIdentity given = std::exchange(options.identity, testIdentity(authority));
  options.identity.clientCa = given.clientCa;
  options.identity.servesStrangers = given.servesStrangers;
  auto opened =
      net::HttpServer::open(options, routes(), [this](const net::HttpEvent& event) { log.add(event); });
  if (!opened) stop(opened.error().message);
  server = std::move(*opened);
}

HttpWorld::~HttpWorld() {
  gate.open();
  server.reset();
}

std::string HttpWorld::ask(const std::string& text) {
  RawClient client(server->port(), RawClient::Tls{});
  if (!client.send(text)) return {};
  return client.readAnswer();
}

}  // namespace lastout::testing
