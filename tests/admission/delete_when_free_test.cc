// The annotation lastout.dev/delete-when-free, held against docs/criticalservice.md. That it is obeyed is in
// tests/faults/delete_when_free_test.cc.
#include "admission/delete_when_free.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::admission {
namespace {

using ::testing::HasSubstr;

const kube::ObjectKey kAnnotatedProvider{{"apps", "deployments"}, "app", "provider"};
constexpr int64_t kTwoInTheMorning = 1'795'399'200;  // 2026-11-23T02:00:00Z

TEST(DeleteWhenFree, SaysWhichObjectAndUntilWhen) {
  EXPECT_EQ(askedUntil({"u-1", "u-1 2026-11-23T02:00:00Z"}, std::nullopt), kTwoInTheMorning);
  EXPECT_THAT(askedUntil({"u-2", "u-1 2026-11-23T02:00:00Z"}, std::nullopt).error(),
              HasSubstr("another object of that name: this one has uid u-2"));
  for (const char* odd : {"", "u-1", "true", "u-1 tomorrow", " 2026-11-23T02:00:00Z", "2026-11-23T02:00:00Z",
                          "u-1  2026-11-23T02:00:00Z", "u-1 2026-11-23T02:00:00Z x"})
    EXPECT_THAT(askedUntil({"u-1", odd}, std::nullopt).error(),
                HasSubstr("is not the object's uid, a space, and a time"))
        << odd;
  EXPECT_THAT(askedUntil({"u-1", "u-1 " + std::string(200, 'x')}, std::nullopt).error(),
              HasSubstr("more than 128 bytes"));
}

// It does not outlive what was asked of its writer by more than a week.
TEST(DeleteWhenFree, AsksForNothingWhenItsTimeHasPassedOrIsTooFarAhead) {
  const AnnotatedObject object{"u-1", "u-1 2026-11-23T02:00:00Z"};
  const std::chrono::sys_seconds until{std::chrono::seconds(kTwoInTheMorning)};
  const std::chrono::seconds second(1);
  EXPECT_TRUE(askedUntil(object, until - second));
  EXPECT_EQ(askedUntil(object, until).error(), "its time has passed");
  EXPECT_TRUE(askedUntil(object, until - std::chrono::hours(7 * 24)));
  EXPECT_THAT(askedUntil(object, until - std::chrono::hours(7 * 24) - second).error(),
              HasSubstr("more than 7 days ahead"));
  EXPECT_THAT(wordsOf(object, until), HasSubstr("means nothing: its time has passed"));
  EXPECT_THAT(wordsOf(object, until - second),
              HasSubstr("asks lastout to delete it once it may go, until 2026"));
}

TEST(DeleteWhenFree, ADenialNamesTheCommand) {
  const std::chrono::sys_seconds until{std::chrono::seconds(kTwoInTheMorning)};
  EXPECT_EQ(annotateCommand(kAnnotatedProvider, "u-1", until),
            "kubectl annotate deployments.apps/provider -n app --overwrite "
            "'lastout.dev/delete-when-free=u-1 2026-11-23T02:00:00Z'");
  EXPECT_EQ(annotateCommand({{"", "namespaces"}, "", "app"}, "u-1", until),
            "kubectl annotate namespaces/app --overwrite "
            "'lastout.dev/delete-when-free=u-1 2026-11-23T02:00:00Z'");
  EXPECT_EQ(annotateCommand({{"rbac.authorization.k8s.io", "clusterroles"}, "", "it's; rm -r"}, "u", until),
            "")
      << "roles may be called anything";
}

TEST(DeleteWhenFree, IsKeptOfThoseThatCarryItAlone) {
  AnnotatedObjects objects;
  kube::ObjectMeta meta;
  meta.uid = "u-1";
  note(objects, kAnnotatedProvider, meta);
  EXPECT_TRUE(objects.empty());
  meta.annotations[std::string(kDeleteWhenFree)] = std::string(100'000, 'x');
  note(objects, kAnnotatedProvider, meta);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_LE(objects.begin()->second.value.size(), kLongestDeleteWhenFree + 1);
  meta.deletionTimestamp = 1;
  note(objects, kAnnotatedProvider, meta);
  EXPECT_TRUE(objects.empty()) << "it is being deleted";
}

}  // namespace
}  // namespace lastout::admission
