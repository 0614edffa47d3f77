#include "tests/fidelity/rest_exchanges.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace lastout::fidelity {
namespace {

constexpr const char* kFolder = "tests/recordings/kubernetes-1.26/rest";

std::string header(const Json& message, const char* name) { return message["headers"].value(name, ""); }

Json recordedAnswerOf(const Json& response, bool isWatch) {
  Json headers = Json::object();
  for (const char* name : {"content-type", "retry-after", "warning"}) {
    if (response["headers"].contains(name)) headers[name] = response["headers"][name];
  }
  Json answer = {{"status", response["status"]}, {"headers", std::move(headers)}};
  if (!isWatch) {
    answer["body"] = response["body"];
  } else if (response.contains("stream")) {
    for (const Json& line : response["stream"]) answer["events"].push_back(line["event"]);
  } else {
    answer["events"].push_back(response["body"]);  // the only one (070)
  }
  return answer;
}

RestExchange readExchange(const std::filesystem::path& path) {
  std::ifstream file(path);
  const Json recorded = Json::parse(file);
  const Json& request = recorded["request"];
  RestExchange exchange;
  exchange.name = path.stem().string();
  exchange.method = request["method"];
  exchange.path = request["path"];
  exchange.accept = header(request, "Accept");
  exchange.contentType = header(request, "Content-Type");
  if (const Json body = request.value("body", Json()); !body.is_null())
    exchange.body = apiserver::toText(body);
  exchange.webhookAnswer = recorded.value("webhookAnswer", Json());
  exchange.answer =
      recordedAnswerOf(recorded["response"], exchange.path.find("watch=1") != std::string::npos);
  return exchange;
}

}  // namespace

std::vector<RestExchange> recordedExchanges() {
  std::vector<RestExchange> exchanges;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    exchanges.push_back(readExchange(entry.path()));
  std::ranges::sort(exchanges, {}, &RestExchange::name);
  return exchanges;
}

}  // namespace lastout::fidelity
