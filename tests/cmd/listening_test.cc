// Addresses to listen at, as the command line has them, and the kubeconfig that names one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string kubeconfigFile() {
  return (std::filesystem::temp_directory_path() / "lastout-listening").string() + std::to_string(getpid()) +
         ".config";
}

TEST(Listening, LeavesTheKubeconfigOfAClusterThatRuns) {
  const std::string file = kubeconfigFile();
  const std::vector<std::string> arguments{"up", "--listen", "127.0.0.1:0", "--kubeconfig-out", file};
  testing::Running first(arguments, "Ctrl-C ends it");
  const testing::Ran second = testing::lastout(arguments);
  EXPECT_EQ(second.exitCode, 2);
  EXPECT_THAT(second.err, HasSubstr(file + " is of another lastout up, which runs: choose another name"));
  kill(first.process(), SIGKILL);
  first.interrupt();
  EXPECT_TRUE(std::filesystem::exists(file));
  testing::Running third(arguments, "Ctrl-C ends it");
  EXPECT_EQ(third.interrupt().exitCode, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Listening, TakesLocalhost) {
  const std::string file = kubeconfigFile();
  testing::Running up({"up", "--listen", "localhost:0", "--kubeconfig-out", file}, "Ctrl-C ends it");
  EXPECT_THAT(up.greeting(), HasSubstr("Ctrl-C ends it"));
  EXPECT_EQ(up.interrupt().exitCode, 0);
  std::filesystem::remove(file);
}

// A deletion of what has it would hang, and it is not a scenario that says so.
TEST(Listening, TheGreetingNamesFinalizersThatNobodyRemoves) {
  const std::string file = kubeconfigFile();
  const auto greetingWith = [&](const std::string& loaded) {
    const testing::Running up({"up", "--listen", "127.0.0.1:0", "--kubeconfig-out", file, "--load", loaded},
                              "Ctrl-C ends it");
    return up.greeting();
  };
  EXPECT_THAT(greetingWith("scenarios/manifests/operator.yaml"),
              HasSubstr("No controller here removes finalizer example.com/cleanup of widgets.example.com: "));
  EXPECT_THAT(greetingWith("scenarios/story-one-work.yaml"), Not(HasSubstr("No controller here")));
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
