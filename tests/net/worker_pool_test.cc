// WorkerPool: how many threads do what was added, and what becomes of it at the end.
#include "net/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace lastout::net {
namespace {

TEST(WorkerPool, MakesThreadsWhileNoneIsFreeUpToItsMost) {
  WorkerPool pool({.threads = 1, .mostThreads = 3, .mostWaiting = 8});
  std::latch all(3);  // opens when three jobs are under way at the same time
  std::atomic<int> done{0};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(pool.add([&] {
      all.arrive_and_wait();
      ++done;
    }));
  pool.finish();
  EXPECT_EQ(done, 3);
}

// One thread is held: what comes after it waits, as much as may.
class HeldPool {
 public:
  explicit HeldPool(size_t mostWaiting)
      : pool_({.threads = 1, .mostThreads = 1, .mostWaiting = mostWaiting}) {
    std::promise<void> begun;
    pool_.add([this, &begun] {
      begun.set_value();
      release_.get_future().wait();
    });
    begun.get_future().wait();
  }
  WorkerPool& pool() { return pool_; }
  void release() { release_.set_value(); }

 private:
  std::promise<void> release_;
  WorkerPool pool_;
};

TEST(WorkerPool, RefusesWhatWouldWaitBeyondItsMost) {
  HeldPool held(2);
  EXPECT_TRUE(held.pool().add([] {}));
  EXPECT_TRUE(held.pool().add([] {}));
  EXPECT_FALSE(held.pool().add([] {}));
  held.release();
}

TEST(WorkerPool, FinishesWhatWasAddedAndTakesNothingMore) {
  HeldPool held(1);
  bool isDone = false;
  ASSERT_TRUE(held.pool().add([&isDone] { isDone = true; }));
  held.release();
  held.pool().finish();
  EXPECT_TRUE(isDone);
  EXPECT_FALSE(held.pool().add([] {}));
}

}  // namespace
}  // namespace lastout::net
