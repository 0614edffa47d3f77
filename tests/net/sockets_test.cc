#include "net/sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace lastout::net {
namespace {

TEST(JoinHostPort, PutsIPv6AddressesAloneInBrackets) {
  EXPECT_EQ(joinHostPort("localhost", 9090), "localhost:9090");
  EXPECT_EQ(joinHostPort("10.1.2.3", 443), "10.1.2.3:443");
  EXPECT_EQ(joinHostPort("::1", 443), "[::1]:443");
  EXPECT_EQ(joinHostPort("fd00::a", "6443"), "[fd00::a]:6443");
}

// Returns what parseHostPort() reads, as "HOST|PORT", or its error.
std::string readAs(std::string_view text, uint16_t lowestPort = 1) {
  const auto parsed = parseHostPort(text, lowestPort);
  if (!parsed) return parsed.error();
  return parsed->host + "|" + (parsed->port ? std::to_string(*parsed->port) : "none");
}

TEST(ParseHostPort, ReadsWhatIsWritten) {
  const std::string noPort = "its port is no number from 1 to 65535";
  const std::string noName = "its host is no host's name";
  const std::string noIpv6 = "what stands in brackets is no IPv6 address";
  const std::string bare = "an IPv6 address has to stand in brackets";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"localhost:9090", "localhost|9090"},
      {"10.1.2.3:443", "10.1.2.3|443"},
      {"my_host.example.org.", "my_host.example.org.|none"},
      {"[::1]:65535", "::1|65535"},
      {"[FD00::a]", "FD00::a|none"},
      {"[::ffff:10.0.0.1]:1", "::ffff:10.0.0.1|1"},
      {"", "it names no host"},
      {":443", "it names no host"},
      {"h:", noPort},
      {"h:0", noPort},
      {"h:65536", noPort},
      {"h:+1", noPort},
      {"h:-1", noPort},
      {"h: 1", noPort},
      {"h:1x", noPort},
      {"h:1:2", noPort},
      {"[::1]:", noPort},
      {"::1", bare},
      {"::1:443", bare},
      {"fd00::a", bare},
      {"[::1", "a \"[\" is not closed"},
      {"[::1]443", "after the \"]\" comes the port"},
      {"[]", noIpv6},
      {"[host]:1", noIpv6},
      {"[10.0.0.1]:1", noIpv6},
      {"[::1%eth0]:1", noIpv6},
      {"a b:1", noName},
      {"a/b:1", noName},
      {"user@h:1", noName},
      {"h\r\n:1", noName},
      {"h\xc3\xa9:1", noName},
  };
  for (const auto& [text, read] : cases) EXPECT_EQ(readAs(text), read) << text;
}

TEST(ParseHostPort, ReadsPortZeroWhereItMeansAnyThatIsFree) {
  EXPECT_EQ(readAs("127.0.0.1:0", 0), "127.0.0.1|0");
  EXPECT_EQ(readAs("127.0.0.1:65536", 0), "its port is no number from 0 to 65535");
}

TEST(ParseHostPort, ReadsWhatJoinHostPortWrites) {
  for (const char* host : {"localhost", "10.1.2.3", "::1", "fd00::a"})
    EXPECT_EQ(readAs(joinHostPort(host, 6443)), std::string(host) + "|6443");
}

TEST(IgnoreBrokenPipes, MakesAWriteToAClosedEndAnError) {
  std::signal(SIGPIPE, SIG_DFL);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  ignoreBrokenPipes();
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

}  // namespace
}  // namespace lastout::net
