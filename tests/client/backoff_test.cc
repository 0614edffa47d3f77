#include "client/backoff.h"

#include <gmock/gmock.h>

#include <vector>

namespace lastout::client {
namespace {

using std::chrono::milliseconds;

std::vector<int64_t> waits(Backoff& backoff, size_t count) {
  std::vector<int64_t> result;
  while (result.size() < count) result.push_back(backoff.next().count());
  return result;
}

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff least({milliseconds(200), milliseconds(1000)}, [] { return 0.0; });
  EXPECT_THAT(waits(least, 5), ::testing::ElementsAre(100, 200, 400, 500, 500));
  Backoff most({milliseconds(200), milliseconds(1000)}, [] { return 1.0; });
  EXPECT_THAT(waits(most, 5), ::testing::ElementsAre(200, 400, 800, 1000, 1000));
}

TEST(Backoff, BeginsAnewWhenItWorks) {
  Backoff backoff({milliseconds(200), milliseconds(1000)}, [] { return 0.5; });
  waits(backoff, 4);
  backoff.reset();
  EXPECT_THAT(waits(backoff, 2), ::testing::ElementsAre(150, 300));
}

TEST(Backoff, NeverOverflows) {
  Backoff backoff({milliseconds(200), milliseconds(30'000)}, [] { return 0.0; });
  waits(backoff, 1000);
  EXPECT_EQ(backoff.next(), milliseconds(15'000));
}

}  // namespace
}  // namespace lastout::client
