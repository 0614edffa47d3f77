// The admission listener under load, and beside it cpp-httplib's server, each in a process of its own, with
// other connections that stay idle; and what reading a review costs. Server and clients share the processors.
#include <benchmark/benchmark.h>
#include <httplib.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "admission/review.h"
#include "bench/http_load.h"
#include "tls/pem.h"

namespace lastout::admission {
namespace {

using bench::LoadClient;
using bench::makeIdentity;
using bench::reportPort;
using bench::reviewText;
using bench::serveConstant;
using bench::ServerProcess;
using bench::stopBench;

using Clock = std::chrono::steady_clock;

constexpr size_t kConnections = 16;
constexpr std::chrono::seconds kLoad{4};
constexpr std::chrono::seconds kRest{3};  // while nothing is asked

enum Kind : int64_t { kListener, kHttplibPool, kHttplibThreads };

const std::string& answerBody() {
  static const std::string kText = answerText("f064cc3d-e2e5-411a-8cf3-26f780603ba3", {});
  return kText;
}

[[noreturn]] void serveWithListener(int pipe) { serveConstant(pipe, "/validate", answerBody()); }

[[noreturn]] void serveWithHttplib(int pipe, size_t threads) {
  const net::TlsIdentity identity = makeIdentity();
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
        if (!client.ask(kRequest, answerBody())) return;
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
    const ServerProcess server([kind = state.range(0)](int pipe) {
      if (kind == kListener) serveWithListener(pipe);
      serveWithHttplib(pipe, kind == kHttplibPool ? 8 : 1'100);
    });
    LoadClient(server.port).ask("GET / HTTP/1.0\r\n\r\n", answerBody());
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
  const DenialCause cause{"CriterionUnmet",
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
