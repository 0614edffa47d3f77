// The recorded stories in the embedded cluster, at recorded speed: the same works are deleted by its clients,
// a webhook guards them as the recorded one did, and it ends as recorded, in an order that the recordings
// allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "criticalservice/critical_service.h"
#include "tests/fidelity/recorded_review.h"
#include "tests/recordings/happens_before.h"
#include "tests/recordings/recorded_story.h"
#include "tests/recordings/story_facts.h"
#include "tests/recordings/works.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {
namespace {

using cluster::EventKind;
using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kCrd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group";

// The webhook's answers come from the test, which is made after the cluster.
using Verdict = std::shared_ptr<std::function<bool(const Json& request)>>;

simulator::EmbeddedOptions guardedBy(const Verdict& allows, kube::KubernetesVersion kubernetes) {
  simulator::EmbeddedOptions options;
  options.kubernetes = kubernetes;
  options.callWebhook = webhookThat([allows](const simulator::Webhook&, const Json& request) -> Json {
    return {{"allowed", (*allows)(request)}};
  });
  return options;
}

std::set<std::string> withoutGenerated(const std::set<std::string>& names) {
  std::set<std::string> known;
  for (const std::string& name : names) known.insert(withoutGeneratedNames(name));
  return known;
}

class RecordedCluster : public ClusterTest {
 public:
  explicit RecordedCluster(kube::KubernetesVersion kubernetes = kube::KubernetesVersion::V1_26)
      : RecordedCluster(std::make_shared<std::function<bool(const Json&)>>(), kubernetes) {}
  RecordedCluster(const Verdict& verdict, kube::KubernetesVersion kubernetes)
      : ClusterTest(guardedBy(verdict, kubernetes)) {
    *verdict = [this](const Json& request) { return review(request); };
  }

  // Everything is applied, as it was when the recording began.
  void prepare(const RecordedStory& story) {
    createNamespace("cluster1");
    for (const Json& work : worksOf({story.name, story.kubernetes})) {
      expect(201, "POST", kWorks, work);
      pass(seconds(60));
    }
    const kube::MutexLock lock(cluster.plane().mutex);
    const auto added = cluster.plane().live.addController(
        {.name = "finalizer-controller",
         .runsIn = cluster::kNone,
         .finalizer = "my.crd.group/super-important",
         .from = {"my.crd.group", "coolresources"}},
        kube::ObjectKey{{"apps", "deployments"}, "finalizer-namespace", "finalizer-deployment"});
    ASSERT_TRUE(added);
    cluster.plane().observe([this](const simulator::Write& write) { take(write); });
  }

  void guard() { createWebhook("ValidatingWebhookConfiguration", "guards.test.dev", {"DELETE"}, "*"); }

  void play(const RecordedStory& story) {
    const milliseconds began = now;
    for (const ClientDelete& request : story.deletes) {
      passUntil(began + request.at);
      expect(200, "DELETE", kWorks + ("/" + request.key.name));
    }
    passUntil(began + seconds(60));
  }

  // By milliseconds, so that `now` is when something happens.
  void passUntil(milliseconds then) {
    while (now < then) pass(milliseconds(1));
  }

  // As the recorded guard decided: the CriticalService's two criteria for the provider and its namespace, and
  // the CriticalService after its provider.
  bool review(const Json& request) {
    const std::string resource = request["resource"]["resource"];
    const Json& metadata = request["oldObject"]["metadata"];
    const bool isProvider = resource == "deployments" || resource == "namespaces";
    if (request["operation"] != "DELETE" || (!isProvider && resource != "criticalservices")) return true;
    const bool denied = send("GET", isProvider ? kCrd : kProvider).status == 200;  // no CRD, no instance
    const kube::ObjectKey key{
        {request["resource"]["group"], resource}, metadata.value("namespace", ""), metadata["name"]};
    if (!denied) return true;
    happen(key, EventKind::Denied);
    if (request["userInfo"]["username"] == "system:serviceaccount:kube-system:generic-garbage-collector")
      collectorDenied[kube::toString(key)].push_back(now);
    return false;
  }

