// What whoever can connect makes of the log: not more than a line for each peer, cause and interval.
#include "net/log_limiter.h"

#include <gtest/gtest.h>

namespace lastout::net {
namespace {

using namespace std::chrono_literals;

class LogLimiterTest : public ::testing::Test {
 public:
  // The line that the event makes; empty: none.
  std::string line(const std::string& peer, const std::string& message, const std::string& cause = {}) {
    const auto admitted = limiter.admit({peer, 404, message, cause}, now);
    return admitted ? toString(*admitted) : "";
  }
  LogLimiter::Time now;
  LogLimiter limiter{LogLimits{60s, 3}};
};

TEST_F(LogLimiterTest, TellsOnceInAnInterval) {
  EXPECT_EQ(line("10.0.0.1:1000", "nothing here"), "10.0.0.1:1000: nothing here, answered 404");
  for (int port = 2000; port < 2037; ++port)
    EXPECT_EQ(line("10.0.0.1:" + std::to_string(port), "nothing here"), "");
  now += 59s;
  EXPECT_EQ(line("10.0.0.1:1001", "nothing here"), "");
  now += 1s;
  EXPECT_EQ(line("10.0.0.1:1002", "nothing here"),
            "10.0.0.1:1002: nothing here (38 more like it since the last line), answered 404");
  now += 60s;
  EXPECT_EQ(line("10.0.0.1:1003", "nothing here"), "10.0.0.1:1003: nothing here, answered 404");
}

TEST_F(LogLimiterTest, TellsPeersAndCausesApart) {
  EXPECT_NE(line("10.0.0.1:1", "nothing here"), "");
  EXPECT_NE(line("[fd00::1]:1", "nothing here"), "");
  EXPECT_NE(line("10.0.0.1:1", "too long"), "");
  EXPECT_EQ(line("[fd00::1]:2", "nothing here"), "");
  EXPECT_EQ(line("10.0.0.1:2", "too long"), "");
}

TEST_F(LogLimiterTest, WhatAClientSaysIsNoCause) {
  EXPECT_NE(line("10.0.0.1:1", "no JSON at byte 1", "refused"), "");
  EXPECT_EQ(line("10.0.0.1:1", "no JSON at byte 2", "refused"), "");
}

TEST_F(LogLimiterTest, ManyPeersShareALine) {
  int lines = 0;
  for (int peer = 0; peer < 10'000; ++peer)
    lines += line("10.1." + std::to_string(peer) + ":1", "nothing here").empty() ? 0 : 1;
  EXPECT_EQ(lines, 4);  // three peers, and one for the others
  // After their interval others have their places, and what was kept back is told.
  now += 61s;
  EXPECT_EQ(line("10.2.0.1:1", "nothing here"), "10.2.0.1:1: nothing here, answered 404");
  EXPECT_NE(line("10.2.0.2:1", "nothing here"), "");
  EXPECT_NE(line("10.2.0.3:1", "nothing here"), "");
  EXPECT_EQ(line("10.2.0.4:1", "nothing here"),
            "10.2.0.4:1: nothing here (9996 more of many peers since the last line), answered 404");
}

TEST_F(LogLimiterTest, StandsBeforeALog) {
  std::vector<std::string> lines;
  const HttpLog log = limited([&](const HttpEvent& event) { lines.push_back(toString(event)); },
                              LogLimits{60s, 3}, [this] { return now; });
  for (int i = 0; i < 100; ++i) log({"10.0.0.1:" + std::to_string(i), 0, "no TLS handshake", {}});
  EXPECT_EQ(lines, std::vector<std::string>{"10.0.0.1:0: no TLS handshake"});
}

}  // namespace
}  // namespace lastout::net
