// Which works are kept, by a view that a test fills.
#include "server/controllers/work_finalizer_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "admission/delete_when_free.h"
#include "criticalservice/critical_service.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "server/controllers/deferred_deletion_entries.h"

namespace lastout::server {
namespace {

using control::Keeping;
using graph::Knowledge;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const kube::GroupResource kKeptWorkType{"work.open-cluster-management.io", "appliedmanifestworks"};
const kube::GroupResource kKeptDeployments{"apps", "deployments"};
const kube::GroupResource kKeptSpaces{"", "namespaces"};
const kube::GroupResource kKeptWidgets{"example.com", "widgets"};
const std::string kAgents = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
const std::string kOurs(kube::kAppliedObjectsFinalizer);

// A work "w" that has applied a namespace, the provider in it, and what guards that.
class KeptWorksTest : public ::testing::Test {
 public:
  KeptWorksTest() {
    guard("Controllers");
    for (const auto& type : {criticalservice::criticalServiceType(), kube::kCustomResourceDefinitions,
                             kKeptSpaces, kKeptDeployments, kKeptWidgets, kKeptWorkType})
      view.know(type, Knowledge::Synced);
    using Finder = criticalservice::DependencyFinder;
    for (const auto* types : {&Finder::types(), &Finder::neededTypes()}) {
      for (const kube::GroupResource& type : *types) view.know(type, Knowledge::Synced);
    }
    view.know({"apps", "replicasets"}, Knowledge::Synced);
    put(kKeptSpaces, "", "n", {"w"});
    put(kKeptDeployments, "n", "d", {"w"});
  }

  // `status`: JSON.
  void guard(const std::string& deferral, const std::string& status = "{}") {
    const std::string text =
        R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService",
      "metadata":{"name":"s"},"status":)" +
        status + R"(,"spec":{"deferredDeletions":")" + deferral +
        R"(","provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},
      "criteria":[{"type":"Finalizer","finalizer":
        {"group":"example.com","resource":"widgets","finalizerName":"a/b"}}]}})";
    auto service = kube::parseObject(kube::fromJson(nlohmann::json::parse(text)), "", types);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(view.guard(std::move(*service)));
  }
  static kube::ObjectMeta metaOf(const std::string& space, const std::string& name,
                                 const std::vector<std::string>& owners) {
    kube::ObjectMeta meta;
    meta.namespaceName = space;
    meta.name = name;
    meta.uid = "uid-" + name;
    for (const std::string& owner : owners) {
      kube::OwnerReference reference;
      reference.apiVersion = owner == "w" ? "work.open-cluster-management.io/v1" : "v1";
      reference.kind = owner == "w" ? "AppliedManifestWork" : "Secret";
      reference.name = owner;
      reference.uid = "uid-" + owner;
      meta.ownerReferences.push_back(reference);
    }
    return meta;
  }
  void put(const kube::GroupResource& type, const std::string& space, const std::string& name,
           const std::vector<std::string>& owners, bool terminating = false,
           std::vector<std::string> finalizers = {}) {
    kube::ObjectMeta meta = metaOf(space, name, owners);
    meta.finalizers = std::move(finalizers);
    if (terminating) meta.deletionTimestamp = 1;
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

  Keeping keeping(const PersonsDeletions& persons = {}) {
    const auto changes = keptWorksToChange({view, types, home, recorded}, refused,
                                           typeInDoubt(view).has_value(), awaited, persons);
    return changes.empty() ? Keeping::AsItIs : changes.front().keeping;
  }
  std::string forsaken() {
    const auto changes =
        keptWorksToChange({view, types, home, recorded}, refused, typeInDoubt(view).has_value(), awaited);
    return changes.empty() || !changes.front().forsaken ? "" : changes.front().forsaken->uid;
  }
  std::vector<std::string> left() {
    std::vector<std::string> uids;
    for (const DeferredDeletionOfWork& one : deferredDeletionsOf({view, types, home, recorded}))
      uids.push_back(one.deletion.uid);
    std::ranges::sort(uids);
    return uids;
  }

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  admission::ClusterView view{"", admission::ViewScope::WhatIsWatched};
  std::string home;
  RecordedObjects recorded;
  std::set<std::string> refused;
  AwaitedObjects awaited;  // by looks before
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

// Pods still mount a claim that is being deleted; what has guarded it is gone.
// The binding that named the role is gone, and the provider not yet.
TEST_F(KeptWorksTest, ARoleThatTheProviderMayHaveNeededIsKeptInMind) {
  guard("Controllers",
        R"({"deferredDeletions": [{"group": "rbac.authorization.k8s.io", "resource": "clusterroles",
      "name": "r", "uid": "u", "requestedBy": "system:kube-controller-manager", "owners": ["uid-w"],
      "requestedAt": "2026-11-22T16:00:00Z"}]})");
  const auto entry = [this] {
    const auto entries = deferredDeletionEntriesIn({view, types, home, recorded}, {});
    return entries.empty() ? DeferredDeletionEntry() : entries[0];
  };
  EXPECT_FALSE(entry().isRevoked) << "it is not to be forgotten";
  EXPECT_FALSE(entry().isWanted);
  remove(kKeptDeployments, "n", "d");
  EXPECT_TRUE(entry().isWanted);
  EXPECT_TRUE(entry().neededBy);
}

