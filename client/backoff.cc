#include "client/backoff.h"

#include <algorithm>
#include <random>
#include <utility>

namespace lastout::client {

RandomFraction newRandomFraction() {
  return [engine = std::mt19937_64(std::random_device()())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

Backoff::Backoff(BackoffLimits limits, RandomFraction random)
    : limits_(limits), random_(std::move(random)), longest_(limits.first) {}

std::chrono::milliseconds Backoff::next() {
  const std::chrono::milliseconds longest = std::min(longest_, limits_.most);
  longest_ = std::min(longest * 2, limits_.most);
  const std::chrono::milliseconds half = longest / 2;
  return half +
         std::chrono::milliseconds(static_cast<int64_t>(random_() * static_cast<double>(half.count())));
}

}  // namespace lastout::client
