#include "simulator/virtual_clock.h"

#include <gtest/gtest.h>

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;

class VirtualClockTest : public ::testing::Test {
 public:
  void pass(milliseconds time) { real += time; }
  std::chrono::steady_clock::time_point real{};
  VirtualClock clock{1, [this] { return real; }};
};

TEST_F(VirtualClockTest, RunsWithRealTime) {
  EXPECT_EQ(clock.now(), milliseconds(0));
  pass(milliseconds(250));
  EXPECT_EQ(clock.now(), milliseconds(250));
}

TEST_F(VirtualClockTest, AnotherSpeedCountsFromNowOn) {
  pass(milliseconds(100));
  clock.setSpeed(100);
  pass(milliseconds(10));
  EXPECT_EQ(clock.now(), milliseconds(1100));
  EXPECT_EQ(clock.until(milliseconds(2100)), milliseconds(10));
  EXPECT_EQ(clock.until(milliseconds(5)), milliseconds(0)) << "past";
}

TEST_F(VirtualClockTest, StandsStillWhilePausedAndMovesOnByHand) {
  clock.pause();
  pass(milliseconds(100));
  EXPECT_EQ(clock.now(), milliseconds(0));
  EXPECT_EQ(clock.until(milliseconds(1)), std::nullopt);
  clock.advance(milliseconds(5000));
  EXPECT_EQ(clock.now(), milliseconds(5000));
  clock.resume();
  pass(milliseconds(1));
  EXPECT_EQ(clock.now(), milliseconds(5001));
}

}  // namespace
}  // namespace lastout::simulator
