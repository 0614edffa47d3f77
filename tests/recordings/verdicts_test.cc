// The recorded stories, event by event into the live graph: at each review that was recorded, decide() gives
// the verdict that was recorded, and names what was recorded to block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "replay/recorded_verdicts.h"
#include "tests/support/manifests.h"

namespace lastout::replay {
namespace {

using admission::DenialCause;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pathOf(const std::string& name) { return "tests/recordings/kubernetes-1.26/" + name + ".jsonl"; }

void forEachEvent(const std::string& name, const std::function<void(const RecordedEvent&)>& what) {
  auto reader = RecordingReader::open(pathOf(name));
  ASSERT_TRUE(reader) << kube::toString(reader.error());
  for (;;) {
    const auto event = reader->next();
    ASSERT_TRUE(event) << testing::lines(event.error());
    if (!*event) return;
    what(**event);
  }
}

// The recorded webhook wrote "provider deployments.apps n/d is present" where lastout has a slash.
std::string inOurWords(std::string why) {
  const std::string provider = "provider deployments.apps ";
  if (why.starts_with(provider)) why[provider.size() - 1] = '/';
  return why;
}

struct Count {
  int reviews = 0;
  int denials = 0;
};

void expectAsRecorded(const RecordedEvent& event, const RecordedCluster::ExplainedVerdict& verdict) {
  EXPECT_EQ(verdict.verdict.allowed, event.allowed);
  EXPECT_EQ(verdict.verdict.unmet, event.why.size());
  const auto isRoot = [](const DenialCause& cause) {
    return cause.reason == admission::kRootBlocker;
  };  // what no recording has
  std::vector<DenialCause> causes = verdict.explanation.causes;
  std::erase_if(causes, isRoot);
  EXPECT_EQ(causes.size(), event.why.size()) << verdict.explanation.message;
  for (const std::string& recorded : event.why) {
    const std::string why = inOurWords(recorded);
    EXPECT_THAT(causes, Contains(Field(&DenialCause::message, StartsWith(why))));
    EXPECT_THAT(verdict.explanation.message, HasSubstr(why));
  }
}

Count replay(const std::string& name) {
  Count count;
  RecordedCluster cluster;
  forEachEvent(name, [&](const RecordedEvent& event) {
    const auto verdict = cluster.take(event);
    ASSERT_TRUE(verdict) << testing::lines(verdict.error());
    if (!*verdict) return;
    SCOPED_TRACE(name + ".jsonl:" + std::to_string(event.line) + ": " + kube::toString(event.key));
    expectAsRecorded(event, **verdict);
    count.reviews++;
    count.denials += (*verdict)->verdict.allowed ? 0 : 1;
  });
  return count;
}

TEST(RecordedVerdicts, TheGuardedStory) {
  const Count count = replay("story-guarded");
  EXPECT_EQ(count.reviews, 42);
  EXPECT_EQ(count.denials, 25);
}

TEST(RecordedVerdicts, TheDeadlock) {
  const Count count = replay("story-deadlock");
  EXPECT_EQ(count.reviews, 12);
  EXPECT_EQ(count.denials, 3);
}

// The control: nobody was asked. Whatever went too early would have been denied, and nothing else.
TEST(RecordedVerdicts, TheUnguardedStoryWouldHaveBeenStopped) {
  RecordedCluster cluster;
  std::vector<std::string> denied;
  std::vector<std::string> wentOn;
  forEachEvent("story-unguarded", [&](const RecordedEvent& event) {
    if (event.kind == RecordedEvent::Kind::Watch) {
      const bool leaves = event.deleted || event.object.meta.deletionTimestamp.has_value();
      const std::string key = kube::toString(event.key);
      if (leaves && !cluster.verdictOn(event.key).verdict.allowed) {
        if (denied.empty() || denied.back() != key) denied.push_back(key);
      } else if (event.deleted) {
        wentOn.push_back(event.key.type.resource);
      }
    }
    ASSERT_TRUE(cluster.take(event));
  });
  EXPECT_THAT(denied, ElementsAre("namespaces/finalizer-namespace",
                                  "deployments.apps/finalizer-namespace/finalizer-deployment"));
  EXPECT_THAT(wentOn, ElementsAre("replicasets", "pods", "criticalservices", "namespaces",
                                  "appliedmanifestworks", "manifestworks"));
}

}  // namespace
}  // namespace lastout::replay
