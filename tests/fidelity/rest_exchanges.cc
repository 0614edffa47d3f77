#include "tests/fidelity/rest_exchanges.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace lastout::fidelity {
namespace {

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

RestExchange readExchange(const std::string& recording, const std::filesystem::path& path) {
  std::ifstream file(path);
  const Json recorded = Json::parse(file);
  const Json& request = recorded["request"];
  RestExchange exchange;
  exchange.recording = recording;
  exchange.name = path.stem().string();
  exchange.method = request["method"];
  exchange.path = request["path"];
  exchange.accept = header(request, "Accept");
  exchange.contentType = header(request, "Content-Type");
  if (const Json body = request.value("body", Json()); !body.is_null())
    exchange.body = simulator::toText(body);
  exchange.webhookAnswer = recorded.value("webhookAnswer", Json());
  exchange.answer =
      recordedAnswerOf(recorded["response"], exchange.path.find("watch=1") != std::string::npos);
  return exchange;
}

}  // namespace

const std::vector<LeftOut>& leftOut() {
  static const std::vector<LeftOut> kLeftOut = {
      {kKubernetes136, "111",
       "The namespace was made and deleted by what `admission/` recorded, not by these requests."},
  };
  return kLeftOut;
}

std::vector<RestExchange> recordedExchanges(const std::string& recording) {
  std::vector<RestExchange> exchanges;
  for (const auto& entry : std::filesystem::directory_iterator("tests/recordings/" + recording + "/rest"))
    exchanges.push_back(readExchange(recording, entry.path()));
  std::erase_if(exchanges, [](const RestExchange& exchange) {
    return std::ranges::any_of(leftOut(), [&](const LeftOut& left) {
      return left.recording == exchange.recording && left.exchange == exchange.number();
    });
  });
  std::ranges::sort(exchanges, {}, &RestExchange::name);
  return exchanges;
}

}  // namespace lastout::fidelity
