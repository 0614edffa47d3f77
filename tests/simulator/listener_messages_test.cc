// How requests and answers are carried over a real connection: where one ends and the next begins, and how
// much of it is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/wire.h"

namespace lastout::simulator {
namespace {

using lastout::testing::WireAnswer;
using lastout::testing::WireConnection;
using lastout::testing::WireRequest;
using lastout::testing::WireTest;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

Json labelled(const std::string& name, const Json& labels) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"labels", labels}}}};
}

ListenerOptions dropsAfter(int seconds) {
  ListenerOptions options;
  options.slowestSeconds = seconds;
  return options;
}

class ListenerMessages : public WireTest {
 public:
  explicit ListenerMessages(int seconds = 30) : WireTest(dropsAfter(seconds)) {
    create(kConfigMaps, labelled("there", {{"app", "web"}}));
  }
  WireAnswer sendAndRead(const std::string& text) {
    WireConnection connection(port, &admin);
    connection.send(text);
    return connection.readToEnd();
  }
  const std::string there = kConfigMaps + "/there";
};

class ImpatientListenerMessages : public ListenerMessages {
 public:
  ImpatientListenerMessages() : ListenerMessages(1) {}
};

size_t answersIn(const WireAnswer& answer) {
  const std::string all = answer.head + answer.body;
  size_t count = 0;
  for (size_t at = all.find("HTTP/1.1 "); at != std::string::npos; at = all.find("HTTP/1.1 ", at + 1))
    ++count;
  return count;
}

TEST_F(ListenerMessages, DeleteWhatAWholeSelectorSelects) {
  create(kConfigMaps, labelled("kept", {{"web", "yes"}}));
  expectStatus(200, {"DELETE", kConfigMaps + "?labelSelector=app=web", "", {}});
  expectStatus(404, {"GET", there, "", {}});
  expectStatus(200, {"GET", kConfigMaps + "/kept", "", {}});
  expectStatus(400, {"GET", kConfigMaps + "?pretty=%zz", "", {}});
}

TEST_F(ListenerMessages, AreWholeWhateverRangesAreWanted) {
  for (const std::string range : {"bytes=0-9", "bytes=0-0,1-1,2-2", "bytes=99999-", "nonsense"}) {
    const WireAnswer answer = ask({"GET", there, "", {"Range: " + range}});
    EXPECT_EQ(answer.status, 200) << range;
    EXPECT_EQ(answer.json()["metadata"]["name"], "there");
  }
}

TEST_F(ListenerMessages, AreNotCompressed) {
  const WireAnswer answer = ask({"GET", there, "", {"Accept-Encoding: br, gzip, deflate"}});
  EXPECT_THAT(answer.head, Not(HasSubstr("Content-Encoding")));
  EXPECT_EQ(answer.json()["metadata"]["name"], "there");
}

TEST_F(ListenerMessages, HaveHeadersOfAnySizeThatIsReasonable) {
  std::string head = "GET " + there + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n";
  const std::string header = "X: " + std::string(8000, 'x') + "\r\n";
  for (int i = 0; i < 100; ++i) head += header;
  EXPECT_EQ(sendAndRead(head + "\r\n").status, 200);
  for (int i = 0; i < 100; ++i) head += header;
  EXPECT_EQ(sendAndRead(head).status, 431);
}

TEST_F(ImpatientListenerMessages, MustComeInTimeAsAWhole) {
  const std::string post = "POST " + kConfigMaps + " HTTP/1.1\r\nHost: test\r\n";
  for (const std::string& begin : {post + "X: ", post + "Content-Length: 100000\r\n\r\n"}) {
    WireConnection slow(port, &admin);
    slow.send("GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n");
    slow.readUntil("\r\n\r\nok");
    slow.send(begin);
    int bytes = 0;
    while (bytes < 100 && slow.send(" ") && !slow.hasSomethingToRead(100)) ++bytes;
    EXPECT_LT(bytes, 100) << begin;
  }
}

TEST_F(ListenerMessages, MayComeInPieces) {
  WireConnection connection(port, &admin);
  for (const char byte : toText(WireRequest{"GET", there, "", {}})) connection.send(std::string(1, byte));
  EXPECT_EQ(connection.readToEnd().status, 200);
}

TEST_F(ListenerMessages, AreNotHiddenInTheBodyOfAnother) {
  const std::string hidden = "DELETE " + there + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
  for (const std::string method : {"GET", "HEAD", "OPTIONS"}) {
    for (const size_t filler : {0, 4096}) {
      const std::string body = std::string(filler, 'A') + hidden;
      const WireAnswer answer = sendAndRead(method + " /readyz HTTP/1.1\r\nHost: test\r\nContent-Length: " +
                                            std::to_string(body.size()) + "\r\n\r\n" + body);
      EXPECT_EQ(answersIn(answer), 1) << method;
      EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
    }
  }
  expectStatus(200, {"GET", there, "", {}});
}

TEST_F(ListenerMessages, HaveOneEnd) {
  for (const std::string headers :
       {"Host: test\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Host: test\r\nContent-Length: 2\r\nContent-Length: 3\r\n", "Host: test\r\nContent-Length: 2,2\r\n",
        "Host: test\r\nTransfer-Encoding: gzip, chunked\r\n", "Content-Length: 2\r\n"}) {
    const WireAnswer answer = sendAndRead("POST " + kConfigMaps + " HTTP/1.1\r\n" + headers + "\r\n{}");
    EXPECT_EQ(answer.status, 400) << headers;
    EXPECT_EQ(answersIn(answer), 1) << headers;
    EXPECT_EQ(answer.json()["reason"], "BadRequest") << headers;
  }
}

TEST_F(ListenerMessages, MayBeSentBeforeTheAnswerToTheLast) {
  create(kConfigMaps, labelled("other", {}));
  const std::string host = " HTTP/1.1\r\nHost: test\r\n";
  const std::string chunks = "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
  const WireAnswer answer = sendAndRead("GET " + there + host + "\r\n" +  //
                                        "PATCH " + there + host +         //
                                        "Content-Type: application/merge-patch+json\r\nContent-Length: "
                                        "22\r\n\r\n{\"data\":{\"from\":\"us\"}}" +  //
                                        "DELETE " +
                                        kConfigMaps + "/other" + host + chunks +  //
                                        "POST " + kConfigMaps + host + chunks +   //
                                        "GET " + there + host + "Connection: close\r\n\r\n");
  EXPECT_EQ(answersIn(answer), 5);
  EXPECT_THAT(answer.body.substr(answer.body.rfind("HTTP/1.1")), HasSubstr(R"("from":"us")"));
  expectStatus(404, {"GET", kConfigMaps + "/other", "", {}});
}

TEST_F(ListenerMessages, ThatAreTooLargeAreRefusedUnread) {
  const std::string head = "POST " + kConfigMaps + " HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999\r\n";
  for (const std::string expect : {"", "Expect: 100-continue\r\n"}) {
    const WireAnswer answer = sendAndRead(head + expect + "\r\n");
    EXPECT_EQ(answer.status, 413) << expect;
    EXPECT_EQ(answer.json()["reason"], "RequestEntityTooLarge");
  }
}

TEST_F(ListenerMessages, AreAwaitedWhenTheyAreOfferedFirst) {
  const std::string body = labelled("offered", {}).dump();
  WireConnection connection(port, &admin);
  connection.send(
      "POST " + kConfigMaps + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nExpect: 100-continue\r\n" +
      "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(connection.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  connection.send(body);
  EXPECT_EQ(connection.readToEnd().status, 201);
}

}  // namespace
}  // namespace lastout::simulator