// Its agent has asked for all of it, and strikes off what it was denied.
TEST_F(KeptWorksTest, LeaveBehindWhatTheirAgentHasForgotten) {
  putWork(true, {kAgents, kOurs});
  EXPECT_THAT(left(), IsEmpty()) << "nobody knows what its status says";
  recorded["w"] = {{kKeptDeployments, "n", "d"}, {kKeptSpaces, "", "n"}};
  EXPECT_THAT(left(), IsEmpty());
  recorded["w"].pop_back();
  EXPECT_THAT(left(), ElementsAre("uid-n"));
  putWork(true, {kAgents});
  EXPECT_THAT(left(), IsEmpty()) << "it is not kept";
  putWork(false, {kAgents, kOurs});
  EXPECT_THAT(left(), IsEmpty()) << "it is not being deleted";
}

TEST_F(KeptWorksTest, AwaitUntilItIsGoneWhatTheyWereSeenToAwait) {
  const kube::GroupResource claims{"", "persistentvolumeclaims"};
  keepAlone();
  remove(kKeptSpaces, "", "n");
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  put(kKeptDeployments, "n", "d", {"w"}, true, {"somebody/holds"});
  put(claims, "n", "never-guarded", {"w"}, true, {"mine/forever"});
  remove(criticalservice::criticalServiceType(), "", "s");
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  remove(kKeptDeployments, "n", "d");
  EXPECT_EQ(keeping(), Keeping::Ends);
}

TEST_F(KeptWorksTest, AreAsTheyAreWhileProvidersMayBeThere) {
  putWork(false, {kAgents, kOurs});
  remove(kKeptSpaces, "", "n");
  remove(kKeptDeployments, "n", "d");
  for (const Knowledge unsure : {Knowledge::Unknown, Knowledge::Unserved}) {
    view.know(kKeptDeployments, unsure);
    EXPECT_EQ(keeping(), Keeping::AsItIs);
    EXPECT_THAT(keptWorksToChange({view, types, home, recorded}, refused, false, awaited),
                ::testing::SizeIs(1));
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

// docs/concepts.md, "Kept works": a person's deletion of a guarded object counts, whoever owns it.
TEST_F(KeptWorksTest, AreKeptForWhatAPersonWantsDeletedWhoeverOwnsIt) {
  const auto askedForBy = [](const std::string& user, const std::string& object) {
    return R"({"deferredDeletions":[{"group":"apps","resource":"deployments","namespace":"n","name":")" +
           object + R"(","uid":"uid-)" + object + R"(","requestedBy":")" + user +
           R"(","requestedAt":"2026-11-22T16:00:00Z","owners":["uid-w","uid-other"]}]})";
  };
  const PersonsDeletions janeCounts{[](const std::string& user) { return user == "jane"; }, {}};
  keepAlone();
  put(kKeptDeployments, "n", "d", {"w", "other"});
  guard("Always", askedForBy("jane", "d"));
  EXPECT_EQ(keeping(janeCounts), Keeping::AsItIs);
  EXPECT_EQ(keeping(), Keeping::Ends) << "no review proves who asked";
  guard("Always", askedForBy("joe", "d"));
  EXPECT_EQ(keeping(janeCounts), Keeping::Ends);
  guard("Controllers", askedForBy("jane", "d"));
  EXPECT_EQ(keeping(janeCounts), Keeping::Ends) << "persons ask again";
  put(kKeptDeployments, "n", "d", {"w"});
  put(kKeptDeployments, "n", "e", {"w", "other"});
  guard("Always", askedForBy("jane", "e"));
  EXPECT_EQ(keeping(janeCounts), Keeping::Ends) << "nobody guards it: the entry was written by somebody else";
}

// docs/concepts.md, "Kept works": so does a deletion by annotation, while that counts.
TEST_F(KeptWorksTest, AreKeptForWhatAnAnnotationAsksForWhoeverOwnsIt) {
  using std::chrono::sys_days;
  const PersonsDeletions counting{{}, {true, sys_days{std::chrono::year{2026} / 11 / 21}}};
  keepAlone();
  const auto annotate = [&](const std::string& value) {
    kube::ObjectMeta meta = metaOf("n", "d", {"w", "other"});
    meta.annotations[std::string(admission::kDeleteWhenFree)] = value;
    view.upsert(kKeptDeployments, meta);
  };
  annotate("uid-d 2026-11-22T00:00:00Z");
  EXPECT_EQ(keeping(counting), Keeping::AsItIs);
  EXPECT_EQ(keeping(), Keeping::Ends) << "API servers let anybody set annotations";
  guard("Never");
  EXPECT_EQ(keeping(counting), Keeping::Ends) << "nothing is deferred";
  guard("Controllers");
  for (const char* const value : {"uid-d 2026-11-20T00:00:00Z", "uid-e 2026-11-22T00:00:00Z", "yes"}) {
    annotate(value);
    EXPECT_EQ(keeping(counting), Keeping::Ends) << value;
  }
}

