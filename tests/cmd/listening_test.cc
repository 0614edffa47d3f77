// Addresses to listen at, as the command line has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::HasSubstr;

TEST(Listening, TakesLocalhost) {
  const std::string file = (std::filesystem::temp_directory_path() / "lastout-listening").string() +
                           std::to_string(getpid()) + ".config";
  testing::Running up({"up", "--listen", "localhost:0", "--kubeconfig-out", file}, "Ctrl-C ends it");
  EXPECT_THAT(up.greeting(), HasSubstr("Ctrl-C ends it"));
  EXPECT_EQ(up.interrupt().exitCode, 0);
  std::filesystem::remove(file);
}

TEST(Listening, SaysThatThePortIsMissing) {
  for (const char* command : {"serve", "up"}) {
    const testing::Ran ran = testing::lastout({command, "--listen", "127.0.0.1"});
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_THAT(ran.err,
                HasSubstr("--listen: \"127.0.0.1\" is no address with a port; write it as 127.0.0.1:PORT"));
  }
}

}  // namespace
}  // namespace lastout
