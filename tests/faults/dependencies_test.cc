// What a provider needs, and goes after it: denied while the provider is there, recorded, run.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/faults/works_test.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kInApp = "/api/v1/namespaces/app";
constexpr const char* kBound = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/acting";

// The provider's work brings a ServiceAccount, its binding, a Secret, a ConfigMap and a Service with it, and
// a Secret that nobody needs.
class DependenciesTest : public WorksTest {
 public:
  explicit DependenciesTest(size_t replicas = 1, Processes processes = Processes::OfBothRoles)
      : WorksTest(replicas, processes) {
    hasClaim = false;
  }

  static Json inApp(const char* kind, const std::string& name) {
    Json object = FaultWorld::named("v1", kind, name);
    object["metadata"]["namespace"] = "app";
    return object;
  }
  std::vector<Json> providersWork() override {
    std::vector<Json> work = WorksTest::providersWork();
    const auto provider =
        std::ranges::find(work, Json("Deployment"), [](const Json& one) { return one["kind"]; });
    Json& pod = (*provider)["spec"]["template"]["spec"];
    pod["serviceAccountName"] = "acts";
    pod["containers"][0]["envFrom"] =
        Json::array({{{"secretRef", {{"name", "key"}}}}, {{"configMapRef", {{"name", "settings"}}}}});
    Json front = inApp("Service", "front");
    front["spec"] = {{"selector", {{"app", "p"}}}, {"ports", {{{"port", 443}}}}};
    Json binding = FaultWorld::named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "acting");
    binding["roleRef"] = {
        {"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "view"}};
    binding["subjects"] = {{{"kind", "ServiceAccount"}, {"namespace", "app"}, {"name", "acts"}}};
    for (const Json& object : {inApp("ServiceAccount", "acts"), inApp("Secret", "key"),
                               inApp("ConfigMap", "settings"), front, binding, inApp("Secret", "unneeded")})
      work.push_back(object);
    return work;
  }
  static std::vector<std::string> needed() {
    return {kInApp + std::string("/serviceaccounts/acts"), kInApp + std::string("/secrets/key"),
            kInApp + std::string("/configmaps/settings"), kInApp + std::string("/services/front"), kBound};
  }
  std::vector<std::string> notThere() {
    std::vector<std::string> missing = needed();
    std::erase_if(missing, [&](const std::string& path) { return world.isThere(path); });
    return missing;
  }
  bool isRecorded(const std::string& name) {
    const std::vector<std::string> names = recorded();
    return std::ranges::find(names, name) != names.end();
  }
  // The provider's work is being deleted; all that the provider needs is denied, and recorded.
  void deferAll() {
    begin();
    deleteWork("provider");
    world.waitUntil("what it needs is recorded", [&] {
      return std::ranges::all_of(
          std::vector<std::string>{"provider", "acts", "acting", "key", "settings", "front"},
          [&](const std::string& name) { return isRecorded(name); });
    });
  }
  void expectThere() { EXPECT_THAT(notThere(), IsEmpty()) << world.logged(); }
  void expectNeededGone() {
    for (const std::string& path : needed())
      world.waitUntil("it is gone: " + path, [&] { return !world.isThere(path); });
  }
};

using Dependencies = OfEachForm<DependenciesTest>;
INSTANTIATE_TEST_SUITE_P(, Dependencies, kEachForm, formName);

TEST_P(Dependencies, GoAfterTheProvider) {
  begin();
  for (const std::string& path : needed()) world.expectRefused(path, HasSubstr("must stay"));
  for (const char* work : {"provider", "instance", "crd"}) deleteWork(work);
  world.waitUntil("the provider is gone", [&] {
    const std::vector<std::string> missing = notThere();
    const bool isThere = world.isThere(kFaultProvider);
    if (isThere) {
      EXPECT_THAT(missing, IsEmpty()) << world.logged();
    }
    return !isThere;
  });
  expectAllGone();
  expectNeededGone();
}

TEST_P(Dependencies, StayWhileTheProviderDoes) {
  deferAll();
  world.waitUntilCollected();
  expectThere();
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  world.waitUntil("what nobody needs is gone",
                  [&] { return !world.isThere(kInApp + std::string("/secrets/unneeded")); });
  clearTheWay();
  expectAllGone();
  expectNeededGone();
}

TEST_F(DependenciesTest, AreThoseThatAreNeededAlone) {
  begin();
  world.create(kInApp + std::string("/secrets"), FaultWorld::named("v1", "Secret", "other"));
  EXPECT_EQ(world.ask("DELETE", kInApp + std::string("/secrets/other")).status, 200);
  EXPECT_EQ(world.ask("DELETE", kInApp + std::string("/secrets/key")).status, 403);
}

TEST_P(Dependencies, AreRunByWhoComesLater) {
  deferAll();
  world.kill();
  world.serve();
  world.waitUntilReady();
  expectThere();
  clearTheWay();
  expectAllGone();
  expectNeededGone();
}

// Nobody tells any more what the provider needed; and neither the agent, nor the garbage collector, nor the
// namespace's end takes it.
TEST_F(DependenciesTest, AreRunByWhoComesAfterTheProviderWent) {
  holdsWork = true;
  deferAll();
  world.replica().api.set(
      {.forbidden = {"DELETE secrets", "DELETE serviceaccounts", "DELETE configmaps", "DELETE services",
                     "DELETE clusterrolebindings", "DELETE namespaces", "DELETE criticalservices"}});
  clearTheWay();
  world.waitUntil("the provider is gone", [&] { return !world.isThere(kFaultProvider); });
  expectThere();
  world.replica().kill();
  world.replica().api.set({.forbidden = {"DELETE namespaces"}});
  world.replica().serve();
  expectNeededGone();
  EXPECT_TRUE(world.isThere(kFaultNamespace));
  world.replica().api.calm();
  world.patch("/api/v1/namespaces/cluster1/configmaps/held", {{"metadata", {{"finalizers", nullptr}}}});
  expectAllGone();
}

// Who may write a status must not have lastout delete what Kubernetes would leave.
TEST_F(DependenciesTest, NothingThatIsWrittenByOthers) {
  begin();
  clearTheWay();
  world.deleteAll({kFaultProvider});
  world.create(kInApp + std::string("/secrets"), FaultWorld::named("v1", "Secret", "other"));
  const std::string other = kInApp + std::string("/secrets/other");
  const Json forged = {{"resource", "secrets"},  {"namespace", "app"},
                       {"name", "other"},        {"uid", world.get(other)["metadata"]["uid"]},
                       {"requestedBy", "agent"}, {"requestedAt", "2026-11-22T16:00:00Z"}};
  world.patch(kFaultService + std::string("/status"),
              {{"status", {{"deferredDeletions", Json::array({forged})}}}});
  world.waitUntil("it is forgotten", [&] { return recorded().empty(); });
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  EXPECT_TRUE(world.isThere(other));
}

template <class Base>
class WithoutDependencies : public Base {
  Json service() override {
    Json service = Base::service();
    service["spec"]["guard"]["dependencies"] = "None";
    return service;
  }
};

using NoDependenciesTest = WithoutDependencies<DependenciesTest>;

TEST_F(NoDependenciesTest, NothingIsGuardedWhereNoneIsWanted) {
  begin();
  for (const std::string& path : needed()) EXPECT_EQ(world.ask("DELETE", path).status, 200) << path;
  const Json webhooks = world.get(kFaultWebhook)["webhooks"];
  for (const Json& webhook : webhooks) {
    for (const char* needed : {"secrets", "configmaps", "services", "serviceaccounts"})
      EXPECT_NE(webhook["name"], needed + std::string(".lastout.dev"));
  }
  world.expectRefused(kFaultProvider, HasSubstr("must stay"));
}

// The provider converts CoolResources, of which one has no finalizer; its own criterion is about finalizers
// alone. (The embedded API server calls nobody for that: what is shown is that the provider stays.)
class ConversionTest : public DependenciesTest {
 public:
  using DependenciesTest::DependenciesTest;
  Json definition() override {
    Json definition = FaultWorld::definition();
    const Json front = {{"namespace", "app"}, {"name", "front"}, {"path", "/convert"}};
    definition["spec"]["conversion"] = {
        {"strategy", "Webhook"},
        {"webhook", {{"conversionReviewVersions", {"v1"}}, {"clientConfig", {{"service", front}}}}}};
    return definition;
  }
  Json service() override {
    Json service = FaultWorld::service();
    service["spec"]["criteria"].erase(1);
    return service;
  }
  // All that carries the finalizer is gone.
  void beginWithoutFinalizers() {
    begin();
    world.create(kFaultInstances, FaultWorld::named("my.crd.group/v1", "CoolResource", "plain"));
    deleteWork("instance");
    world.waitUntil("its own criterion holds",
                    [&] { return !world.isThere(kFaultInstances + std::string("/instance-0")); });
  }
  std::string waited() {
    const Json service = world.get(kFaultService);
    const Json* unmet = simulator::at(service, {"status", "unmetCriteria"});
    return unmet == nullptr ? "" : (*unmet)[0]["field"].get<std::string>();
  }
};

using Conversion = OfEachForm<ConversionTest>;
INSTANTIATE_TEST_SUITE_P(, Conversion, kEachForm, formName);

TEST_P(Conversion, KeepsTheProviderUntilNothingIsLeftToConvert) {
  beginWithoutFinalizers();
  world.expectRefused(
      kFaultProvider,
      HasSubstr("while coolresources.my.crd.group/plain exists, and the provider converts it"));
  world.expectRefused(kFaultNamespace, HasSubstr("the provider converts it"));
  world.waitUntil("the status says so", [&] { return waited() == "spec.guard.dependencies"; });
  deleteWork("provider");
  world.waitUntil("it is recorded", [&] { return isRecorded("provider"); });
  world.waitUntilCollected();
  EXPECT_TRUE(world.isThere(kFaultProvider));
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  deleteWork("crd");
  world.waitUntil("the provider is gone", [&] {
    const bool isThere = world.isThere(kFaultProvider);
    const bool isNeeded = world.isThere(kFaultInstances + std::string("/plain"));
    EXPECT_TRUE(isThere || !isNeeded) << world.logged();
    return !isThere;
  });
  expectAllGone();
  expectNeededGone();
}

// Its own criterion is about something else, which is not there.
class ConversionAloneTest : public ConversionTest {
  Json service() override {
    Json service = ConversionTest::service();
    const Json never = {{"resource", "configmaps"}, {"namespace", "app"}, {"name", "never-there"}};
    service["spec"]["criteria"] = Json::array({{{"type", "SpecificResource"}, {"specificResource", never}}});
    return service;
  }
};

// Without the right to list them, nobody knows whether any is left.
TEST_F(ConversionAloneTest, KeepsTheProviderWhileTheTypeMayNotBeListed) {
  world.replica().api.set({.forbidden = {"GET coolresources"}});
  begin();
  world.expectRefused(
      kFaultProvider,
      AllOf(HasSubstr("not known whether any coolresources.my.crd.group is left for the provider"),
            HasSubstr("grant lastout get, list and watch on coolresources.my.crd.group")));
  world.replica().api.calm();
  world.waitUntil("it is known", [&] {
    return world.refusalOf(kFaultProvider).find("instance-0 exists") != std::string::npos;
  });
}

using NoConversionTest = WithoutDependencies<ConversionTest>;

TEST_F(NoConversionTest, KeepsNobodyWhereNothingIsWanted) {
  beginWithoutFinalizers();
  world.waitUntil("the provider may go", [&] { return world.refusalOf(kFaultProvider).empty(); });
  EXPECT_TRUE(world.isThere(kFaultInstances + std::string("/plain")));
}

// The provider is guarded as ever, and with it what it names itself.
TEST_F(DependenciesTest, AreFoundWithoutTheRightToReadBindings) {
  world.replica().api.set({.forbidden = {"GET rolebindings"}});
  begin();
  const Json service = world.get(kFaultService);
  const Json& conditions = service["status"]["conditions"];
  const auto known =
      std::ranges::find(conditions, Json("DependenciesKnown"), [](const Json& one) { return one["type"]; });
  ASSERT_NE(known, conditions.end());
  EXPECT_EQ((*known)["status"], "False");
  EXPECT_EQ((*known)["reason"], "TypeForbidden");
  EXPECT_THAT(
      (*known)["message"].get<std::string>(),
      HasSubstr("rolebindings.rbac.authorization.k8s.io; the ClusterRole lastout-finds-dependencies"));
  EXPECT_THAT(world.logged(), HasSubstr("the ClusterRole lastout-finds-dependencies grants that"));
  world.expectRefused(kFaultProvider, HasSubstr("must stay"));
  world.expectRefused(kInApp + std::string("/secrets/key"), HasSubstr("must stay"));
}

// Its namespace, which would take the Secret with it, and the CriticalService, which records it, wait.
TEST_F(DependenciesTest, AreTriedAgainWhenTheyMayNotBeRead) {
  deferAll();
  world.replica().api.set({.forbidden = {"GET secrets"}});
  clearTheWay();
  world.waitUntil("it is told", [&] {
    return world.logged().find("secrets/app/key may go, and is not deleted yet") != std::string::npos;
  });
  EXPECT_THAT(world.logged(), HasSubstr("ClusterRole lastout-carries-out"));
  EXPECT_TRUE(world.isThere(kFaultNamespace));
  EXPECT_TRUE(world.isThere(kFaultService));
  world.replica().api.calm();
  expectAllGone();
  expectNeededGone();
}

// Whoever may not even read it does without it: the namespace takes it.
TEST_F(DependenciesTest, HoldNothingUpThatMayNeverBeRead) {
  deferAll();
  world.replica().api.set({.forbidden = {"GET secrets"}});
  clearTheWay();
  expectAllGone();
  expectNeededGone();
}

}  // namespace
}  // namespace lastout::testing
