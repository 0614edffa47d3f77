// Rounds: each call for another round is followed by one that begins after it, and stop() waits for the last.
#include "server/rounds.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kNoPause{0};

TEST(Rounds, NoneBeforeSomethingMayHaveChanged) {
  std::atomic<int> count{0};
  {
    Rounds rounds([&] { ++count; }, kNoPause);
    rounds.start();
  }
  EXPECT_EQ(count, 0);
}

TEST(Rounds, WhatChangesDuringOneNeedsAnother) {
  std::counting_semaphore<> begun(0), goesOn(0);
  Rounds rounds(
      [&] {
        begun.release();
        goesOn.acquire();
      },
      kNoPause);
  rounds.start();
  rounds.reconsider();
  begun.acquire();
  rounds.reconsider();  // what the first has looked at may be old by now
  goesOn.release();
  begun.acquire();
  goesOn.release();
  rounds.stop();
}

TEST(Rounds, ReconsideredBeforeTheStartIsNotLost) {
  std::promise<void> begun;
  Rounds rounds([&] { begun.set_value(); }, std::chrono::hours(1));
  rounds.reconsider();
  rounds.start();
  begun.get_future().wait();
}

TEST(Rounds, OneBeginsByItselfWhenItsTimeHasCome) {
  std::counting_semaphore<> begun(0);
  Rounds rounds([&] { begun.release(); }, kNoPause);
  rounds.start();
  const auto when = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  rounds.reconsiderAt(when + std::chrono::hours(1));
  rounds.reconsiderAt(when);
  begun.acquire();
  EXPECT_GE(std::chrono::steady_clock::now(), when);
}

TEST(Rounds, StopEndsWhatARoundWaitsFor) {
  std::promise<void> begun, ended;
  bool wasStopping = false;
  Rounds rounds(
      [&] {
        begun.set_value();
        ended.get_future().wait();
        wasStopping = rounds.isStopping();
        rounds.patience().pause(std::chrono::hours(1));
      },
      std::chrono::hours(1));
  rounds.start();
  rounds.reconsider();
  begun.get_future().wait();
  EXPECT_FALSE(rounds.isStopping());
  rounds.stop([&] { ended.set_value(); });
  EXPECT_TRUE(wasStopping);
}

}  // namespace
}  // namespace lastout::server
