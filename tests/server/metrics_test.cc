// What is counted, by reading the text as Prometheus does.
#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace lastout::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

using Series = std::map<std::string, double>;  // "name{label="value"}": value

Series seriesIn(const std::string& text) {
  Series series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t end = line.rfind(' ');
    EXPECT_TRUE(series.emplace(line.substr(0, end), std::stod(line.substr(end))).second) << "twice: " << line;
  }
  return series;
}

ReviewResult verdictOf(bool allowed, admission::Reason reason) {
  ReviewResult verdict;
  verdict.allowed = allowed;
  verdict.reason = reason;
  return verdict;
}

TEST(Metrics, CountVerdictsByWhatCameOfThem) {
  Metrics metrics("1.2.3");
  metrics.count(verdictOf(false, admission::Reason::CriterionUnmet));
  metrics.count(verdictOf(false, admission::Reason::CriterionUnmet));
  ReviewResult audited = verdictOf(false, admission::Reason::CriterionUnmet);
  audited.enforced = false;
  metrics.count(audited);
  ReviewResult confirmed = verdictOf(true, admission::Reason::CriteriaMet);
  confirmed.confirmed = true;
  confirmed.took = milliseconds(30);
  metrics.count(confirmed);
  Series series = seriesIn(metrics.text({}));
  const std::string unmet = R"(",reason="CriterionUnmet"})";
  EXPECT_EQ(series[R"(lastout_verdicts_total{operation="DELETE",outcome="denied)" + unmet], 2);
  EXPECT_EQ(series[R"(lastout_verdicts_total{operation="DELETE",outcome="would_be_denied)" + unmet], 1);
  EXPECT_EQ(series[R"(lastout_verdicts_total{operation="DELETE",outcome="allowed",reason="CriteriaMet"})"],
            1);
  EXPECT_EQ(series[R"(lastout_verdict_duration_seconds_count{confirmed="false"})"], 3);
  EXPECT_EQ(series[R"(lastout_verdict_duration_seconds_bucket{confirmed="true",le="0.025"})"], 0);
  EXPECT_EQ(series[R"(lastout_verdict_duration_seconds_bucket{confirmed="true",le="0.05"})"], 1);
  EXPECT_DOUBLE_EQ(series[R"(lastout_verdict_duration_seconds_sum{confirmed="true"})"], 0.03);
  EXPECT_EQ(series[R"(lastout_build_info{version="1.2.3"})"], 1);
}

// An alert looks for an increase, which the first sample of a series is none.
TEST(Metrics, WhatMayAlarmStartsFromZero) {
  const Series series = seriesIn(Metrics("1").text({}));
  for (const char* name :
       {R"(lastout_probes_total{result="allowed"})", R"(lastout_deferred_deletions_total{result="dropped"})",
        R"(lastout_weakenings_total{of="dependency"})", R"(lastout_weakenings_total{of="criticalservice"})",
        R"(lastout_held_objects_total{outcome="forced"})",
        R"(lastout_label_changes_total{outcome="repaired"})"}) {
    ASSERT_TRUE(series.contains(name)) << name;
    EXPECT_EQ(series.at(name), 0) << name;
  }
}

TEST(Metrics, CountWhatIsTakenAway) {
  Metrics metrics("1");
  metrics.count(admission::Weakening::Kind::CriticalService);
  const Series series = seriesIn(metrics.text({}));
  EXPECT_EQ(series.at(R"(lastout_weakenings_total{of="criticalservice"})"), 1);
  EXPECT_EQ(series.at(R"(lastout_weakenings_total{of="dependency"})"), 0);
}

TEST(Metrics, CountReadsAndTheUnguardedTime) {
  Metrics metrics("1");
  using Outcome = ConfirmingReads::ReadOutcome;
  for (const Outcome outcome : {Outcome::Free, Outcome::Free, Outcome::Held, Outcome::Failed})
    metrics.count(ConfirmingReads::Done{outcome, microseconds(500)});
  metrics.countRestored(milliseconds(250));
  metrics.countRestored(milliseconds(500));
  Series series = seriesIn(metrics.text({}));
  EXPECT_EQ(series[R"(lastout_confirming_reads_total{outcome="free"})"], 2);
  EXPECT_EQ(series[R"(lastout_confirming_reads_total{outcome="held"})"], 1);
  EXPECT_EQ(series[R"(lastout_confirming_reads_total{outcome="failed"})"], 1);
  EXPECT_EQ(series["lastout_confirming_read_duration_seconds_count"], 4);
  EXPECT_EQ(series["lastout_webhook_restored_total"], 2);
  EXPECT_DOUBLE_EQ(series["lastout_webhook_unguarded_seconds_total"], 0.75);
}

TEST(Metrics, TellHowWellEachTypeIsKnown) {
  GaugeValues standing;
  standing.health = {true, true};
  standing.types = {{{"apps", "deployments"}, graph::Knowledge::Synced, 12, ""},
                    {{"my.crd.group", "coolresources"}, graph::Knowledge::Forbidden, 3, "403"}};
  const Metrics metrics("1");
  Series series = seriesIn(metrics.text(standing));
  EXPECT_EQ(series["lastout_ready"], 1);
  EXPECT_EQ(series[R"(lastout_watched_objects{type="deployments.apps"})"], 12);
  EXPECT_EQ(series[R"(lastout_watched_type_known{type="deployments.apps"})"], 1);
  EXPECT_EQ(series[R"(lastout_watched_type_known{type="coolresources.my.crd.group"})"], 0);
  EXPECT_THAT(metrics.text(standing), Not(HasSubstr("lastout_webhook_in_force")))
      << "others keep the configuration";
  standing.webhookInForce = false;
  standing.leftOutDependencies = 7;
  EXPECT_THAT(metrics.text(standing), HasSubstr("lastout_webhook_in_force 0\n"));
  EXPECT_THAT(metrics.text(standing), HasSubstr("lastout_dependencies_left_out 7\n"));
}

// Whoever may create CriticalServices chooses the names of types.
TEST(Metrics, DoNotGrowWithoutBound) {
  Metrics metrics("1");
  GaugeValues standing;
  for (size_t i = 0; i < Metrics::kMostTypes + 20; ++i) {
    const kube::GroupResource type{"example.com", "things" + std::to_string(i)};
    standing.types.push_back({type, graph::Knowledge::Synced, 2, ""});
    metrics.countInterruption(type);
  }
  metrics.countInterruption({"example.com", "things0"});
  Series series = seriesIn(metrics.text(standing));
  EXPECT_EQ(series[R"(lastout_watched_objects{type="others"})"], 40);
  EXPECT_EQ(series[R"(lastout_watched_type_known{type="others"})"], 1);
  EXPECT_EQ(series[R"(lastout_watch_interruptions_total{type="others"})"], 20);
  EXPECT_EQ(series[R"(lastout_watch_interruptions_total{type="things0.example.com"})"], 2);
  EXPECT_LT(series.size(), 3 * (Metrics::kMostTypes + 1) + 100);
}

TEST(Metrics, CountWhatIsMissing) {
  const auto problems = [](const GaugeValues& standing) {
    Series found;
    for (const auto& [name, value] : seriesIn(Metrics("1").text(standing)))
      if (name.starts_with("lastout_installation_problems")) found.emplace(name.substr(29), value);
    return found;
  };
  GaugeValues standing;
  EXPECT_EQ(problems(standing), (Series{{R"({of="type"})", 0}}));
  standing.webhookInForce = true;
  standing.probes = {{"a", ProbeResult::Denied, ""}};
  standing.problems = {{"binding", 0}};
  EXPECT_EQ(problems(standing), (Series{{R"({of="type"})", 0},
                                        {R"({of="webhook"})", 0},
                                        {R"({of="probe"})", 0},
                                        {R"({of="binding"})", 0}}));
  standing.webhookInForce = false;
  standing.probes.push_back({"b", ProbeResult::Failed, "why"});
  standing.types = {{{"", "namespaces"}, graph::Knowledge::Synced, 1, ""},
                    {{"", "pods"}, graph::Knowledge::Forbidden, 0, "403"}};
  standing.problems = {{"binding", 2}};
  EXPECT_EQ(problems(standing), (Series{{R"({of="type"})", 1},
                                        {R"({of="webhook"})", 1},
                                        {R"({of="probe"})", 1},
                                        {R"({of="binding"})", 2}}));
}

// Each "name type" of the page, and of the text when everything has been counted once.
TEST(Metrics, AreThoseOfThePage) {
  std::set<std::string> onPage;
  std::ifstream page("docs/metrics.md");
  const std::regex row(R"(\| `(lastout_[a-z_]+)` \| ([a-z]+) \|.*)");
  std::smatch cells;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, cells, row)) onPage.insert(cells[1].str() + " " + cells[2].str());
  }
  Metrics metrics("1");
  metrics.count(verdictOf(true, admission::Reason::NotGuarded));
  metrics.countInterruption({"", "namespaces"});
  metrics.count(ProbeResult::Denied);
  metrics.count(DeferredDeletionEvent::Kind::Recorded);
  GaugeValues standing{
      {true, true}, true, true, 1, 1, {{{"", "namespaces"}, graph::Knowledge::Synced, 1, ""}}, {}, 0};
  standing.probes.push_back({"https://127.0.0.1:6443", ProbeResult::Denied, ""});
  std::set<std::string> told;
  std::istringstream text(metrics.text(standing));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# TYPE ")) told.insert(line.substr(7));
  }
  EXPECT_EQ(told, onPage);
  EXPECT_GT(told.size(), 10U);
}

TEST(Metrics, SayWhatEachOfThemIs) {
  Metrics metrics("1");
  metrics.count(verdictOf(true, admission::Reason::NotGuarded));
  EXPECT_THAT(metrics.text({}), HasSubstr("# HELP lastout_verdicts_total Reviews that were answered.\n"
                                          "# TYPE lastout_verdicts_total counter\n"));
}

}  // namespace
}  // namespace lastout::server
