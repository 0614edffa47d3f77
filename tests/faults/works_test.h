// WorksTest: the story as three ManifestWorks in a FaultWorld, with a claim that the provider's Pods mount.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/faults/fault_world.h"

namespace lastout::testing {

inline constexpr const char* kWorks =
    "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
inline constexpr const char* kAppliedWorks = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks";
inline constexpr const char* kClaim = "/api/v1/namespaces/app/persistentvolumeclaims/data";

// The provider's Pods mount a claim of the same work, which so is never done while they run: story-deadlock.
class WorksTest : public ::testing::Test {
 public:
  explicit WorksTest(size_t replicas = 1, Processes processes = Processes::OfBothRoles)
      : world(replicas, 1, processes) {}
  // Nobody's object was deleted by lastout but what it had denied to a controller, and that very one.
  ~WorksTest() override {
    EXPECT_EQ(world.judge.complaints(), "") << world.logged();
    for (const auto& [uid, path] : world.deletedByLastout())
      EXPECT_THAT(world.deferredDeletions(), ::testing::Contains(uid)) << path << "\n" << world.logged();
  }

  void createWork(const std::string& name, const std::vector<apiserver::Json>& manifests) {
    apiserver::Json work = FaultWorld::named("work.open-cluster-management.io/v1", "ManifestWork", name);
    work["spec"] = {{"workload", {{"manifests", manifests}}}};
    world.create(kWorks, work);
  }
  virtual std::vector<apiserver::Json> providersWork() {
    using apiserver::Json;
    Json deployment = FaultWorld::provider();
    deployment["metadata"]["namespace"] = "app";
    std::vector<Json> work{FaultWorld::named("v1", "Namespace", "app"), service()};
    if (hasClaim) {
      Json& pod = deployment["spec"]["template"]["spec"];
      pod["volumes"] = Json::array({{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data"}}}}});
      Json claim = FaultWorld::named("v1", "PersistentVolumeClaim", "data");
      claim["metadata"]["namespace"] = "app";
      claim["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                       {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
      work.push_back(claim);
    }
    work.push_back(deployment);
    if (holdsWork) {
      work.push_back(FaultWorld::named("v1", "ConfigMap", "held"));
      work.back()["metadata"] = {{"name", "held"}, {"namespace", "cluster1"}, {"finalizers", {"f.x/held"}}};
    }
    return work;
  }
  virtual apiserver::Json service() { return FaultWorld::service(); }
  virtual apiserver::Json definition() { return FaultWorld::definition(); }

  void begin() {
    world.replica().serve();
    createWorks();
  }
  void createWorks() {
    world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "cluster1"));
    createWork("crd", {definition()});
    createWork("provider", providersWork());
    world.waitUntil("the type is there", [&] { return world.isThere(kFaultInstances); });
    createWork("instance", {FaultWorld::instance("instance-0")});
    world.waitUntil("the works are applied", [&] {
      return world.isThere(kFaultProvider) && world.isThere(kFaultInstances + std::string("/instance-0")) &&
             world.isThere(kFaultService) && (!hasClaim || world.isThere(kClaim));
    });
    world.waitUntilGuarded();
  }
  void deleteWork(const std::string& name) {
    EXPECT_EQ(world.ask("DELETE", kWorks + ("/" + name)).status, 200);
  }
  // What lastout remembers, by the names of the objects.
  std::vector<std::string> remembered() {
    std::vector<std::string> names;
    const apiserver::Json service = world.get(kFaultService);
    if (const apiserver::Json* list = apiserver::at(service, {"status", "deferredDeletions"})) {
      for (const apiserver::Json& one : *list) names.push_back(one["name"]);
    }
    return names;
  }
  // The provider, its namespace, what guards it, and the claim that it needs.
  size_t deniedObjects() const { return hasClaim ? 4 : 3; }
  void waitUntilRemembered() {
    world.waitUntil("what was denied is remembered", [&] { return remembered().size() == deniedObjects(); });
  }
  // The provider's work is being deleted, and lastout has denied what it has to.
  void deferDeletions() {
    begin();
    deleteWork("provider");
    waitUntilRemembered();
  }
  void clearTheWay() {
    deleteWork("instance");
    deleteWork("crd");
    world.waitUntil("the way is clear", [&] {
      return !world.isThere(kFaultCrd) && !world.isThere(kFaultInstances + std::string("/instance-0"));
    });
  }
  void expectAllGone() {
    for (const char* path : {kFaultProvider, kFaultService, kFaultNamespace, kFaultCrd})
      world.waitUntil(std::string("it is gone: ") + path, [&] { return !world.isThere(path); });
    world.waitUntil("the works are gone", [&] {
      return world.get(kWorks)["items"].empty() && world.get(kAppliedWorks)["items"].empty();
    });
  }

  FaultWorld world;
  bool hasClaim = true;    // the provider's Pods mount one of the same work
  bool holdsWork = false;  // something else in the provider's work is never finished
};

}  // namespace lastout::testing
