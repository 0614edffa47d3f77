// The external step in the plan for a held object: what counts as a report, and what becomes of the object.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protection/describe.h"
#include "protection/external_report.h"
#include "tests/protection/held_objects.h"

namespace lastout::protection {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kStep = "Delete/Database-shop-db";

StoredObject deletedDatabase() {
  StoredObject database = stored("Database", "db");
  database.content["metadata"]["deletionTimestamp"] = "2026-11-01T10:00:00Z";
  return database;
}

StoredObject forcedDatabase() {
  StoredObject database = deletedDatabase();
  database.annotate(kForceDelete, "true");
  return database;
}

StoredObject reported(StoredObject database, const std::string& text) {
  database.annotate(kReport, text);
  return database;
}

StoredObject withCondition(StoredObject database, const std::string& status, const std::string& reason,
                           const std::string& message) {
  database.content["status"]["conditions"] = {
      {{"type", "Dropped"}, {"status", status}, {"reason", reason}, {"message", message}}};
  return database;
}

HoldPlan planByCondition(const StoredObject& database, HoldFacts facts = {}) {
  DeletionPolicy policy = withReports("Database");
  policy.hold->external->reportedBy = ReportPlace{"", "Dropped"};
  return planFor(policy, database, std::move(facts));
}

HoldPlan planByAnnotation(const StoredObject& database, HoldFacts facts = {}) {
  return planFor(withReports("Database"), database, std::move(facts));
}

HoldFacts after(int64_t waited) {
  HoldFacts facts;
  facts.awaited = seconds(waited);
  return facts;
}

std::string reasonIn(const HoldPlan& plan) {
  return plan.statusPatch["status"]["conditions"].back()["reason"];
}

TEST(ExternalStep, IsNoneWithoutAReporter) {
  StoredObject database = deletedDatabase();
  database.content["spec"]["deletionPolicy"] = "Drop";
  const HoldPlan plan = planFor(database);
  EXPECT_TRUE(plan.removeFinalizer);
  EXPECT_FALSE(plan.isForced);
  EXPECT_TRUE(plan.statusPatch.is_null());
  EXPECT_THAT(describe(dbopsPolicy("dbops-databases"), PolicyMode::ApiServer),
              HasSubstr("  external   none: nothing outside the cluster is deleted "));
  EXPECT_THAT(
      describe(withReports("Database"), PolicyMode::ApiServer),
      HasSubstr("  external   Retain or Delete or Snapshot, reported by annotation example.com/report\n"));
}

TEST(ExternalStep, ShowsWhichReportItAwaits) {
  const HoldPlan plan = planByAnnotation(deletedDatabase());
  EXPECT_FALSE(plan.removeFinalizer);
  EXPECT_EQ(plan.awaitedWord, "Delete");
  EXPECT_EQ(plan.statusPatch["status"]["phase"], "Deleting");
  EXPECT_EQ(reasonIn(plan), "ExternalDeletionPending");
  EXPECT_EQ(plan.statusPatch["status"]["message"],
            "External deletion (Delete) is awaited: annotation example.com/report is to be "
            "\"Delete/Database-shop-db: Done\"");
  EXPECT_EQ(plan.lookAgain, seconds(30));
  EXPECT_EQ(planByCondition(deletedDatabase()).statusPatch["status"]["message"],
            "External deletion (Delete) is awaited: condition Dropped is to be True with reason Done and "
            "message \"Delete/Database-shop-db\"");
}

// An outside controller may act from then on, which rests on more than another message does.
TEST(ExternalStep, IsAskedForOnce) {
  StoredObject database = deletedDatabase();
  const HoldPlan first = planByAnnotation(database);
  EXPECT_TRUE(first.asksOutside);
  database.content.merge_patch(first.statusPatch);
  EXPECT_TRUE(planByAnnotation(database).statusPatch.is_null());
  database.annotate(kReport, "Delete/another: Done");
  EXPECT_FALSE(planByAnnotation(database).statusPatch.is_null());
  EXPECT_FALSE(planByAnnotation(database).asksOutside);
}

TEST(ExternalStep, IsDoneByTheReportOfThisObjectAndWord) {
  EXPECT_TRUE(planByAnnotation(reported(deletedDatabase(), std::string(kStep) + ": Done")).removeFinalizer);
  EXPECT_TRUE(planByCondition(withCondition(deletedDatabase(), "True", "Done", kStep)).removeFinalizer);
  EXPECT_TRUE(
      planByCondition(withCondition(deletedDatabase(), "True", "Done", std::string(kStep) + ": in 3 s"))
          .removeFinalizer);
  StoredObject retained = reported(deletedDatabase(), "Retain/Database-shop-db: Done");
  EXPECT_FALSE(planByAnnotation(retained).removeFinalizer);
  retained.content["spec"]["deletionPolicy"] = "Retain";
  EXPECT_TRUE(planByAnnotation(retained).removeFinalizer);
}

TEST(ExternalStep, IsNotDoneByAnythingElse) {
  for (const char* text :
       {"Done", "Delete: Done", "Delete/: Done", "Delete/Database-shop-d: Done",
        "Delete/Database-shop-db2: Done", "Delete/Database-shop-db:Done", "Delete/Database-shop-db Done",
        "Delete/Database-shop-db: done", "Delete/Database-shop-db: Done ",
        "Delete/Database-shop-db: Done: it is", "Delete/Database-shop-db", "delete/Database-shop-db: Done",
        "Snapshot/Database-shop-db: Done", " Delete/Database-shop-db: Done"}) {
    const HoldPlan plan = planByAnnotation(reported(deletedDatabase(), text));
    EXPECT_FALSE(plan.removeFinalizer) << text;
    EXPECT_EQ(reasonIn(plan), "ExternalDeletionPending") << text;
    EXPECT_THAT(plan.statusPatch["status"]["message"].get<std::string>(),
                HasSubstr(std::string(", not \"") + text + "\""));
  }
  for (const auto& [status, reason, message] :
       {std::tuple{"False", "Done", kStep}, std::tuple{"Unknown", "Done", kStep},
        std::tuple{"True", "Failed", kStep}, std::tuple{"True", "", kStep},
        std::tuple{"True", "Done", "Retain/Database-shop-db"}, std::tuple{"True", "Done", "Delete/another"},
        std::tuple{"True", "Done", ""}}) {
    const HoldPlan plan = planByCondition(withCondition(deletedDatabase(), status, reason, message));
    EXPECT_FALSE(plan.removeFinalizer) << status << reason << message;
    EXPECT_EQ(reasonIn(plan), "ExternalDeletionPending");
  }
  StoredObject broken = deletedDatabase();
  broken.content["status"]["conditions"] = {
      "Dropped", {{"type", 1}}, {{"type", "Dropped"}, {"status", true}}};
  EXPECT_FALSE(planByCondition(broken).removeFinalizer);
}

TEST(ExternalStep, AFailureIsShownAndHoldsUntilDoneIsReported) {
  for (const HoldPlan& plan :
       {planByAnnotation(reported(deletedDatabase(), std::string(kStep) + ": Failed: it is in use")),
        planByCondition(
            withCondition(deletedDatabase(), "False", "Failed", std::string(kStep) + ": it is in use"))}) {
    EXPECT_FALSE(plan.removeFinalizer);
    EXPECT_EQ(plan.statusPatch["status"]["phase"], "Failed");
    EXPECT_EQ(reasonIn(plan), "ExternalDeletionFailed");
    EXPECT_EQ(plan.events.at(0).message, "External deletion (Delete) failed: it is in use");
    EXPECT_TRUE(plan.events.at(0).isWarning);
    EXPECT_EQ(plan.lookAgain, seconds(30));
  }
  EXPECT_EQ(
      planByAnnotation(reported(deletedDatabase(), std::string(kStep) + ": Failed")).events.at(0).message,
      "External deletion (Delete) failed: no reason was reported");
}

TEST(ExternalStep, WhatIsReportedIsShortenedAndMadePrintable) {
  const std::string text = std::string(kStep) + ": Failed: \x1b[2J" + std::string(100'000, 'x');
  const std::string message =
      planByAnnotation(reported(deletedDatabase(), text)).statusPatch["status"]["message"];
  EXPECT_LT(message.size(), 500U);
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));
  const std::string strange = planByAnnotation(reported(deletedDatabase(), std::string(100'000, 'y')))
                                  .statusPatch["status"]["message"];
  EXPECT_LT(strange.size(), 1'000U);
}

TEST(ExternalStep, ForceGoesPastAFailureAndWaitsThirtySecondsForAReport) {
  const HoldPlan failed =
      planByAnnotation(reported(forcedDatabase(), std::string(kStep) + ": Failed: it is in use"));
  EXPECT_TRUE(failed.removeFinalizer);
  EXPECT_TRUE(failed.isForced);
  EXPECT_EQ(failed.events.at(0).message,
            "Deleted by force though external deletion did not succeed: it is in use");
  EXPECT_FALSE(planByAnnotation(forcedDatabase()).removeFinalizer);
  EXPECT_FALSE(planByAnnotation(forcedDatabase(), after(29)).removeFinalizer);
  EXPECT_EQ(planByAnnotation(forcedDatabase(), after(29)).lookAgain, seconds(1));
  const HoldPlan waited = planByAnnotation(forcedDatabase(), after(30));
  EXPECT_TRUE(waited.removeFinalizer);
  EXPECT_TRUE(waited.isForced);
  EXPECT_THAT(waited.events.at(0).message,
              HasSubstr("Deleted by force without external deletion, which nobody reported: annotation "));
  EXPECT_FALSE(planByAnnotation(deletedDatabase(), after(3'600)).removeFinalizer) << "it is not forced";
  const HoldPlan done =
      planByAnnotation(reported(forcedDatabase(), std::string(kStep) + ": Done"), after(3'600));
  EXPECT_TRUE(done.removeFinalizer);
  EXPECT_FALSE(done.isForced) << "it would have gone without";
}

TEST(ExternalStep, ForceThatNobodyChecksWaitsAsIfThereWereNone) {
  HoldFacts facts = after(3'600);
  facts.forceDoubt = "nobody checks who sets it";
  for (const StoredObject& database :
       {forcedDatabase(), reported(forcedDatabase(), std::string(kStep) + ": Failed: it is in use")}) {
    const HoldPlan plan = planByAnnotation(database, facts);
    EXPECT_FALSE(plan.removeFinalizer);
    EXPECT_THAT(plan.statusPatch["status"]["message"].get<std::string>(), HasSubstr("does not count"));
  }
}

TEST(ExternalStep, ComesAfterProtectionAndChildren) {
  StoredObject database = reported(deletedDatabase(), std::string(kStep) + ": Done");
  HoldFacts facts;
  facts.children = {childOf("DatabaseGrant", "reader")};
  EXPECT_FALSE(planByAnnotation(database, facts).removeFinalizer);
  EXPECT_FALSE(planByAnnotation(database, facts).awaitedWord);
  database.content["spec"]["deletionProtection"] = true;
  EXPECT_FALSE(planByAnnotation(database).removeFinalizer);
}

TEST(ExternalStep, AWordThatIsNotAllowedHoldsUnlessForced) {
  StoredObject database = reported(deletedDatabase(), "Drop/Database-shop-db: Done");
  database.content["spec"]["deletionPolicy"] = "Drop";
  const HoldPlan held = planByAnnotation(database);
  EXPECT_FALSE(held.removeFinalizer);
  EXPECT_EQ(reasonIn(held), "InvalidDeletionPolicy");
  database.annotate(kForceDelete, "true");
  const HoldPlan plan = planByAnnotation(database);
  EXPECT_TRUE(plan.removeFinalizer);
  ASSERT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(plan.events[0].message,
            "Deleted by force without external deletion: the deletion policy is \"Drop\", not one of Retain, "
            "Delete, Snapshot");
}

}  // namespace
}  // namespace lastout::protection
