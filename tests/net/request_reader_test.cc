// Requests, cut into pieces in every way.
#include "net/request_reader.h"

#include <gtest/gtest.h>

namespace lastout::net {
namespace {

using State = RequestReader::State;

const std::string kRequest =
    "POST /validate?timeout=5s HTTP/1.1\r\nHost: lastout\r\nContent-Type: application/json\r\n"
    "Accept: application/json, */*\r\nAuthorization: Bearer x\r\nContent-Length: 5\r\n\r\n{} \n ";

// The states but for those that only ask for more.
std::vector<State> feed(RequestReader& reader, std::string& input, const std::vector<std::string>& pieces) {
  std::vector<State> states;
  for (const std::string& piece : pieces) {
    input += piece;
    while (true) {
      const State state = reader.feed(input);
      if (state == State::Header || state == State::Body) break;
      states.push_back(state);
      if (state != State::HeaderRead) return states;
    }
  }
  return states;
}

void expectWhole(RequestReader& reader) {
  const HttpRequest& request = reader.request();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/validate");
  EXPECT_EQ(request.query, "timeout=5s");
  EXPECT_EQ(request.contentType, "application/json");
  EXPECT_EQ(request.accept, "application/json, */*");
  EXPECT_EQ(request.authorization, "Bearer x");
  EXPECT_EQ(request.body, "{} \n ");
  EXPECT_TRUE(reader.keepAlive());
  EXPECT_TRUE(reader.hasLength());
}

TEST(RequestReader, ReadsTheSameHoweverItIsCut) {
  for (size_t cut = 0; cut < kRequest.size(); ++cut) {
    RequestReader reader({});
    std::string input;
    const auto states = feed(reader, input, {kRequest.substr(0, cut), kRequest.substr(cut) + "GET"});
    ASSERT_EQ(states, (std::vector<State>{State::HeaderRead, State::Whole})) << cut;
    expectWhole(reader);
    EXPECT_EQ(input, "GET");
  }
}

TEST(RequestReader, ReadsByteAfterByte) {
  RequestReader reader({});
  std::vector<std::string> pieces;
  for (const char character : kRequest) pieces.emplace_back(1, character);
  std::string input;
  EXPECT_EQ(feed(reader, input, pieces), (std::vector<State>{State::HeaderRead, State::Whole}));
  expectWhole(reader);
}

TEST(RequestReader, BoundsWhatABodySaysOfItself) {
  RequestReader reader({.header = 1000, .body = 4});
  std::string input;
  EXPECT_EQ(feed(reader, input, {kRequest}), (std::vector<State>{State::Bad}));
  EXPECT_EQ(reader.status(), 413);
}

TEST(ResponseText, IsAnHttpAnswer) {
  EXPECT_EQ(
      responseText({429, "text/plain", "later", {{"Retry-After", "1"}}}, true),
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: 1\r\nContent-Length: 5\r\n"
      "Connection: close\r\n\r\nlater");
  EXPECT_EQ(responseText({200, "", "ok", {}}, false, false), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
}

}  // namespace
}  // namespace lastout::net
