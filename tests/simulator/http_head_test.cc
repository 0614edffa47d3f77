// Heads of requests: where the body ends, and what is refused because that cannot be told.
#include "simulator/http_head.h"

#include <gtest/gtest.h>

namespace lastout::simulator {
namespace {

constexpr size_t kMost = 1000;

RequestHead read(const std::string& requestLine, const std::string& headers) {
  return parseHead(requestLine + "\r\nHost: a\r\n" + headers + "\r\n", kMost).value();
}

int refusalOf(const std::string& text) {
  const auto head = parseHead(text, kMost);
  return head ? 0 : head.error().code;
}

TEST(ParseHead, KeepsHeadersAsTheyCame) {
  const RequestHead head = read("GET /a?b HTTP/1.1", "X-Y:\t %41,\xff \r\nEmpty:\r\n");
  EXPECT_EQ(head.requestLine, "GET /a?b HTTP/1.1");
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"Host", "a"}, {"X-Y", "%41,\xff"}, {"Empty", ""}};
  EXPECT_EQ(head.headers, headers);
  EXPECT_FALSE(head.chunked || head.endsConnection || head.contentLength > 0);
}

TEST(ParseHead, KnowsWhereTheBodyEnds) {
  EXPECT_EQ(read("POST / HTTP/1.1", "content-length: 1000\r\n").contentLength, 1000);
  EXPECT_EQ(read("POST / HTTP/1.1", "Content-Length: 7\r\nContent-Length: 7\r\n").contentLength, 7);
  EXPECT_TRUE(read("POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\n").chunked);
}

TEST(ParseHead, KnowsWhenItsConnectionEnds) {
  EXPECT_TRUE(read("GET / HTTP/1.1", "Connection: TE, Close\r\n").endsConnection);
  EXPECT_TRUE(read("GET / HTTP/1.1", "Content-Length: 1\r\n").endsConnection);
  EXPECT_TRUE(read("OPTIONS / HTTP/1.1", "Transfer-Encoding: chunked\r\n").endsConnection);
  EXPECT_TRUE(parseHead("GET / HTTP/1.0\r\n\r\n", kMost).value().endsConnection);
  EXPECT_FALSE(read("GET / HTTP/1.1", "Connection: keep-alive\r\nContent-Length: 0\r\n").endsConnection);
  EXPECT_FALSE(read("DELETE / HTTP/1.1", "Content-Length: 1\r\n").endsConnection);
}

TEST(ParseHead, RefusesWhatCanBeReadInTwoWays) {
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  for (const std::string headers :
       {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: +1\r\n", "Content-Length: 1, 1\r\n", "Content-Length:\r\n",
        "Content-Length: %31\r\n", "Content-Length: 99999999999999999999\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Host: b\r\n",
        " Content-Length: 1\r\n", "Content-Length : 1\r\n", "X: a\nContent-Length: 1\r\n", "X: a\rb\r\n",
        "X\r\n", ": a\r\n"})
    EXPECT_EQ(refusalOf(post + headers + "\r\n"), 400) << headers;
  EXPECT_EQ(refusalOf(post + std::string("X: \0\r\n\r\n", 8)), 400);
  EXPECT_EQ(refusalOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(refusalOf("\r\n\r\n"), 400);
  EXPECT_EQ(refusalOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(ParseHead, RefusesABodyThatIsTooLongBeforeItIsRead) {
  EXPECT_EQ(refusalOf("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), 413);
}

}  // namespace
}  // namespace lastout::simulator
