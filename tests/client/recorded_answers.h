// What a real API server answered (tests/recordings), as the bytes that it sent, and an ApiServer that
// answers so.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/api_server.h"

namespace lastout::testing {

using OrderedJson = nlohmann::ordered_json;

// Of rest/NAME.json: the body, in the order of the recording.
OrderedJson recordedBody(const std::string& name);
// The events of a recorded watch, in their order.
std::vector<OrderedJson> recordedEvents(const std::string& name);
// Those events as they are sent: one a line.
std::string recordedWatch(const std::string& name);

// Calls push(piece) with the text in pieces of that size; stops when it fails, and answers with that.
template <class Stream>
auto pushInPieces(Stream& stream, std::string_view text, size_t size) {
  auto done = stream.push({});
  for (size_t i = 0; i < text.size() && done; i += size) done = stream.push(text.substr(i, size));
  return done;
}

// Answers by target, in pieces of 100 bytes; 404 to anything that it was not given.
class RecordedServer : public client::ApiServer {
 public:
  struct Answer {
    int status = 200;
    std::string body;
    bool cutOff = false;  // after that body
  };
  std::map<std::string, Answer> answers;
  std::vector<std::string> asked;

  void answer(const std::string& target, const std::string& recording) {
    answers[target] = {200, recordedBody(recording).dump()};
  }
  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override;
  void stop() override {}
};

}  // namespace lastout::testing
