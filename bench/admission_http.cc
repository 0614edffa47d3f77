// The admission listener under load, and beside it cpp-httplib's server, each in a process of its own, with
// other connections that stay idle; and what reading a review costs. Server and clients share the processors.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <httplib.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "admission/http_server.h"
#include "admission/review.h"
#include "apiserver/certificates.h"
#include "tls/pem.h"

namespace lastout::admission {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kConnections = 16;
constexpr std::chrono::seconds kLoad{4};
constexpr std::chrono::seconds kRest{3};  // while nothing is asked
constexpr timeval kPatience{2, 0};        // of a client

enum Kind : int64_t { kListener, kHttplibPool, kHttplibThreads };

[[noreturn]] void stopBench(const std::string& what) {
  std::cerr << "admission_http: " << what << "\n";
  std::exit(1);
}

// A DELETE of a Deployment, as an API server sends it.
const std::string& reviewText() {
  static const std::string kText = [] {
    std::ifstream file(
        "tests/recordings/kubernetes-1.26/admission/13-delete-deployments-admin-background-dryrun.json");
    if (!file) stopBench("start it in the repository's top folder");
    return nlohmann::ordered_json::parse(file)["body"].dump();
  }();
  return kText;
}

const std::string& answerBody() {
  static const std::string kText = answerText("f064cc3d-e2e5-411a-8cf3-26f780603ba3", {});
  return kText;
}

TlsIdentity makeIdentity() {
  const apiserver::Validity always{0, 4'102'444'800};  // until 2100
  const auto authority = apiserver::makeAuthority("bench", always).value();
  const auto server = apiserver::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, always).value();
  return {server.certificate, server.key, ""};
}

void reportPort(int pipe, int port) {
  if (write(pipe, &port, sizeof(port)) != sizeof(port)) std::_Exit(1);
}

[[noreturn]] void serveWithListener(int pipe) {
  HttpServerOptions options;
  options.identity = makeIdentity();
  const HttpHandler handler = [](const HttpRequest&) {
    return HttpResponse{200, "application/json", answerBody(), {}};
  };
  const auto server =
      HttpServer::open(options, {{"POST", "/validate", "application/json", handler, false, false}}, {});
  reportPort(pipe, (*server)->port());
  while (true) pause();
}

[[noreturn]] void serveWithHttplib(int pipe, size_t threads) {
  const TlsIdentity identity = makeIdentity();
  httplib::SSLServer server([&identity](SSL_CTX& context) {
    const auto certificate = tls::certificateIn(identity.certificate);
    const auto key = tls::privateKeyIn(identity.privateKey);
    return SSL_CTX_use_certificate(&context, certificate.get()) == 1 &&
           SSL_CTX_use_PrivateKey(&context, key.get()) == 1;
  });
  server.Post("/validate", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(answerBody(), "application/json");
  });
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server.set_keep_alive_max_count(1'000'000'000);
  server.set_keep_alive_timeout(180);
  server.set_tcp_nodelay(true);
  reportPort(pipe, server.bind_to_any_port("127.0.0.1"));
  server.listen_after_bind();
  std::_Exit(1);
}

// A server in a process of its own.
class ServerProcess {
 public:
  explicit ServerProcess(int64_t kind) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) stopBench("no pipe");
    process_ = fork();
    if (process_ == 0) {
      if (kind == kListener) serveWithListener(ends[1]);
      serveWithHttplib(ends[1], kind == kHttplibPool ? 8 : 1'100);
    }
    if (read(ends[0], &port, sizeof(port)) != sizeof(port)) stopBench("the server does not start");
    close(ends[0]);
    close(ends[1]);
  }
  ~ServerProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Seconds of processor time that it has used.
  double used() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string word;
    for (int i = 0; i < 13; ++i) file >> word;
    double user = 0;
    double system = 0;
    file >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  double residentMegabytes() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
  }

  int port = 0;

 private:
  pid_t process_ = -1;
};

SSL_CTX* clientContext() {
  static const tls::Owned<SSL_CTX> kContext(SSL_CTX_new(TLS_client_method()));
  return kContext.get();
}

