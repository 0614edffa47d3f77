#include "simulator/listener.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "kube/messages.h"
#include "kube/names.h"
#include "net/sockets.h"
#include "simulator/admission_review.h"
#include "simulator/certificates.h"
#include "simulator/request.h"
#include "simulator/status.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostHead = size_t{1} << 20;       // bytes, as for the API server
constexpr size_t kMostReadAway = size_t{64} << 20;  // bytes behind a refusal
constexpr std::chrono::seconds kIdle{60};

// Who asks without saying who it is (user/authentication of the API server).
UserInfo anonymousUser() { return {"system:anonymous", "", {"system:unauthenticated"}, {}}; }

// The first IP address of a host that is no address itself. Fails where nobody knows it.
kube::Result<std::string> addressOfHost(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (unknown != 0)
    return tl::unexpected(kube::Error{"cannot listen: " + kube::inQuotes(host) +
                                          " is no address or name of this machine: " + gai_strerror(unknown),
                                      {},
                                      {}});
  std::array<char, NI_MAXHOST> text{};
  const int failed =
      getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(found);
  return failed == 0 ? std::string(text.data()) : host;
}

// What the API server tells anybody (its ClusterRole system:public-info-viewer).
bool isPublic(std::string_view path) {
  constexpr std::array<std::string_view, 4> kPublic{"/healthz", "/livez", "/readyz", "/version"};
  return std::ranges::find(kPublic, path) != kPublic.end();
}

std::string_view bearerToken(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (kube::lowerCase(authorization.substr(0, kBearer.size())) != kBearer) return {};
  return authorization.substr(kBearer.size());
}

ApiResult<ExchangeRequest> toRequest(net::HttpRequest request) {
  ExchangeRequest result;
  auto query = parseQuery(request.query);
  if (!query) return tl::unexpected(std::move(query.error()));
  result.query = std::move(*query);
  result.contentType = request.header("content-type");
  result.impersonation.username = request.header("impersonate-user");
  result.impersonation.uid = request.header("impersonate-uid");
  for (const auto& [name, value] : request.headers) {
    if (kube::lowerCase(name) == "impersonate-group") result.impersonation.groups.push_back(value);
  }
  result.method = std::move(request.method);
  result.path = std::move(request.path);
  result.host = std::move(request.host);
  result.accept = std::move(request.accept);
  result.body = std::move(request.body);
  return result;
}

net::HttpResponse toAnswer(ExchangeResponse answer) {
  net::HttpResponse response;
  response.status = answer.status;
  response.contentType = std::move(answer.contentType);
  response.body = std::move(answer.body);
  response.headers.emplace_back("Cache-Control", "no-cache, private");
  for (const std::string& warning : answer.warnings)
    response.headers.emplace_back("Warning", warningHeader(warning));
  if (answer.retryAfter) response.headers.emplace_back("Retry-After", std::to_string(*answer.retryAfter));
  if (answer.stream == nullptr) return response;
  response.contentType += ";stream=watch";  // the parameter is as in Kubernetes' OpenAPI
  response.stream = std::move(answer.stream);
  return response;
}

net::HttpResponse toAnswer(const ApiError& error) {
  net::HttpResponse response;
  response.status = error.code;
  response.body = toText(statusOf(error));
  return response;
}

// What no handler sees, in the API server's words.
net::HttpResponse refused(const net::HttpRefusal& refusal, size_t mostBody) {
  constexpr int kTimeout = 408;  // the API server calls a body that does not come a bad request
  if (refusal.status == 413) return toAnswer(tooLarge(mostBody));
  ApiError error = badRequest(refusal.why);
  if (refusal.status != kTimeout) error.code = refusal.status;
  return toAnswer(error);
}

net::HttpResponse answerTo(net::HttpRequest request, const Handler& handler, const Authenticate& authenticate,
                           kube::KubernetesVersion kubernetes) {
  std::optional<UserInfo> certificate = userOf(request.client, request.clientGroups);
  if (certificate) addCredential(*certificate, "X509SHA256=" + request.clientFingerprint, kubernetes);
  const std::string authorization = request.authorization;
  const std::string_view token = bearerToken(authorization);
  std::optional<UserInfo> user = authenticate(token, certificate ? &*certificate : nullptr);
  auto plain = toRequest(std::move(request));
  if (!user && token.empty() && plain && isPublic(plain->path)) user = anonymousUser();
  if (!user) return toAnswer(unauthorized());
  if (!plain) return toAnswer(plain.error());
  plain->user = std::move(*user);
  return toAnswer(handler(*plain));
}

}  // namespace

Listener::Listener(std::string url, std::unique_ptr<net::HttpServer> server)
    : url_(std::move(url)), server_(std::move(server)) {}

Listener::~Listener() { stop(); }

kube::Result<std::unique_ptr<Listener>> Listener::open(const ListenerOptions& options, Handler handler,
                                                       Authenticate authenticate) {
  auto address = addressOfHost(options.host);
  if (!address) return tl::unexpected(std::move(address.error()));
  net::HttpServerOptions http;
  http.address = std::move(*address);
  http.port = options.port;
  http.identity = {options.certificate, options.privateKey, options.clientCa, true};
  http.plain = http.plainForOthers = options.certificate.empty();
  http.workers = 1;
  http.mostWorkers = options.threads;
  http.waiting = std::numeric_limits<size_t>::max();
  http.request = {.header = kMostHead, .body = options.mostBody, .takesChunks = true};
  http.refuse = [most = options.mostBody](const net::HttpRefusal& refusal) { return refused(refusal, most); };
  http.drained = kMostReadAway;
  http.connections = options.connections;
  http.requestTime = std::chrono::seconds(options.slowestSeconds);
  http.idleTime = kIdle;
  net::HttpRoute everything;
  everything.handler = [handler = std::move(handler), authenticate = std::move(authenticate),
                        kubernetes = options.kubernetes](net::HttpRequest request) {
    return answerTo(std::move(request), handler, authenticate, kubernetes);
  };
  auto server = net::HttpServer::listen(http, {std::move(everything)}, {});
  if (!server) return tl::unexpected(std::move(server.error()));
  std::string url =
      (http.plain ? "http://" : "https://") + net::joinHostPort(options.host, (*server)->port());
  return std::unique_ptr<Listener>(new Listener(std::move(url), std::move(*server)));
}

void Listener::start() { server_->start(); }
void Listener::stop() { server_->stop(std::chrono::milliseconds(0)); }
std::string Listener::url() const { return url_; }

}  // namespace lastout::simulator
