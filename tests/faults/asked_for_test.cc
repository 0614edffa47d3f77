// lastout deletes nothing that nobody else has asked to delete: over works of chance, with people, faults and
// namesakes in between. And what was asked for is gone in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "tests/faults/fault_world.h"
#include "tests/faults/works_test.h"
#include "tests/properties/dice.h"
#include "tests/support/seed.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::IsEmpty;

constexpr int kRounds = 5;
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/app/deployments";
constexpr const char* kServices = "/apis/lastout.dev/v1alpha1/criticalservices";
constexpr const char* kMaps = "/api/v1/namespaces/app/configmaps";

// An object, and where it is created.
struct Thing {
  std::string collection;
  Json object;
  std::string path() const { return collection + "/" + object["metadata"]["name"].get<std::string>(); }
};

Json inApp(Json object) {
  object["metadata"]["namespace"] = "app";
  return object;
}

// Another provider in the namespace, which goes after the ConfigMap `held`.
Json secondProvider() {
  Json second = inApp(FaultWorld::provider());
  second["metadata"]["name"] = "second";
  return second;
}
Json secondService() {
  Json second = FaultWorld::service();
  second["metadata"]["name"] = "second";
  second["spec"]["provider"]["name"] = "second";
  const Json held = {{"group", ""}, {"resource", "configmaps"}, {"namespace", "cluster1"}, {"name", "held"}};
  second["spec"]["criteria"] = Json::array({{{"type", "SpecificResource"}, {"specificResource", held}}});
  return second;
}
// Its Pods mount a claim, which so is never done while they run.
Json firstProvider() {
  Json first = inApp(FaultWorld::provider());
  first["spec"]["template"]["spec"]["volumes"] =
      Json::array({{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data"}}}}});
  return first;
}
Json claim() {
  Json claim = inApp(FaultWorld::named("v1", "PersistentVolumeClaim", "data"));
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  return claim;
}
Json held() {
  Json held = FaultWorld::named("v1", "ConfigMap", "held");
  held["metadata"]["namespace"] = "cluster1";
  return held;
}

class WorksOfChance {
 public:
  explicit WorksOfChance(uint32_t seed) : dice_(seed), world_(1, seed) {
    world_.personsCount = dice_.oneIn(2);
    world_.replica().serve();
    world_.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "cluster1"));
  }

  void round() {
    begin();
    deleteInSomeOrder();
    finish();
    EXPECT_THAT(world_.unasked(), IsEmpty()) << world_.logged();
    EXPECT_EQ(world_.judge.complaints(), "") << world_.logged();
  }

  size_t deletedByLastout() { return world_.deletedByLastout().size(); }

 private:
  // The CRD comes by itself: the agent of the embedded cluster applies nothing of a type that is not there.
  void begin() {
    chooseThings();
    world_.createDefinition();
    const size_t works = 1 + dice_.below(4);
    std::vector<std::vector<Json>> manifests(works);
    manifests[dice_.below(static_cast<uint32_t>(works))].push_back(FaultWorld::definition());
    loose_.clear();
    for (const Thing& thing : things_) {
      // The first is the namespace that others need.
      if (dice_.oneIn(5)) {
        loose_.push_back(thing);
        continue;
      }
      const uint32_t first = dice_.below(static_cast<uint32_t>(works));
      const uint32_t second = dice_.below(static_cast<uint32_t>(works));
      manifests[first].push_back(thing.object);
      if (first != second && dice_.oneIn(4)) manifests[second].push_back(thing.object);
    }
    works_.clear();
    for (const std::vector<Json>& some : manifests) {
      if (some.empty()) continue;
      works_.push_back("work-" + std::to_string(works_.size()));
      Json work = FaultWorld::named("work.open-cluster-management.io/v1", "ManifestWork", works_.back());
      work["spec"] = {{"workload", {{"manifests", some}}}};
      world_.create(kWorks, work);
    }
    for (const Thing& thing : loose_) world_.create(thing.collection, thing.object);
    waitUntilReady();
    if (dice_.oneIn(3)) addOwner();
  }

  void chooseThings() {
    const auto service = [this](Json object) {
      const std::string deferral = dice_.pick<std::string>({"", "Controllers", "Always", "Always", "Never"});
      if (!deferral.empty()) object["spec"]["deferredDeletions"] = deferral;
      isForgotten_ = isForgotten_ || deferral == "Never";
      return Thing{kServices, std::move(object)};
    };
    isForgotten_ = false;
    things_ = {{"/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app")},
               {"/api/v1/namespaces/app/persistentvolumeclaims", claim()},
               {kDeployments, firstProvider()},
               {kDeployments, secondProvider()},
               {"/api/v1/namespaces/cluster1/configmaps", held()},
               service(FaultWorld::service()),
               service(secondService())};
    for (uint32_t i = 0; i <= dice_.below(3); ++i)
      things_.push_back({kFaultInstances, FaultWorld::instance("instance-" + std::to_string(i))});
  }

  void waitUntilReady() {
    for (const Thing& thing : things_)
      world_.waitUntil("it is there: " + thing.path(), [&] { return world_.isThere(thing.path()); });
    world_.waitUntilGuarded();
    world_.waitUntil("the second service is enforced", [this] {
      const Json conditions = world_.get(std::string(kServices) + "/second")
                                  .value("/status/conditions"_json_pointer, Json::array());
      return std::ranges::any_of(conditions, [](const Json& condition) {
        return condition["type"] == "Enforced" && condition["status"] == "True";
      });
    });
  }

  // Somebody else owns a provider as well, and stays for a while.
  void addOwner() {
    world_.create(kMaps, FaultWorld::named("v1", "ConfigMap", "holder"));
    const Json uid = world_.get(std::string(kMaps) + "/holder")["metadata"]["uid"];
    Json references = world_.get(kFaultProvider)["metadata"].value("ownerReferences", Json::array());
    references.push_back({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "holder"}, {"uid", uid}});
    world_.patch(kFaultProvider, {{"metadata", {{"ownerReferences", references}}}});
  }

  void deleteInSomeOrder() {
    for (size_t i = works_.size(); i > 1; --i)
      std::swap(works_[i - 1], works_[dice_.below(static_cast<uint32_t>(i))]);
    const size_t kept = dice_.oneIn(3) ? works_.size() - 1 : works_.size();
    for (size_t i = 0; i < kept; ++i) {
      while (dice_.oneIn(2)) trouble();
      world_.ask("DELETE", std::string(kWorks) + "/" + works_[i]);
    }
    for (int i = 0; i < 4; ++i) trouble();
  }

  // A person's DELETE, once, of anything; another object of its name; lastout is killed; its watches end.
  void trouble() {
    const Thing& thing = things_[dice_.below(static_cast<uint32_t>(things_.size()))];
    const std::string how = dice_.pick<std::string>(
        {"", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan", "?dryRun=All"});
    switch (dice_.below(5)) {
      case 0:
      case 1:
        world_.ask("DELETE", thing.path() + how);
        break;
      case 2:
        world_.ask("DELETE", thing.path() + how);
        if (world_.ask("POST", thing.collection, thing.object).status == 201) loose_.push_back(thing);
        break;
      case 3:
        world_.replica().kill();
        world_.replica().serve();
        isForgotten_ = true;
        break;
      default:
        world_.replica().api.cutWatches(static_cast<int>(dice_.below(4)), WatchEnd::Expired);
    }
  }

  // Everything is asked for: what works have once, with them; the rest until it is gone.
  void finish() {
    for (const std::string& work : works_) world_.ask("DELETE", std::string(kWorks) + "/" + work);
    std::vector<std::string> byHand = {std::string(kMaps) + "/holder"};
    for (const Thing& thing : isForgotten_ ? things_ : loose_) byHand.push_back(thing.path());
    if (isForgotten_) byHand.push_back(kFaultCrd);
    world_.deleteAll(byHand);
    world_.waitUntil("the works are gone", [this] {
      return world_.get(kWorks)["items"].empty() && world_.get(kAppliedWorks)["items"].empty();
    });
    for (const Thing& thing : things_)
      world_.waitUntil("it is gone: " + thing.path(), [&] { return !world_.isThere(thing.path()); });
    world_.waitUntil("its type is gone", [this] { return !world_.isThere(kFaultCrd); });
  }

  Dice dice_;
  FaultWorld world_;
  std::vector<Thing> things_;  // of this round, as what follows; without the CRD
  std::vector<Thing> loose_;   // in no work, or created anew
  std::vector<std::string> works_;
  // A CriticalService wants nothing run, or a controller may have been denied what nobody was there
  // to record, or could tell who guards it: then it takes people who ask again.
  bool isForgotten_ = false;
};

TEST(AskedFor, NothingElseIsDeletedAndAllOfItEnds) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  WorksOfChance works(seed);
  for (int i = 0; i < kRounds && !::testing::Test::HasFailure(); ++i) works.round();
  std::cout << "seed " << seed << ": " << works.deletedByLastout() << " deletions run\n";
}

}  // namespace
}  // namespace lastout::testing
