// The recorded stories, event by event into the live graph: at each review that was recorded, decide() gives
// the verdict that was recorded, and names what was recorded to block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/decide.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "criticalservice/critical_service.h"
#include "graph/graph.h"
#include "tests/support/manifests.h"
#include "tests/support/recording.h"

namespace lastout::admission {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::RecordedEvent;
using ::testing::StartsWith;

const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};

// lastout beside the recorded cluster.
class Story {
 public:
  explicit Story(const std::string& name)
      : events(testing::readRecording("tests/recordings/kubernetes-1.26/" + name + ".jsonl", types)),
        index_(graph_) {
    for (const RecordedEvent& event : events) {
      if (event.kind != RecordedEvent::Kind::Marker) know(event.key.type, graph::Knowledge::Synced);
    }
  }

  void watch(const RecordedEvent& event);
  Decision decide(const kube::ObjectKey& key) const {
    return admission::decide(GraphFacts(graph_, index_), index_.rules(), index_.stakes(key));
  }
  Explanation explain(const kube::ObjectKey& key) const {
    return admission::explain(graph_, index_, key, decide(key));
  }

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  std::vector<RecordedEvent> events;

 private:
  void know(const kube::GroupResource& type, graph::Knowledge knowledge) {
    graph_.setKnowledge(graph_.internType(type), knowledge);
  }

  graph::Graph graph_;
  GuardIndex index_;
};

void Story::watch(const RecordedEvent& event) {
  const bool isService = event.key.type == criticalservice::criticalServiceType();
  if (event.deleted) {
    graph_.remove(event.key);
    if (isService) index_.remove(graph_, event.key.name);
    // Nothing can be listed any more, and nothing can be there.
    if (event.key.type == kCrds) {
      for (const kube::ResourceType& type : types.types()) {
        if (kube::crdName(type.type) == event.key.name) know(type.type, graph::Knowledge::Absent);
      }
    }
    return;
  }
  graph_.upsert(graph_.internType(event.key.type), event.object.meta);
  if (!isService) return;
  const auto service = criticalservice::parse(event.object, types);
  ASSERT_TRUE(service) << testing::lines(service.error());
  index_.put(graph_, *service, types);
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

Count replay(const std::string& name) {
  Count count;
  Story story(name);
  for (const RecordedEvent& event : story.events) {
    if (event.kind == RecordedEvent::Kind::Watch) story.watch(event);
    if (event.kind != RecordedEvent::Kind::Admission) continue;
    SCOPED_TRACE(name + ".jsonl:" + std::to_string(event.line) + ": " + kube::toString(event.key));
    EXPECT_EQ(event.operation, "DELETE");
    const Decision decision = story.decide(event.key);
    EXPECT_EQ(decision.allowed, event.allowed);
    count.reviews++;
    count.denials += decision.allowed ? 0 : 1;
    EXPECT_EQ(decision.unmet, event.why.size());
    const Explanation explanation = story.explain(event.key);
    const auto isRoot = [](const Cause& cause) {
      return cause.reason == kRootBlocker;
    };  // what no recording has
    std::vector<Cause> causes = explanation.causes;
    std::erase_if(causes, isRoot);
    EXPECT_EQ(causes.size(), event.why.size()) << explanation.message;
    for (const std::string& recorded : event.why) {
      const std::string why = inOurWords(recorded);
      EXPECT_THAT(causes, Contains(Field(&Cause::message, StartsWith(why))));
      EXPECT_THAT(explanation.message, HasSubstr(why));
    }
  }
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
  Story story("story-unguarded");
  std::vector<std::string> denied;
  std::vector<std::string> wentOn;
  for (const RecordedEvent& event : story.events) {
    if (event.kind != RecordedEvent::Kind::Watch) continue;
    const bool leaves = event.deleted || event.object.meta.deletionTimestamp.has_value();
    const std::string key = kube::toString(event.key);
    if (leaves && !story.decide(event.key).allowed) {
      if (denied.empty() || denied.back() != key) denied.push_back(key);
    } else if (event.deleted) {
      wentOn.push_back(event.key.type.resource);
    }
    story.watch(event);
  }
  EXPECT_THAT(denied, ElementsAre("namespaces/finalizer-namespace",
                                  "deployments.apps/finalizer-namespace/finalizer-deployment"));
  EXPECT_THAT(wentOn, ElementsAre("replicasets", "pods", "criticalservices", "namespaces",
                                  "appliedmanifestworks", "manifestworks"));
}

}  // namespace
}  // namespace lastout::admission
