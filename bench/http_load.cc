#include "bench/http_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tls/certificates.h"

namespace lastout::bench {
namespace {

constexpr timeval kPatience{2, 0};  // of a client

SSL_CTX* clientContext() {
  static const tls::Owned<SSL_CTX> kContext(SSL_CTX_new(TLS_client_method()));
  return kContext.get();
}

}  // namespace

const std::string& reviewText() {
  static const std::string kText = [] {
    std::ifstream file(
        "tests/recordings/kubernetes-1.26/admission/13-delete-deployments-admin-background-dryrun.json");
    if (!file) stopBench("start it in the repository's top folder");
    return nlohmann::ordered_json::parse(file)["body"].dump();
  }();
  return kText;
}

net::TlsIdentity makeIdentity() {
  const tls::Validity always{0, 4'102'444'800};  // until 2100
  const auto authority = tls::makeAuthority("bench", always).value();
  const auto server = tls::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, always).value();
  return {server.certificate, server.key, ""};
}

double processorSeconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  for (int i = 0; i < 13; ++i) file >> word;
  double user = 0;
  double system = 0;
  file >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double residentMegabytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

ServerProcess::ServerProcess(const std::function<void(int pipe)>& serve) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) stopBench("no pipe");
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // however the benchmark ends
    serve(ends[1]);
    std::_Exit(1);
  }
  if (read(ends[0], &port, sizeof(port)) != sizeof(port)) stopBench("the server does not start");
  close(ends[0]);
  close(ends[1]);
}

ServerProcess::~ServerProcess() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void reportPort(int pipe, int port) {
  if (write(pipe, &port, sizeof(port)) != sizeof(port)) std::_Exit(1);
}

void serveConstant(int pipe, const std::string& path, const std::string& body) {
  net::HttpServerOptions options;
  options.identity = makeIdentity();
  const net::HttpHandler handler = [&body](const net::HttpRequest&) {
    return net::HttpResponse{200, "application/json", body, {}};
  };
  const auto server =
      net::HttpServer::open(options, {{"POST", path, "application/json", handler, false, false}}, {});
  reportPort(pipe, (*server)->port());
  while (true) pause();
}

LoadClient::LoadClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return;
  connection_.reset(SSL_new(clientContext()));
  SSL_set_fd(connection_.get(), socket_);
  connected = SSL_connect(connection_.get()) == 1;
}

LoadClient::~LoadClient() {
  connection_.reset();
  close(socket_);
}

bool LoadClient::ask(const std::string& request, const std::string& end) {
  size_t count = 0;
  if (SSL_write_ex(connection_.get(), request.data(), request.size(), &count) != 1) return false;
  std::string answer;
  std::array<char, 4096> piece{};
  while (!answer.ends_with(end)) {
    if (SSL_read_ex(connection_.get(), piece.data(), piece.size(), &count) != 1) return false;
    answer.append(piece.data(), count);
  }
  return true;
}

}  // namespace lastout::bench
