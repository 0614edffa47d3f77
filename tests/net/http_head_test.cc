// Heads of requests: where the body ends, and what is refused because that cannot be told.
#include "net/http_head.h"

#include <gtest/gtest.h>

namespace lastout::net {
namespace {

constexpr RequestLimits kChunksToo{.body = 1000, .takesChunks = true};
constexpr RequestLimits kLengthsOnly{.target = 10, .body = 1000};

HttpHead read(const std::string& requestLine, const std::string& headers) {
  return parseHttpHead(requestLine + "\r\nHost: a\r\n" + headers + "\r\n", kChunksToo).value();
}

int refusalOf(const std::string& text, const RequestLimits& limits = kChunksToo) {
  const auto head = parseHttpHead(text, limits);
  return head ? 0 : head.error().status;
}

TEST(HttpHead, KeepsHeadersAsTheyCame) {
  const HttpHead head = read("GET /a?b HTTP/1.1", "X-Y:\t %41,\xff \r\nEmpty:\r\n");
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/a?b");
  EXPECT_EQ(head.headers, (HttpHeaders{{"Host", "a"}, {"X-Y", "%41,\xff"}, {"Empty", ""}}));
  EXPECT_FALSE(head.isChunked || head.endsConnection || head.isOld || head.expectsContinue ||
               head.contentLength);
}

TEST(HttpHead, KnowsWhereTheBodyEnds) {
  EXPECT_EQ(read("POST / HTTP/1.1", "content-length: 1000\r\n").contentLength, 1000U);
  EXPECT_EQ(read("POST / HTTP/1.1", "Content-Length: 7\r\nContent-Length: 7\r\n").contentLength, 7U);
  EXPECT_TRUE(read("POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\n").isChunked);
}

TEST(HttpHead, KnowsWhenItsConnectionEnds) {
  EXPECT_TRUE(read("GET / HTTP/1.1", "Connection: TE, Close\r\n").endsConnection);
  EXPECT_TRUE(read("GET / HTTP/1.1", "Content-Length: 1\r\n").endsConnection);
  EXPECT_TRUE(read("OPTIONS / HTTP/1.1", "Transfer-Encoding: chunked\r\n").endsConnection);
  EXPECT_TRUE(parseHttpHead("GET / HTTP/1.0\r\n\r\n", kChunksToo).value().endsConnection);
  EXPECT_FALSE(read("GET / HTTP/1.1", "Connection: keep-alive\r\nContent-Length: 0\r\n").endsConnection);
  EXPECT_FALSE(read("DELETE / HTTP/1.1", "Content-Length: 1\r\n").endsConnection);
}

TEST(HttpHead, RefusesWhatCanBeReadInTwoWays) {
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

TEST(HttpHead, RefusesABodyThatIsTooLongBeforeItIsRead) {
  EXPECT_EQ(refusalOf("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), 413);
}

TEST(HttpHead, RefusesWhatIsNoRequestLine) {
  for (const std::string line :
       {"", "GET", "GET /", "GET  HTTP/1.1", "GET / HTTP/1.2", "GET / HTTP/2.0", "GET / http/1.1",
        "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET /a b HTTP/1.1", "G\tT / HTTP/1.1", "(GET) / HTTP/1.1",
        "GET /\x7f HTTP/1.1", "GET /\t HTTP/1.1"})
    EXPECT_EQ(refusalOf(line + "\r\nHost: a\r\n\r\n"), 400) << line;
  EXPECT_EQ(read("get * HTTP/1.1", "").method, "get");
  EXPECT_EQ(read("GET http://a/\xff HTTP/1.1", "").target, "http://a/\xff");
}

TEST(HttpHead, BoundsThePath) {
  EXPECT_EQ(refusalOf("GET /123456789 HTTP/1.1\r\nHost: a\r\n\r\n", kLengthsOnly), 0);
  EXPECT_EQ(refusalOf("GET /1234567890 HTTP/1.1\r\nHost: a\r\n\r\n", kLengthsOnly), 414);
}

TEST(HttpHead, WantsALengthWhereChunksAreNotTaken) {
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ";
  for (const std::string encoding : {"chunked", "gzip", "identity"})
    EXPECT_EQ(refusalOf(post + encoding + "\r\n\r\n", kLengthsOnly), 411) << encoding;
}

TEST(HttpHead, KnowsNoEncodingOfContents) {
  EXPECT_EQ(refusalOf("PUT / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n\r\n"), 415);
  EXPECT_EQ(refusalOf("PUT / HTTP/1.1\r\nHost: a\r\nContent-Encoding: identity\r\n\r\n"), 0);
}

TEST(HttpRequest, FindsItsHeadersByTheirNamesInLowerCase) {
  HttpRequest request;
  request.headers = {{"Impersonate-User", "jane"}, {"impersonate-user", "other"}};
  EXPECT_EQ(request.header("impersonate-user"), "jane");
  EXPECT_EQ(request.header("absent"), "");
}

}  // namespace
}  // namespace lastout::net
