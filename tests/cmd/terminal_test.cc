// The progress bar, by a clock that the test turns.
#include "cmd/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

namespace lastout::cmd {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

struct Watched {
  std::chrono::steady_clock::time_point now;
  std::ostringstream out;
  Progress progress;

  explicit Watched(const Terminal& terminal) : progress(out, terminal, [this] { return now; }) {}

  // What is drawn when that much time has passed.
  std::string after(milliseconds time, uint64_t done, uint64_t total, std::string_view note = {}) {
    now += time;
    out.str("");
    progress.update(done, total, "states", note);
    return out.str();
  }
};

constexpr Terminal kTerminal = {true, true, 80};

TEST(Progress, StaysSilentForASecond) {
  Watched watched(kTerminal);
  EXPECT_EQ(watched.after(milliseconds(0), 0, 10), "");
  EXPECT_EQ(watched.after(milliseconds(999), 5, 10), "");
  EXPECT_EQ(watched.after(milliseconds(1), 6, 12), "\r\x1b[K[############............] 6/12 states  1 s");
}

TEST(Progress, DrawsAtMostTenTimesASecond) {
  Watched watched(kTerminal);
  EXPECT_NE(watched.after(milliseconds(1000), 1, 10), "");
  EXPECT_EQ(watched.after(milliseconds(99), 2, 10), "");
  EXPECT_NE(watched.after(milliseconds(1), 3, 10), "");
}

TEST(Progress, ShowsACountWhereTheTotalIsNotKnown) {
  Watched watched(kTerminal);
  EXPECT_EQ(watched.after(milliseconds(61000), 1234567, 0, "12 in memory"),
            "\r\x1b[K1,234,567 states  61 s  12 in memory");
}

TEST(Progress, NeverFillsTheLine) {
  Watched watched({true, false, 20});
  const std::string drawn = watched.after(milliseconds(2000), 100, 100, "a long note");
  EXPECT_EQ(drawn.substr(4).size(), 19u);
}

TEST(Progress, SurvivesMoreThanAll) {
  Watched watched(kTerminal);
  EXPECT_THAT(watched.after(milliseconds(2000), 11, 10), HasSubstr("[########################] 11/10"));
}

TEST(Progress, IsForPeopleOnly) {
  Watched watched({false, false, 80});
  EXPECT_EQ(watched.after(milliseconds(5000), 5, 10), "");
  watched.progress.clear();
  EXPECT_EQ(watched.out.str(), "");
}

TEST(Progress, GoesAwayOnce) {
  Watched watched(kTerminal);
  watched.after(milliseconds(1000), 5, 10);
  watched.out.str("");
  watched.progress.clear();
  watched.progress.clear();
  EXPECT_EQ(watched.out.str(), "\r\x1b[K");
}

TEST(Terminal, APipeIsNone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Terminal terminal = terminalOf(ends[1], {{"TERM", "xterm"}});
  EXPECT_FALSE(terminal.interactive);
  EXPECT_FALSE(terminal.color);
  EXPECT_EQ(terminal.width, 80u);
}

TEST(Numbers, HaveSeparators) {
  EXPECT_EQ(withSeparators(0), "0");
  EXPECT_EQ(withSeparators(999), "999");
  EXPECT_EQ(withSeparators(1000), "1,000");
  EXPECT_EQ(withSeparators(18446744073709551615U), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace lastout::cmd