// A connection with TLS that asks the same again and again.
class LoadClient {
 public:
  explicit LoadClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
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
  ~LoadClient() {
    connection_.reset();
    close(socket_);
  }
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // False: no answer came.
  bool ask(const std::string& request) {
    size_t count = 0;
    if (SSL_write_ex(connection_.get(), request.data(), request.size(), &count) != 1) return false;
    std::string answer;
    std::array<char, 4096> piece{};
    while (!answer.ends_with(answerBody())) {
      if (SSL_read_ex(connection_.get(), piece.data(), piece.size(), &count) != 1) return false;
      answer.append(piece.data(), count);
    }
    return true;
  }

  bool connected = false;

 private:
  int socket_ = -1;
  tls::Owned<SSL> connection_;
};

struct Answers {
  std::vector<double> milliseconds;  // of each, sorted
  double unanswered = 0;             // connections that got none
};

Answers askForAWhile(int port) {
  static const std::string kRequest =
      "POST /validate?timeout=5s HTTP/1.1\r\nHost: lastout\r\nUser-Agent: kube-apiserver-admission\r\n"
      "Accept: application/json, */*\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(reviewText().size()) + "\r\n\r\n" + reviewText();
  std::vector<std::vector<double>> times(kConnections);
  std::vector<std::thread> threads;
  threads.reserve(times.size());
  const Clock::time_point until = Clock::now() + kLoad;
  for (std::vector<double>& mine : times) {
    threads.emplace_back([&mine, port, until] {
      LoadClient client(port);
      while (client.connected && Clock::now() < until) {
        const Clock::time_point start = Clock::now();
        if (!client.ask(kRequest)) return;
        mine.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
    });
  }
  Answers all;
  for (size_t i = 0; i < kConnections; ++i) {
    threads[i].join();
    all.milliseconds.insert(all.milliseconds.end(), times[i].begin(), times[i].end());
    if (times[i].empty()) ++all.unanswered;
  }
  std::ranges::sort(all.milliseconds);
  return all;
}

double percentile(const std::vector<double>& sorted, double part) {
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void serveReviews(benchmark::State& state) {
  std::signal(SIGPIPE, SIG_IGN);
  for (auto _ : state) {
    const ServerProcess server(state.range(0));
    LoadClient(server.port).ask("GET / HTTP/1.0\r\n\r\n");
    const double before = server.residentMegabytes();
    std::vector<std::unique_ptr<LoadClient>> idle;
    for (int64_t i = 0; i < state.range(1); ++i) {
      idle.push_back(std::make_unique<LoadClient>(server.port));
      if (!idle.back()->connected) stopBench("an idle connection is refused");
    }
    state.counters["idleMB"] = server.residentMegabytes() - before;
    double used = server.used();
    std::this_thread::sleep_for(kRest);
    state.counters["idle%core"] = 100 * (server.used() - used) / static_cast<double>(kRest.count());
    used = server.used();
    const auto [times, unanswered] = askForAWhile(server.port);
    const auto answered = static_cast<double>(times.size());
    state.counters["answers/s"] = answered / static_cast<double>(kLoad.count());
    state.counters["unanswered"] = unanswered;
    state.counters["p50ms"] = percentile(times, 0.5);
    state.counters["p99ms"] = percentile(times, 0.99);
    state.counters["serverUs"] = times.empty() ? 0 : 1e6 * (server.used() - used) / answered;
  }
}

void readReview(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parseReview(reviewText()));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * reviewText().size()));
}

void writeDenial(benchmark::State& state) {
  const Cause cause{"CriterionUnmet",
                    "coolresources.my.crd.group/some-instance has finalizer my.crd.group/important",
                    "criticalservices.lastout.dev/for-finalizer-deployment#spec.criteria[0]"};
  const ReviewAnswer answer{
      Refusal{403, "deployments.apps/ns/name must not go yet", {cause, cause, cause}, {}}, {}};
  for (auto _ : state) benchmark::DoNotOptimize(answerText("f064cc3d-e2e5-411a-8cf3-26f780603ba3", answer));
}

BENCHMARK(serveReviews)
    ->Name("admission_http/serve")
    ->ArgNames({"server", "idle"})
    ->Args({kListener, 0})
    ->Args({kListener, 8})
    ->Args({kListener, 1000})
    ->Args({kHttplibThreads, 0})
    ->Args({kHttplibThreads, 8})
    ->Args({kHttplibThreads, 1000})
    ->Args({kHttplibPool, 0})
    ->Args({kHttplibPool, 8})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK(readReview)->Name("admission_http/readReview")->Unit(benchmark::kMicrosecond);
BENCHMARK(writeDenial)->Name("admission_http/writeDenial")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lastout::admission
