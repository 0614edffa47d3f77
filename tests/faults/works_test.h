// WorksWorld: the story as three ManifestWorks in a FaultWorld, with a claim that the provider's Pods mount.
// WorksTest: the same, for a test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "control/kept_work_rule.h"
#include "kube/well_known.h"
#include "tests/faults/fault_world.h"

namespace lastout::testing {

inline constexpr const char* kWorks =
    "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
inline constexpr const char* kWorksNamespace = "/api/v1/namespaces/cluster1";
inline constexpr const char* kAppliedWorks = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks";
inline constexpr const char* kClaim = "/api/v1/namespaces/app/persistentvolumeclaims/data";

class WorksWorld {
 public:
  explicit WorksWorld(size_t replicas = 1, Processes processes = Processes::OfBothRoles, uint64_t seed = 1)
      : world(replicas, seed, processes) {}
  virtual ~WorksWorld() = default;
  WorksWorld(const WorksWorld&) = delete;
  WorksWorld& operator=(const WorksWorld&) = delete;

  void createWork(const std::string& name, const std::vector<simulator::Json>& manifests) {
    simulator::Json work = FaultWorld::named("work.open-cluster-management.io/v1", "ManifestWork", name);
    work["spec"] = {{"workload", {{"manifests", manifests}}}};
    world.create(kWorks, work);
  }
  virtual std::vector<simulator::Json> providersWork() {
    using simulator::Json;
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
  virtual simulator::Json service() { return FaultWorld::service(); }
  virtual simulator::Json definition() { return FaultWorld::definition(); }

  void begin() {
    world.serve();
    createWorks();
  }
  void createWorks() {
    if (!world.isThere(kWorksNamespace))
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
  // Of the AppliedManifestWork of the provider's work; none: it is not there.
  std::vector<std::string> finalizers() {
    const simulator::Json applied = world.get(kAppliedWorks + std::string("/cluster1-provider"));
    return applied.is_null() ? std::vector<std::string>()
                             : applied["metadata"].value("finalizers", std::vector<std::string>());
  }
  // lastout has seen that the provider's work owns something guarded.
  bool isKept() {
    const std::vector<std::string> all = finalizers();
    return std::ranges::find(all, kube::kAppliedObjectsFinalizer) != all.end();
  }
  void waitUntilKept() {
    world.waitUntil("the work is kept", [&] { return isKept(); });
  }
  // All that three clients ask for, who then ask again and again.
  static std::vector<std::string> workPaths() {
    std::vector<std::string> paths;
    for (const char* name : {"/provider", "/instance", "/crd"}) paths.push_back(kWorks + std::string(name));
    return paths;
  }
  void deleteWork(const std::string& name) {
    EXPECT_EQ(world.ask("DELETE", kWorks + ("/" + name)).status, 200);
  }
  bool isThere() { return world.isThere(std::string(kWorks) + "/provider"); }
  // Of the provider's work. From then on nothing comes back: what is there once the work is not, the work was
  // reported gone before.
  void expectGoneAfterAllThatItApplied() {
    world.waitUntil("the work is gone", [&] { return !isThere(); });
    for (const char* path : {kFaultProvider, kFaultNamespace, kFaultService, kClaim})
      EXPECT_FALSE(world.isThere(path)) << path << "\n" << world.logged();
  }
  // What lastout records, by the names of the objects.
  std::vector<std::string> recorded() {
    std::vector<std::string> names;
    const simulator::Json service = world.get(kFaultService);
    if (const simulator::Json* list = simulator::at(service, {"status", "deferredDeletions"})) {
      for (const simulator::Json& one : *list) names.push_back(one["name"]);
    }
    return names;
  }
  // The provider, its namespace, what guards it, and the claim that it needs.
  size_t deniedObjects() const { return hasClaim ? 4 : 3; }
  void waitUntilRecorded() {
    world.waitUntil("what was denied is recorded", [&] { return recorded().size() == deniedObjects(); });
  }
  // The provider's work is being deleted, and lastout has denied what it has to.
  void deferDeletions() {
    begin();
    deleteWork("provider");
    waitUntilRecorded();
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

// With roles apart there are two lastouts of each.
constexpr size_t replicasOf(Processes processes, size_t ofBothRoles) {
  return processes == Processes::OfBothRoles ? ofBothRoles : 2;
}

// The fixture, once with lastouts of both roles, as many as are named, and once with two of each role.
template <class Fixture, size_t kReplicas = 1>
class OfEachForm : public Fixture, public ::testing::WithParamInterface<Processes> {
 public:
  OfEachForm() : Fixture(replicasOf(GetParam(), kReplicas), GetParam()) {}

 private:
  static Processes GetParam() { return ::testing::WithParamInterface<Processes>::GetParam(); }
};

inline const auto kEachForm = ::testing::Values(Processes::OfBothRoles, Processes::OfOneRole);

inline std::string formName(const ::testing::TestParamInfo<Processes>& form) {
  return form.param == Processes::OfBothRoles ? "BothRolesInOne" : "RolesApart";
}

// The provider's Pods mount a claim of the same work, which so is never done while they run: story-deadlock.
class WorksTest : public ::testing::Test, public WorksWorld {
 public:
  using WorksWorld::WorksWorld;
  // Nobody's object was deleted by lastout but what it had denied to a controller, and that very one.
  ~WorksTest() override {
    EXPECT_EQ(world.judge.complaints(), "") << world.logged();
    for (const auto& [uid, path] : world.deletedByLastout())
      EXPECT_THAT(world.deferredDeletions(), ::testing::Contains(uid)) << path << "\n" << world.logged();
  }
};

}  // namespace lastout::testing