// A Secret that the provider needs: nobody follows those, so that it is there as long as its deletion is
// recorded.
TEST_F(KeptWorksTest, AwaitWhatNobodySeesAsLongAsItIsRecorded) {
  const auto recording = [](const std::string& resource, const std::string& owner) {
    return R"({"deferredDeletions":[{"resource":")" + resource +
           R"(","namespace":"n","name":"key","uid":"uid-key",
      "requestedBy":"a","requestedAt":"2026-11-22T16:00:00Z","owners":[")" +
           owner + R"("]}]})";
  };
  keepAlone();
  remove(kKeptDeployments, "n", "d");
  remove(kKeptSpaces, "", "n");
  guard("Controllers", recording("secrets", "uid-w"));
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  refused.insert("uid-key");
  EXPECT_EQ(keeping(), Keeping::Ends) << "lastout cannot delete it";
  refused.clear();
  guard("Never", recording("secrets", "uid-w"));
  EXPECT_EQ(keeping(), Keeping::Ends) << "lastout will not";
  guard("Controllers", recording("secrets", "uid-of-another"));
  EXPECT_EQ(keeping(), Keeping::Ends);
  guard("Controllers", recording("serviceaccounts", "uid-w"));
  view.know({"", "serviceaccounts"}, Knowledge::Synced);
  EXPECT_EQ(keeping(), Keeping::Ends) << "of a type that is followed it is seen to be gone";
  guard("Controllers");
  EXPECT_EQ(keeping(), Keeping::Ends);
}

// Whoever comes after the provider is gone does not know what it needed, but what is recorded.
TEST_F(KeptWorksTest, AwaitWhatAProviderNeededThatIsGone) {
  const kube::GroupResource accounts{"", "serviceaccounts"};
  keepAlone();
  remove(kKeptDeployments, "n", "d");
  remove(kKeptSpaces, "", "n");
  view.know(accounts, Knowledge::Synced);
  put(accounts, "n", "key", {"w"});
  EXPECT_EQ(keeping(), Keeping::Ends);
  guard("Controllers",
        R"({"deferredDeletions":[{"resource":"serviceaccounts","namespace":"n","name":"key","uid":"uid-key",
      "requestedBy":"a","requestedAt":"2026-11-22T16:00:00Z","owners":["uid-w"]}]})");
  EXPECT_EQ(keeping(), Keeping::AsItIs);
  EXPECT_THAT(left(), ElementsAre("uid-key"));
}

TEST_F(KeptWorksTest, AreAllLetGoWhereNoneIsToBeKept) {
  putWork(false, {kAgents, kOurs});
  const auto changes = keptWorksToLetGo({view, types, home, recorded});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().keeping, Keeping::Ends);
  putWork(false, {kAgents});
  EXPECT_THAT(keptWorksToLetGo({view, types, home, recorded}), IsEmpty());
}

// A Secret that a provider needs, and that nobody follows.
TEST_F(KeptWorksTest, AreKeptForWhatTheirRecordLists) {
  const kube::ObjectKey secret{{"", "secrets"}, "n", "certs"};
  const auto guardWith = [&](const std::string& dependencies) {
    guard("Controllers");
    kube::Object service = view.toldServices().at("s");
    service.content = kube::fromJson(nlohmann::json::parse(
        R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService","metadata":{"name":"s"},"spec":
          {"guard":{"dependencies":)" +
        dependencies + R"(},"provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},
          "criteria":[{"type":"SpecificResource","specificResource":{"resource":"nodes","name":"x"}}]}})"));
    ASSERT_TRUE(view.guard(std::move(service)));
  };
  guardWith(R"([{"resource":"secrets","namespace":"n","name":"certs"}])");
  put(kKeptSpaces, "", "n", {});
  put(kKeptDeployments, "n", "d", {});
  putWork(false, {});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "it has applied nothing";
  recorded["w"] = {{{"", "secrets"}, "n", "other"}};
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "nobody needs that";
  recorded["w"].push_back(secret);
  EXPECT_EQ(keeping(), Keeping::Begins);
  putWork(true, {kOurs, "agent"});
  EXPECT_EQ(keeping(), Keeping::AsItIs) << "its agent has not asked yet";
  recorded.clear();
  EXPECT_EQ(keeping(), Keeping::Ends);
  recorded["w"] = {secret};
  guardWith(R"("None")");
  EXPECT_EQ(keeping(), Keeping::Ends);
}

}  // namespace
}  // namespace lastout::server
