// Which works are kept, by a view that a test fills.
#include "server/kept_works.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/parse.h"

namespace lastout::server {
namespace {

using admission::Keeping;
using graph::Knowledge;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const kube::GroupResource kKeptWorkType{"work.open-cluster-management.io", "appliedmanifestworks"};
const kube::GroupResource kKeptDeployments{"apps", "deployments"};
const kube::GroupResource kKeptSpaces{"", "namespaces"};
const kube::GroupResource kKeptWidgets{"example.com", "widgets"};
const std::string kAgents = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
const std::string kOurs(admission::kKeptFinalizer);

// A work "w" that has applied a namespace, the provider in it, and what guards that.
class KeptWorksTest : public ::testing::Test {
 public:
  KeptWorksTest() {
    guard("Controllers");
    for (const auto& type : {criticalservice::criticalServiceType(), kube::crdType(), kKeptSpaces,
                             kKeptDeployments, kKeptWidgets, kKeptWorkType})
      view.know(type, Knowledge::Synced);
    put(kKeptSpaces, "", "n", {"w"});
    put(kKeptDeployments, "n", "d", {"w"});
  }

  void guard(const std::string& replay) {
    const std::string text =
        R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService",
      "metadata":{"name":"s"},"spec":{"replay":")" +
        replay +
        R"(","provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},
      "criteria":[{"type":"Finalizer","finalizer":
        {"group":"example.com","resource":"widgets","finalizerName":"a/b"}}]}})";
    auto service = kube::parseObject(kube::fromJson(nlohmann::json::parse(text)), "", types);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(view.guard(std::move(*service)));
  }
  void put(const kube::GroupResource& type, const std::string& space, const std::string& name,
           const std::vector<std::string>& owners, bool terminating = false,
           std::vector<std::string> finalizers = {}) {
    kube::ObjectMeta meta;
    meta.namespaceName = space;
    meta.name = name;
    meta.uid = "uid-" + name;
    meta.finalizers = std::move(finalizers);
    if (terminating) meta.deletionTimestamp = 1;
    for (const std::string& owner : owners) {
      kube::OwnerReference reference;
      reference.apiVersion = owner == "w" ? "work.open-cluster-management.io/v1" : "v1";
      reference.kind = owner == "w" ? "AppliedManifestWork" : "Secret";
      reference.name = owner;
      reference.uid = "uid-" + owner;
      meta.ownerReferences.push_back(reference);
    }
    view.upsert(type, meta);
  }
  void putWork(bool terminating, std::vector<std::string> finalizers) {
    put(kKeptWorkType, "", "w", {}, terminating, std::move(finalizers));
  }
  // The work is being deleted, its agent is done, and lastout keeps it.
  void keepAlone() { putWork(true, {kOurs}); }
  void remove(const kube::GroupResource& type, const std::string& space, const std::string& name) {
    view.remove({type, space, name});
  }

  Keeping keeping() {
    const auto changes = keptWorksToChange({view, types, home}, refused);
    return changes.empty() ? Keeping::AsItIs : changes.front().keeping;
  }
  std::string forsaken() {
    const auto changes = keptWorksToChange({view, types, home}, refused);
    return changes.empty() || !changes.front().forsaken ? "" : changes.front().forsaken->uid;
  }
  std::vector<std::string> left() {
    std::vector<std::string> uids;
    for (const LeftBehind& one : leftBehindIn({view, types, home})) uids.push_back(one.deletion.uid);
    std::ranges::sort(uids);
    return uids;
  }

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  admission::ClusterView view{"", admission::Told::WhatIsWatched};
  std::string home;
  std::set<std::string> refused;
};

TEST_F(KeptWorksTest, BeginWithWhatIsGuarded) {
  putWork(false, {kAgents});
  EXPECT_EQ(keeping(), Keeping::Begins);
  putWork(false, {kAgents, kOurs});
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  putWork(true, {kAgents});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "it takes no new finalizer";
  putWork(false, {kAgents, kOurs});
  guard("Never");
  EXPECT_EQ(keeping(), Keeping::Ends);
}

