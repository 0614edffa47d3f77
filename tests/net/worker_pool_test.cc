// WorkerPool: how many threads do what was added, and what becomes of it at the end.
#include "net/worker_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <latch>
#include <system_error>
#include <thread>

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

// While there is one, no thread can be made: none gets a stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 47);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(WorkerPool, LetsAJobWaitThatGetsNoThread) {
  WorkerPool pool({.threads = 1, .mostThreads = 8, .mostWaiting = 8});
  std::promise<void> begun;
  std::promise<void> ending;
  std::promise<void> served;
  pool.add([&] {
    begun.set_value();
    ending.get_future().wait();
  });
  begun.get_future().wait();
  {
    const NoMoreThreads none;
    EXPECT_THROW(std::thread([] {}).detach(), std::system_error);
    EXPECT_TRUE(pool.add([&] { served.set_value(); }));
  }
  ending.set_value();
  served.get_future().wait();
  pool.finish();
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
