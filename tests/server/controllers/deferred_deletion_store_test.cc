// What is recorded of denied deletions when recording and forgetting meet, at a real API.
#include "server/controllers/deferred_deletion_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/json.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kProvider;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kStoreService = "/apis/lastout.dev/v1alpha1/criticalservices/s";
constexpr const char* kStoreProvider = "/apis/apps/v1/namespaces/default/deployments/provider";

class DeferredDeletionStoreTest : public lastout::testing::ServerWorld {
 public:
  void SetUp() override {
    createStory();
    cluster.runUntil(std::chrono::minutes(1));
    follow();
    review.object = kProvider;
    review.user = "system:kube-controller-manager";
    review.deletion.uid = get(kStoreProvider)["metadata"]["uid"];
    waitUntil([this] {
      return view.judge(kProvider, std::chrono::steady_clock::now(), {}, {}).verdict.allowed == false;
    });
    store = makeStore();
  }

  std::unique_ptr<DeferredDeletionStore> makeStore() {
    DeferredDeletionStoreOptions options;
    options.clock = [] { return std::chrono::sys_seconds(std::chrono::seconds(1'760'000'000)); };
    options.requesters = requesters;
    options.annotationsCount = [this] { return annotationsCount; };
    options.replayedTypes = replayedTypes;
    options.random = lastout::testing::oneHalf;
    options.backoff = lastout::testing::kSoonAgain;
    options.longest = milliseconds(0);
    options.log = lastout::testing::noLog();
    return std::make_unique<DeferredDeletionStore>(access, view, std::move(options));
  }
  Json get(const std::string& path) {
    return ask({.method = "GET", .target = path, .body = {}, .headers = {}}).json();
  }
  std::vector<std::string> recorded() {
    std::vector<std::string> names;
    const Json service = get(kStoreService);
    if (const Json* list = simulator::at(service, {"status", "deferredDeletions"}))
      for (const Json& one : *list) names.push_back(one["name"]);
    return names;
  }
  // As the view knows it.
  std::vector<criticalservice::DeferredDeletion> known() {
    std::vector<criticalservice::DeferredDeletion> deletions;
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      for (const auto* service : cluster.services())
        deletions.insert(deletions.end(), service->deferredDeletions.deletions.begin(),
                         service->deferredDeletions.deletions.end());
    });
    return deletions;
  }
  std::string record() { return store->recordAndAdvise(review, std::chrono::steady_clock::now()); }
  // All that was asked for until now is written.
  void write() {
    store->start();
    store->finish(std::chrono::seconds(60));
    store->stop();
  }

  admission::Review review;
  Requesters requesters;
  bool annotationsCount = false;
  std::set<kube::GroupResource> replayedTypes;
  std::unique_ptr<DeferredDeletionStore> store;
};

TEST_F(DeferredDeletionStoreTest, WhatIsAskedForAgainWhileItIsForgottenIsRecorded) {
  record();
  write();
  EXPECT_THAT(recorded(), ElementsAre("provider"));
  waitUntil([this] { return known().size() == 1; });
  store = makeStore();
  store->forget("s", known().front());
  record();
  write();
  ASSERT_THAT(recorded(), ElementsAre("provider")) << "it was asked for last";
  store = makeStore();
  store->forget("s", known().front());
  write();
  EXPECT_THAT(recorded(), IsEmpty());
}

// That it asks lastout, an API server proves with its client certificate alone. Of an object with owners what
// becomes of these is proof enough.
TEST_F(DeferredDeletionStoreTest, WhoeverCannotBeProvenToAskForWhatNobodyOwnsIsToldToAskAgain) {
  requesters.controllers.insert("agent");
  review.user = "agent";
  store = makeStore();
  EXPECT_EQ(record(),
            "; lastout cannot prove who asks, and so does not delete it later: ask again once it "
            "may go");
  write();
  EXPECT_THAT(recorded(), IsEmpty());
  review.deletion.owners = {"an-owner"};
  store = makeStore();
  EXPECT_EQ(record(), "");
  write();
  EXPECT_THAT(recorded(), ElementsAre("provider"));
}

TEST_F(DeferredDeletionStoreTest, WhoeverIsProvenToAskIsRecorded) {
  requesters.controllers.insert("agent");
  requesters.personsCount = true;
  review.user = "agent";
  store = makeStore();
  EXPECT_EQ(record(), "");
  write();
  EXPECT_THAT(recorded(), ElementsAre("provider"));
}

// What a policy denies is deleted later for whoever annotates it, if it is one of the types that this is done
// for, and the annotation is believed. Controllers annotate nothing.
TEST_F(DeferredDeletionStoreTest, APersonIsToldToAnnotateWhatIsDeletedLater) {
  replayedTypes = {kProvider.type};
  review.user = "jane";
  store = makeStore();
  EXPECT_EQ(store->adviceToReplay(review), "") << "the annotation does not count";
  annotationsCount = true;
  EXPECT_THAT(store->adviceToReplay(review),
              StartsWith("; to have lastout delete it once it may go: kubectl annotate "
                         "deployments.apps/provider -n default --overwrite "));
  review.deletion.isTerminating = true;
  EXPECT_EQ(store->adviceToReplay(review), "") << "it is being deleted";
  review.deletion.isTerminating = false;
  review.user = "system:kube-controller-manager";
  EXPECT_EQ(store->adviceToReplay(review), "") << "a controller asks";
  review.user = "jane";
  replayedTypes = {};
  store = makeStore();
  EXPECT_EQ(store->adviceToReplay(review), "") << "its type is not among those";
}

}  // namespace
}  // namespace lastout::server
