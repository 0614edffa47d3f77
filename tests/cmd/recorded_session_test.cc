// A session in the embedded cluster, guarded from inside and recorded, is a test of the same verdicts
// afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "replay/recorded_verdicts.h"
#include "simulator/recorder.h"
#include "tests/cmd/guarded_cluster.h"
#include "tests/recordings/works.h"
#include "tests/support/manifests.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::seconds;

constexpr const char* kInstance = "/apis/my.crd.group/v1/coolresources/some-instance";

std::string recordingPath() {
  return (std::filesystem::temp_directory_path() / ("lastout-session-" + std::to_string(getpid()) + ".jsonl"))
      .string();
}

struct OpenRecorder {
  std::unique_ptr<simulator::Recorder> recorder = simulator::Recorder::open(recordingPath()).value();
};

class RecordedSession : private OpenRecorder, public GuardedClusterTest {
 public:
  RecordedSession() : GuardedClusterTest(options()) {}
  ~RecordedSession() override { std::filesystem::remove(recordingPath()); }

  simulator::EmbeddedOptions options() const {
    simulator::EmbeddedOptions options;
    options.recorder = recorder.get();
    return options;
  }

  // The recorded story's works, all applied; nobody takes the instance's finalizer away.
  void createWorks() {
    createNamespace("cluster1");
    for (const Json& work : worksOf({"guarded", kube::kNewestKubernetes})) {
      expect(201, "POST", kWorks, work);
      pass(seconds(60));
    }
  }

  // The controllers' time passes until then; lastout's own is real.
  void passUntilGone(const std::string& path) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    while (send("GET", path).status != 404) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << path << " stays";
      pass(seconds(10));
    }
  }

  replay::ScenarioReport replayed() {
    EXPECT_TRUE(recorder->finish());
    kube::Errors warnings;
    auto report = replay::replayRecording(recordingPath(), warnings);
    EXPECT_EQ(lines(warnings), "");
    EXPECT_TRUE(report) << lines(report.error());
    return report ? std::move(*report) : replay::ScenarioReport();
  }
};

TEST_F(RecordedSession, GivesItsVerdictsAgain) {
  createWorks();
  settle();
  expect(403, "DELETE", kProvider);
  for (const char* name : {"crd", "cr", "finalizer"})
    expect(200, "DELETE", kWorks + ("/" + std::string(name)));
  pass(seconds(30));
  expect(403, "DELETE", kProvider);
  expect(200, "PATCH", kInstance, {{"metadata", {{"finalizers", nullptr}}}}, "application/merge-patch+json");
  for (const char* path : {kProvider, "/api/v1/namespaces/finalizer-namespace",
                           "/apis/lastout.dev/v1alpha1/criticalservices/for-finalizer-deployment"})
    passUntilGone(path);

  const replay::ScenarioReport report = replayed();
  std::vector<std::string> differ;
  std::vector<std::string> allowed;
  size_t denied = 0;
  for (const replay::ExpectationResult& outcome : report.outcomes) {
    if (!outcome.held) differ.push_back(outcome.text + ": " + outcome.whyNot);
    if (outcome.text.find(" is denied") == std::string::npos)
      allowed.push_back(outcome.text);
    else
      ++denied;
  }
  EXPECT_THAT(differ, ::testing::IsEmpty());
  EXPECT_GT(denied, 4U);  // both of the client's, and the controllers'
  // All that is guarded, as nothing else is asked about; by lastout, which runs what it had denied.
  const auto goesByLastout = [](const std::string& object) {
    return ::testing::Contains(::testing::HasSubstr("DELETE of " + object + " by lastout is allowed"));
  };
  EXPECT_THAT(allowed,
              ::testing::AllOf(goesByLastout("deployments.apps/finalizer-namespace/finalizer-deployment"),
                               goesByLastout("namespaces/finalizer-namespace"),
                               goesByLastout("criticalservices.lastout.dev/for-finalizer-deployment")));
}

}  // namespace
}  // namespace lastout::testing
