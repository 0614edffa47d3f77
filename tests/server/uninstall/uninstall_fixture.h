// A client of a real API that is told to refuse, and notes what is written; and time that passes when
// somebody waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/runtime/object_client.h"
#include "tests/server/server_fixture.h"

namespace lastout::testing {

class NotedServer : public client::ApiServer {
 public:
  explicit NotedServer(std::unique_ptr<client::ApiServer> real) : real_(std::move(real)) {}

  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override;
  void stop() override { real_->stop(); }

  // Asked before each request: the status to refuse it with; 0: there is no answer; nothing: as the cluster
  // says.
  std::function<std::optional<int>(const client::ApiRequest& request)> refuse;
  std::vector<std::string> asked;   // "GET /api/v1/pods?limit=5"
  std::vector<std::string> writes;  // those that are no GET

 private:
  const std::unique_ptr<client::ApiServer> real_;
};

class RequestsTest : public ServerTest {
 public:
  RequestsTest() : server(access->newServer()) {}

  void allow() { server.refuse = nullptr; }
  bool isThere(const std::string& path);
  Json get(const std::string& path);  // fails the test when it is not there

  NotedServer server;
  client::TimePoint now{};
  std::function<void()> meanwhile = [] {};  // done whenever somebody has waited
  server::Patience patience{
      [this] { return now; },
      [this](std::chrono::milliseconds pause) {
        now += pause;
        cluster.runUntil(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()));
        meanwhile();
      }};
};

}  // namespace lastout::testing
