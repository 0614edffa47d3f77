#include "tests/server/uninstall/uninstall_fixture.h"

namespace lastout::testing {

kube::Result<client::ApiAnswer> NotedServer::exchange(const client::ApiRequest& request, const Take& take) {
  asked.push_back(request.method + " " + request.target);
  if (request.method != "GET") writes.push_back(asked.back());
  const auto refusal = refuse ? refuse(request) : std::nullopt;
  if (!refusal) return real_->exchange(request, take);
  if (*refusal == 0) return tl::unexpected(kube::Error{"nobody answers", {}, {}});
  take(*refusal, Json{{"kind", "Status"}, {"code", *refusal}, {"message", "the test says no"}}.dump());
  return client::ApiAnswer{*refusal, {}};
}

bool RequestsTest::isThere(const std::string& path) {
  return ask({.method = "GET", .target = path, .body = {}, .headers = {}}).status == 200;
}

Json RequestsTest::get(const std::string& path) {
  return expectStatus(200, {.method = "GET", .target = path, .body = {}, .headers = {}});
}

}  // namespace lastout::testing