TEST_F(KeptWorksTest, AreNotThoseThatBringLastout) {
  putWork(false, {kAgents});
  home = "n";
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  keepAlone();
  EXPECT_EQ(keeping(), Keeping::Ends);
  EXPECT_THAT(left(), IsEmpty());
  putWork(false, {kAgents});
  home = "lastout";
  put(kKeptSpaces, "", "lastout", {});
  put(kKeptDeployments, "lastout", "lastout", {"w"});
  EXPECT_EQ(keeping(), Keeping::AsItIs);
}

TEST_F(KeptWorksTest, EndWithTheLastOfWhatIsAwaited) {
  keepAlone();
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  EXPECT_THAT(left(), ElementsAre("uid-d", "uid-n"));
  remove(kKeptDeployments, "n", "d");
  remove(criticalservice::criticalServiceType(), "", "s");
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "a namespace is awaited whoever guards it";
  EXPECT_THAT(left(), ElementsAre("uid-n"));
  put(kKeptSpaces, "", "n", {"w"}, true, {"kubernetes"});
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  remove(kKeptSpaces, "", "n");
  EXPECT_EQ(keeping(), Keeping::Ends);
}

TEST_F(KeptWorksTest, AreAsTheyAreWhileProvidersMayBeThere) {
  putWork(false, {kAgents, kOurs});
  remove(kKeptSpaces, "", "n");
  remove(kKeptDeployments, "n", "d");
  for (const Knowledge unsure : {Knowledge::Unknown, Knowledge::Unserved}) {
    view.know(kKeptDeployments, unsure);
    EXPECT_EQ(keeping(), Keeping::AsItIs);
    EXPECT_THAT(keptWorksToChange({view, types, home, false}, refused), ::testing::SizeIs(1));
  }
  for (const Knowledge sure : {Knowledge::Forbidden, Knowledge::Stale}) {
    view.know(kKeptDeployments, sure);
    EXPECT_EQ(keeping(), Keeping::Ends) << "that may stay so, or what there was is known";
  }
}

// Whoever may create a Deployment may write a work's uid into it.
TEST_F(KeptWorksTest, AreNotHeldByWhatSomebodyElseHangsOnThem) {
  keepAlone();
  remove(kKeptDeployments, "n", "d");
  remove(kKeptSpaces, "", "n");
  put(kKeptDeployments, "elsewhere", "forged", {"w"}, true, {"mine/forever"});
  EXPECT_EQ(keeping(), Keeping::Ends);
}

TEST_F(KeptWorksTest, AreLetGoForWhatLastoutDoesNotDelete) {
  keepAlone();
  put(kKeptWidgets, "", "i", {"w"}, true, {"a/b"});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "it is being deleted";
  put(kKeptWidgets, "", "i", {"w"});
  EXPECT_EQ(keeping(), Keeping::Ends);
  EXPECT_EQ(forsaken(), "uid-i");
  putWork(true, {kAgents, kOurs});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "the agent is at it";
}

TEST_F(KeptWorksTest, AreLetGoForWhatLastoutCannotDelete) {
  keepAlone();
  refused.insert("uid-d");
  EXPECT_EQ(keeping(), Keeping::Ends);
  EXPECT_EQ(forsaken(), "uid-d");
}

TEST_F(KeptWorksTest, AreLetGoForWhatAnotherOwnerKeeps) {
  keepAlone();
  put(kKeptDeployments, "n", "d", {"w", "other"});
  EXPECT_EQ(keeping(), Keeping::Ends) << "nobody follows Secrets";
  put(kKeptSpaces, "", "n", {"w"}, true, {"kubernetes"});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "in a namespace that terminates everything goes";
}

TEST_F(KeptWorksTest, AreAllLetGoWhereNoneIsToBeKept) {
  putWork(false, {kAgents, kOurs});
  const auto changes = keptWorksToLetGo({view, types, home});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().keeping, Keeping::Ends);
  putWork(false, {kAgents});
  EXPECT_THAT(keptWorksToLetGo({view, types, home}), IsEmpty());
}

}  // namespace
}  // namespace lastout::server
