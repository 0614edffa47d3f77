// Loop: each call for another round is followed by one that begins after it, and stop() waits for the last.
#include "server/runtime/loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kNoPause{0};

TEST(Loop, NoneBeforeSomethingMayHaveChanged) {
  std::atomic<int> count{0};
  {
    Loop loop([&] { ++count; }, kNoPause);
    loop.start();
  }
  EXPECT_EQ(count, 0);
}

TEST(Loop, WhatChangesDuringOneNeedsAnother) {
  std::counting_semaphore<> begun(0), goesOn(0);
  Loop loop(
      [&] {
        begun.release();
        goesOn.acquire();
      },
      kNoPause);
  loop.start();
  loop.wake();
  begun.acquire();
  loop.wake();  // what the first has looked at may be old by now
  goesOn.release();
  begun.acquire();
  goesOn.release();
  loop.stop();
}

TEST(Loop, AWakeBeforeTheStartIsNotLost) {
  std::promise<void> begun;
  Loop loop([&] { begun.set_value(); }, std::chrono::hours(1));
  loop.wake();
  loop.start();
  begun.get_future().wait();
}

TEST(Loop, OneBeginsByItselfWhenItsTimeHasCome) {
  std::counting_semaphore<> begun(0);
  Loop loop([&] { begun.release(); }, kNoPause);
  loop.start();
  const auto when = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  loop.wakeAt(when + std::chrono::hours(1));
  loop.wakeAt(when);
  begun.acquire();
  EXPECT_GE(std::chrono::steady_clock::now(), when);
}

TEST(Loop, StopEndsWhatARoundWaitsFor) {
  std::promise<void> begun, ended;
  bool wasStopping = false;
  Loop loop(
      [&] {
        begun.set_value();
        ended.get_future().wait();
        wasStopping = loop.isStopping();
        loop.patience().pause(std::chrono::hours(1));
      },
      std::chrono::hours(1));
  loop.start();
  loop.wake();
  begun.get_future().wait();
  EXPECT_FALSE(loop.isStopping());
  loop.stop([&] { ended.set_value(); });
  EXPECT_TRUE(wasStopping);
}

// Before, too: whoever waits looks at what may have changed first.
TEST(Bell, WhatHasRungBeforeIsNotLost) {
  Bell bell;
  const auto never = std::chrono::steady_clock::now() + std::chrono::hours(1);
  bell.ring();
  bell.waitUntil(never);
  std::future<void> heard = std::async(std::launch::async, [&] { bell.waitUntil(never); });
  bell.ring();
  heard.wait();
}

TEST(Bell, OnlyOneLookFollowsFromARing) {
  Bell bell;
  bell.ring();
  bell.waitUntil(std::chrono::steady_clock::now() + std::chrono::hours(1));
  const auto when = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  bell.waitUntil(when);
  EXPECT_GE(std::chrono::steady_clock::now(), when);
}

}  // namespace
}  // namespace lastout::server
