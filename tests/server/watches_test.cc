// What watches say of themselves.
#include "server/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/server/server_fixture.h"

namespace lastout::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WatchesTest : public lastout::testing::ServerTest {};

// It is asked for as long as that lasts, and said once.
TEST_F(WatchesTest, SayOnceThatNobodyAnswers) {
  listener.reset();
  std::vector<std::string> lines;  // of one thread: nothing is followed
  std::atomic<int> looks{0};
  WatchesOptions options;
  options.random = [] { return [] { return 0.5; }; };
  options.watcher.reflector.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
  options.log = [&lines](Level /*level*/, const std::string& line) { lines.push_back(line); };
  Watches unanswered(access, view, std::move(options));
  unanswered.observe([&looks] { ++looks; });
  unanswered.start();
  waitUntil([&looks] { return looks > 2; });
  unanswered.stop();
  EXPECT_THAT(lines, ElementsAre(HasSubstr("cannot find out what the API server serves: ")));
}

}  // namespace
}  // namespace lastout::server