  void take(const simulator::Write& write) {
    const kube::ObjectKey& key = write.record->key();
    const bool isGone = write.kind == simulator::Write::Kind::Deleted;
    const Json* deletion = simulator::at(write.record->object(), {"metadata", "deletionTimestamp"});
    if (isGone || deletion != nullptr) happen(key, EventKind::Accepted);
    if (isGone) happen(key, EventKind::Gone);
  }

  void happen(const kube::ObjectKey& key, EventKind kind) {
    if (seen_.insert({key, kind}).second || kind == EventKind::Gone) happened.push_back({key, kind});
  }

  // Of what the recording knows, what is there now.
  std::set<std::string> left(const RecordedStory& story) {
    std::set<std::string> known;
    for (const kube::Object& object : story.objects)
      known.insert(withoutGeneratedNames(kube::toString(object.key)));
    std::set<std::string> left;
    const kube::MutexLock lock(cluster.plane().mutex);
    for (const cluster::SlotInfo& slot : cluster.plane().live.model().slots) {
      const std::string name = withoutGeneratedNames(kube::toString(slot.key));
      if (cluster.plane().storage.find(slot.key) != nullptr && known.contains(name)) left.insert(name);
    }
    return left;
  }

  std::vector<Happened> happened;
  std::map<std::string, std::vector<milliseconds>> collectorDenied;

 private:
  std::set<std::pair<kube::ObjectKey, EventKind>> seen_;
};

class RecordedClusterStories : public ::testing::WithParamInterface<StoryName>, public RecordedCluster {
 public:
  RecordedClusterStories() : RecordedCluster(GetParam().kubernetes) {}
};

TEST_P(RecordedClusterStories, EndAsRecordedInARecordedOrder) {
  const RecordedStory story = readStory(GetParam());
  prepare(story);
  if (story.guarded) guard();
  play(story);
  EXPECT_EQ(left(story), withoutGenerated(story.left));
  EXPECT_EQ(contradictions(pairsOf(story), happened), "");
  std::set<std::string> known;
  for (const kube::Object& object : story.objects)
    known.insert(withoutGeneratedNames(kube::toString(object.key)));
  for (const EventKind kind : {EventKind::Accepted, EventKind::Denied, EventKind::Gone}) {
    std::set<std::string> names = withoutGenerated(namesOf(happened, kind));
    std::erase_if(names, [&](const std::string& name) { return !known.contains(name); });
    EXPECT_EQ(names, withoutGenerated(namesOf(story.happened, kind)))
        << "kind of event: " << static_cast<int>(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Story, RecordedClusterStories, ::testing::ValuesIn(storyNames()),
                         [](const auto& info) { return info.param.test(); });

TEST_F(RecordedCluster, AWorkIsReportedGoneTooEarly) {
  const RecordedStory story = readStory("guarded", kube::KubernetesVersion::V1_26);
  prepare(story);
  guard();
  play(story);
  expectGoneTooEarly(happened);
}

// Recorded as 5, 10, 20 ms and so on, each after the webhook's answer; here that takes no time.
TEST_F(RecordedCluster, TheCollectorAsksLessAndLessOften) {
  const RecordedStory story = readStory("guarded", kube::KubernetesVersion::V1_26);
  prepare(story);
  guard();
  play(story);
  for (const char* name :
       {"deployments.apps/finalizer-namespace/finalizer-deployment", "namespaces/finalizer-namespace"}) {
    const std::vector<milliseconds>& times = collectorDenied[name];
    ASSERT_GT(times.size(), 5U) << name;
    for (size_t i = 1; i < times.size(); ++i)
      EXPECT_EQ(times[i] - times[i - 1], milliseconds(5) * (1 << (i - 1))) << name << " " << i;
  }
}

TEST_F(RecordedCluster, TheDeadlockIsThatNobodyAsksForTheProviderAgain) {
  const RecordedStory story = readStory("deadlock", kube::KubernetesVersion::V1_26);
  prepare(story);
  guard();
  play(story);
  expectProviderForgotten(happened);
  passUntil(now + seconds(60));
  EXPECT_EQ(send("GET", kProvider).status, 200);
}

}  // namespace
}  // namespace lastout::testing
