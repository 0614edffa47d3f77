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
  EXPECT_EQ(reader.refusal().status, 413);
}

// In chunks, with an extension and a trailer, and the next request behind it.
const std::string kInChunks =
    "POST / HTTP/1.1\r\nHost: lastout\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3;name=\"value\"\r\n{\r\n\r\n01\r\n}\r\n0\r\nX-Sum: 1\r\n\r\n";

TEST(RequestReader, ReadsChunksHoweverTheyAreCut) {
  for (size_t cut = 0; cut < kInChunks.size(); ++cut) {
    RequestReader reader({.body = 4, .takesChunks = true});
    std::string input;
    const auto states = feed(reader, input, {kInChunks.substr(0, cut), kInChunks.substr(cut) + "GET"});
    ASSERT_EQ(states, (std::vector<State>{State::HeaderRead, State::Whole})) << cut;
    EXPECT_EQ(reader.request().body, "{\r\n}");
    EXPECT_TRUE(reader.hasLength());
    EXPECT_EQ(input, "GET");
  }
}

int refusalOfChunks(const std::string& chunks) {
  RequestReader reader({.header = 100, .body = 100, .takesChunks = true});
  std::string input;
  feed(reader, input, {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", chunks});
  return reader.refusal().why.empty() ? 0 : reader.refusal().status;
}

TEST(RequestReader, RefusesChunksThatCanBeReadInTwoWays) {
  EXPECT_EQ(refusalOfChunks("0\r\n\r\n"), 0);
  for (const std::string chunks :
       {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\na\r\n", "1\na\r\n0\r\n\r\n", "1\r\nab\r\n",
        "1\r\na\n\r\n", "fffffffffffffffff\r\n", "0\r\nX: a\rb\r\n\r\n", ";a\r\n"})
    EXPECT_EQ(refusalOfChunks(chunks), 400) << chunks;
}

// A line as long as it may be, whose end comes in two halves.
TEST(RequestReader, TakesALineBetweenChunksThatIsAsLongAsItMayBe) {
  const std::string line = "1;" + std::string(98, 'x');
  RequestReader reader({.header = 100, .body = 100, .takesChunks = true});
  std::string input;
  const std::vector<RequestReader::State> states = feed(
      reader, input,
      {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", line + "\r", "\na\r\n0\r\n\r\n"});
  EXPECT_EQ(states.back(), RequestReader::State::Whole);
}

TEST(RequestReader, BoundsChunksAndWhatIsAroundThem) {
  EXPECT_EQ(refusalOfChunks("65\r\n"), 413) << "101 bytes";
  EXPECT_EQ(refusalOfChunks("64\r\n" + std::string(100, 'a') + "\r\n1\r\n"), 413);
  EXPECT_EQ(refusalOfChunks("ffffffffffffffff\r\n"), 413);
  EXPECT_EQ(refusalOfChunks("1;" + std::string(2000, 'x')), 413);
  EXPECT_EQ(refusalOfChunks("1;" + std::string(100, 'x')), 413) << "longer than a header may be";
  std::string trailers = "0\r\n";
  for (int i = 0; i < 100; ++i) trailers += "X: 1\r\n";
  EXPECT_EQ(refusalOfChunks(trailers), 413);
}

class NoStream : public HttpStream {
 public:
  std::optional<std::string> next(std::chrono::milliseconds /*patience*/) override { return std::nullopt; }
  void end() override {}
};

TEST(ChunkText, SaysItsSize) {
  EXPECT_EQ(chunkText("0123456789abcdef"), "10\r\n0123456789abcdef\r\n");
  EXPECT_EQ(chunkText(""), "0\r\n\r\n");
}

TEST(ResponseText, IsAnHttpAnswer) {
  EXPECT_EQ(
      responseText({429, "text/plain", "later", {{"Retry-After", "1"}}, nullptr}, true),
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: 1\r\nContent-Length: 5\r\n"
      "Connection: close\r\n\r\nlater");
  const auto stream = std::make_shared<NoStream>();
  EXPECT_EQ(responseText({200, "", "", {}, stream}, false),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(responseText({200, "", "", {}, stream}, true, true, false),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(responseText({200, "", "ok", {}, nullptr}, false, false),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
}

}  // namespace
}  // namespace lastout::net
