#include "net/sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace lastout::net {
namespace {

TEST(JoinHostPort, PutsIPv6AddressesAloneInBrackets) {
  EXPECT_EQ(joinHostPort("localhost", 9090), "localhost:9090");
  EXPECT_EQ(joinHostPort("10.1.2.3", 443), "10.1.2.3:443");
  EXPECT_EQ(joinHostPort("::1", 443), "[::1]:443");
  EXPECT_EQ(joinHostPort("fd00::a", "6443"), "[fd00::a]:6443");
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
