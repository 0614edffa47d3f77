#include "server/review_paths.h"

#include <gtest/gtest.h>

#include "server/webhook_configuration.h"

namespace lastout::server {
namespace {

using std::chrono::seconds;

TEST(ReviewPathsTest, AFormerPathIsAnsweredForAMinuteMore) {
  const std::string first = reviewPathOf("a key");
  const std::string second = reviewPathOf("another key");
  const TimePoint start;
  ReviewPaths paths;
  EXPECT_FALSE(paths.has(first, start));
  paths.use({first}, start);
  paths.use({second}, start + seconds(10));
  EXPECT_TRUE(paths.has(second, start + seconds(1'000)));
  EXPECT_TRUE(paths.has(first, start + seconds(69)));
  EXPECT_FALSE(paths.has(first, start + seconds(70)));
}

TEST(ReviewPathsTest, OneThatAnybodyKnowsIsNotAnsweredOnceItIsLeft) {
  const TimePoint start;
  ReviewPaths paths;
  paths.use({std::string(kReviewPath)}, start);
  EXPECT_TRUE(paths.has(kReviewPath, start));
  paths.use({reviewPathOf("a key")}, start);
  EXPECT_FALSE(paths.has(kReviewPath, start));
}

ProbeAnswer denied(const std::string& listener) { return {ProbeAnswer::Kind::Denied, "f", "", listener}; }

TEST(PathRenewalTest, IsDueOnceAnotherProcessListens) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal;
  renewal.answered(denied("a"));
  renewal.answered(denied("a"));
  EXPECT_FALSE(renewal.isDue(start)) << "nobody knows when the first one was started";
  renewal.answered(denied("b"));
  EXPECT_TRUE(renewal.isDue(start));
  renewal.renewed(start);
  renewal.answered(denied("a"));
  renewal.answered(denied("b"));
  EXPECT_FALSE(renewal.isDue(start + seconds(1'000)));
}

TEST(PathRenewalTest, IsDueOnceAListenerIsReachedAgain) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal;
  renewal.answered(denied("a"));
  renewal.answered({ProbeAnswer::Kind::Failed, "", "403 Forbidden"});
  renewal.answered(denied("a"));
  EXPECT_FALSE(renewal.isDue(start)) << "no listener was called";
  renewal.answered({ProbeAnswer::Kind::Failed, "", "failed calling webhook", "", true});
  EXPECT_FALSE(renewal.isDue(start)) << "whoever is refused now would be told the new one";
  renewal.answered(denied("a"));
  EXPECT_TRUE(renewal.isDue(start));
}

TEST(PathRenewalTest, IsDueOnceAMinute) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal;
  renewal.renewed(start);
  renewal.answered(denied("a"));
  renewal.answered(denied("b"));
  EXPECT_FALSE(renewal.isDue(start + seconds(59)));
  EXPECT_TRUE(renewal.isDue(start + seconds(60)));
}

}  // namespace
}  // namespace lastout::server
