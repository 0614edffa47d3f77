// Connections when the machine has no more threads.
#include <gtest/gtest.h>
#include <pthread.h>

#include <future>

#include "simulator/client_stream.h"

namespace lastout::simulator {
namespace {

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

TEST(ConnectionThreads, LetAConnectionWaitThatGetsNoThread) {
  ConnectionThreads threads(8);
  std::promise<void> begun;
  std::promise<void> ending;
  std::promise<void> served;
  threads.enqueue([&] {
    begun.set_value();
    ending.get_future().wait();
  });
  begun.get_future().wait();
  {
    const NoMoreThreads none;
    EXPECT_THROW(std::thread([] {}).detach(), std::system_error);
    threads.enqueue([&] { served.set_value(); });
  }
  ending.set_value();
  served.get_future().wait();
  threads.shutdown();
}

}  // namespace
}  // namespace lastout::simulator
