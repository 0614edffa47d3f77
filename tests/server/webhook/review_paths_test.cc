#include "server/webhook/review_paths.h"

#include <gtest/gtest.h>

#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

using std::chrono::seconds;

constexpr seconds kRenewalPause{60};

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
  PathRenewal renewal(kRenewalPause);
  renewal.answered(denied("a"));
  renewal.answered(denied("a"));
  EXPECT_FALSE(renewal.due(start)) << "nobody knows when the first one was started";
  renewal.answered(denied("b"));
  EXPECT_TRUE(renewal.due(start));
  renewal.renewed(start);
  renewal.answered(denied("a"));
  renewal.answered(denied("b"));
  EXPECT_FALSE(renewal.due(start + seconds(1'000)));
}

TEST(PathRenewalTest, IsDueOnceAListenerIsReachedAgain) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal(kRenewalPause);
  renewal.answered(denied("a"));
  renewal.answered({ProbeAnswer::Kind::Failed, "", "403 Forbidden"});
  renewal.answered(denied("a"));
  EXPECT_FALSE(renewal.due(start)) << "no listener was called";
  renewal.answered({ProbeAnswer::Kind::Failed, "", "failed calling webhook", "", true});
  EXPECT_FALSE(renewal.due(start)) << "whoever is refused now would be told the new one";
  renewal.answered(denied("a"));
  EXPECT_TRUE(renewal.due(start));
}

TEST(PathRenewalTest, IsDueOnceAMinute) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal(kRenewalPause);
  renewal.renewed(start);
  renewal.answered(denied("a"));
  renewal.answered(denied("b"));
  EXPECT_FALSE(renewal.due(start + seconds(59)));
  EXPECT_TRUE(renewal.due(start + seconds(60)));
}

// docs/security.md, "The path for reviews": no probe may have met an outage.
TEST(PathRenewalTest, IsDueOnceAListenerAnswersANewHolderOfTheLease) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal(kRenewalPause);
  renewal.answered(denied("a"));
  renewal.taken(start);
  EXPECT_FALSE(renewal.due(start)) << "it may be that none can be reached";
  renewal.answered({ProbeAnswer::Kind::Failed, "", "403 Forbidden"});
  EXPECT_FALSE(renewal.due(start));
  renewal.answered(denied("a"));
  EXPECT_EQ(renewal.due(start), PathRenewal::Cause::NewHolder);
  renewal.answered({ProbeAnswer::Kind::Failed, "", "failed calling webhook", "", true});
  EXPECT_FALSE(renewal.due(start)) << "whoever is refused now would be told the new one";
  renewal.answered(denied("a"));
  renewal.renewed(start);
  EXPECT_FALSE(renewal.due(start + seconds(1'000)));
}

TEST(PathRenewalTest, ANewHolderDelaysNoRenewalAfterAnOutage) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal(kRenewalPause);
  renewal.taken(start);
  renewal.answered(denied("a"));
  renewal.renewed(start);
  renewal.answered(denied("b"));
  EXPECT_EQ(renewal.due(start + seconds(1)), PathRenewal::Cause::Outage);
  renewal.renewed(start + seconds(1));
  renewal.taken(start + seconds(2));
  renewal.answered(denied("b"));
  EXPECT_EQ(renewal.due(start + seconds(2)), PathRenewal::Cause::NewHolder);
}

TEST(PathRenewalTest, IsDueEveryHourWhileListenersAreReached) {
  const TimePoint start = TimePoint() + seconds(1'000);
  PathRenewal renewal(kRenewalPause);
  renewal.taken(start);
  renewal.answered(denied("a"));
  renewal.renewed(start + seconds(5));
  EXPECT_FALSE(renewal.due(start + seconds(3'604)));
  EXPECT_EQ(renewal.due(start + seconds(3'605)), PathRenewal::Cause::Hour);
  renewal.answered({ProbeAnswer::Kind::Failed, "", "failed calling webhook", "", true});
  EXPECT_FALSE(renewal.due(start + seconds(5'000)));
  renewal.answered(denied("a"));
  renewal.renewed(start + seconds(5'000));
  EXPECT_FALSE(renewal.due(start + seconds(8'599)));
  EXPECT_EQ(renewal.due(start + seconds(8'600)), PathRenewal::Cause::Hour);
}

TEST(PathRenewalTest, IsNotDueToAProcessThatNeverHadTheLease) {
  PathRenewal renewal(kRenewalPause);
  renewal.answered(denied("a"));
  EXPECT_FALSE(renewal.due(TimePoint() + std::chrono::hours(100)));
}

}  // namespace
}  // namespace lastout::server
