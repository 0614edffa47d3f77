#include "tests/client/recorded_answers.h"

#include <fstream>

namespace lastout::testing {
namespace {

OrderedJson recordedResponse(const std::string& name) {
  std::ifstream file("tests/recordings/kubernetes-1.26/rest/" + name + ".json");
  return OrderedJson::parse(file).at("response");
}

}  // namespace

OrderedJson recordedBody(const std::string& name) { return recordedResponse(name).at("body"); }

std::vector<OrderedJson> recordedEvents(const std::string& name) {
  std::vector<OrderedJson> events;
  const OrderedJson response = recordedResponse(name);
  for (const OrderedJson& entry : response.at("stream")) events.push_back(entry.at("event"));
  return events;
}

std::string recordedWatch(const std::string& name) {
  std::string text;
  for (const OrderedJson& event : recordedEvents(name)) text += event.dump() + "\n";
  return text;
}

kube::Result<client::ApiAnswer> RecordedServer::exchange(const client::ApiRequest& request,
                                                         const Take& take) {
  constexpr size_t kPiece = 100;
  asked.push_back(request.target);
  const auto found = answers.find(request.target);
  const Answer answer = found == answers.end() ? Answer{404, "404 page not found\n"} : found->second;
  if (!take(answer.status, {})) return client::ApiAnswer{answer.status, {}};
  for (size_t i = 0; i < answer.body.size(); i += kPiece) {
    if (!take(answer.status, std::string_view(answer.body).substr(i, kPiece)))
      return client::ApiAnswer{answer.status, {}};
  }
  if (answer.cutOff) return tl::unexpected(kube::Error{"the answer was cut off before its end", {}, {}});
  return client::ApiAnswer{answer.status, {}};
}

}  // namespace lastout::testing
