// What is told of changes that nobody refuses, and by which a provider loses what it needs or what guards it.
#include "admission/weakening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "tests/support/manifests.h"

namespace lastout::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kCriterion =
    "{type: SpecificResource, specificResource: {resource: configmaps, namespace: n, name: c}}";

std::string guarding(const std::string& more = "", const std::string& criteria = kCriterion,
                     const std::string& provider = "manager") {
  return "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: guard, uid: g}\nspec:\n"
         "  provider: {group: apps, resource: deployments, namespace: run, name: " +
         provider + "}\n  criteria: [" + criteria + "]\n" + more;
}

std::string runningAs(const std::string& account, const std::string& secret = "certs") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: run}\n"
         "spec: {template: {metadata: {labels: {app: manager}}, spec: {serviceAccountName: " +
         account + ", containers: [{name: main}], volumes: [{name: v, secret: {secretName: " + secret +
         "}}]}}}\n";
}

std::string bindingOf(const std::string& subjects) {
  return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: bound}\n"
         "roleRef: {kind: ClusterRole, name: role}\nsubjects: [" +
         subjects + "]\n";
}

std::string roleOf(const std::string& rules, const std::string& kind = "ClusterRole",
                   const std::string& name = "role") {
  return "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name +
         (kind == "Role" ? ", namespace: run" : "") + "}\nrules: [" + rules + "]\n";
}

std::string frontOf(const std::string& selector) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: run}\nspec: {selector: {" +
         selector + "}}\n";
}

const std::string kSubject = "{kind: ServiceAccount, name: acts, namespace: run}";
const std::string kReading = "{apiGroups: [''], resources: [pods, secrets], verbs: [get, list]}";
const std::string kBlocking = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n";

class WeakeningTest : public ::testing::Test {
 public:
  WeakeningTest() {
    view.observe([this](const Weakening& one) {
      EXPECT_EQ(one.service + " " + one.serviceUid, "guard g");
      news.push_back(std::string(toString(one.kind)) + ": " + kube::toString(one.changed) + ": " +
                     one.message);
    });
    guard(guarding());
    for (const std::string& object :
         {kBlocking, runningAs("acts"), bindingOf(kSubject), roleOf(kReading), frontOf("app: manager")})
      tell(object);
    EXPECT_THAT(news, IsEmpty()) << "all of this is new";
  }
  void tell(const std::string& yaml) { view.tell(testing::object(yaml)); }
  void guard(const std::string& yaml) { ASSERT_TRUE(view.guard(testing::object(yaml))); }

  std::vector<std::string> news;
  ClusterView view;
};

constexpr const char* kRoleChanged =
    "dependency: clusterroles.rbac.authorization.k8s.io/role: it allows less than before "
    "(role of its ServiceAccount)";

TEST_F(WeakeningTest, IsToldOfSubjectsThatAreTakenAway) {
  tell(bindingOf(""));
  EXPECT_THAT(
      news, ElementsAre("dependency: clusterrolebindings.rbac.authorization.k8s.io/bound: the provider is "
                        "not seen to need clusterrolebindings.rbac.authorization.k8s.io/bound and "
                        "clusterroles.rbac.authorization.k8s.io/role any more, so that nothing guards them"));
  tell(bindingOf(""));
  EXPECT_THAT(news, SizeIs(1)) << "it is told once";
}

TEST_F(WeakeningTest, IsToldOfAServiceThatSelectsOthers) {
  tell(frontOf("app: other"));
  EXPECT_THAT(news, ElementsAre("dependency: services/run/front: the provider is not seen to need "
                                "services/run/front any more, so that nothing guards it"));
}

TEST_F(WeakeningTest, IsToldOfAnAccountThatIsSwapped) {
  tell(runningAs("other"));
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(news[0], HasSubstr("dependency: deployments.apps/run/manager: "));
  EXPECT_THAT(news[0], HasSubstr("serviceaccounts/run/acts"));
}

TEST_F(WeakeningTest, IsToldOfRulesThatAllowLess) {
  tell(roleOf(kReading));
  tell(roleOf("{apiGroups: ['', apps], resources: ['*'], verbs: [get, list, watch]}"));
  EXPECT_THAT(news, IsEmpty());
  tell(roleOf("{apiGroups: ['', apps], resources: ['*'], verbs: [get, list]}"));
  EXPECT_THAT(news, ElementsAre(kRoleChanged));
  tell(roleOf(""));
  EXPECT_THAT(news, ElementsAre(kRoleChanged, kRoleChanged));
  tell(roleOf(kReading, "ClusterRole", "of-nobody"));
  tell(roleOf("", "ClusterRole", "of-nobody"));
  EXPECT_THAT(news, SizeIs(2)) << "nobody is bound to it";
}

TEST_F(WeakeningTest, IsToldOfARolesRules) {
  tell(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: near, namespace: run}\n"
      "roleRef: {kind: Role, name: near}\nsubjects: [" +
      kSubject + "]\n");
  tell(roleOf(kReading, "Role", "near"));
  EXPECT_THAT(news, IsEmpty());
  tell(roleOf("{apiGroups: [''], resources: [pods], verbs: [get, list]}", "Role", "near"));
  EXPECT_THAT(news, SizeIs(1));
}

// Left behind is nothing: the API is reached otherwise, and objects may stay unconverted.
TEST_F(WeakeningTest, IsToldOfWhatIsPointedElsewhere) {
  const auto api = [](const std::string& name) {
    return "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\n"
           "spec: {service: {namespace: run, name: " +
           name + "}}\n";
  };
  tell(api("front"));
  tell(api("other"));
  EXPECT_THAT(
      news,
      ElementsAre("dependency: apiservices.apiregistration.k8s.io/v1.example.com: APIService v1.example.com "
                  "does not lead to the provider any more"));
  news.clear();
  const auto definition = [](const std::string& strategy) {
    return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
           "widgets.example.com}\n"
           "spec:\n  group: example.com\n  scope: Cluster\n  names: {plural: widgets, singular: widget, "
           "kind: Widget}\n"
           "  versions: [{name: v1, served: true, storage: true}]\n"
           "  conversion: {strategy: " +
           strategy + ", webhook: {clientConfig: {service: {namespace: run, name: front}}}}\n";
  };
  tell(definition("Webhook"));
  tell(definition("None"));
  EXPECT_THAT(news, IsEmpty()) << "there are no widgets";
  tell(definition("Webhook"));
  kube::ObjectMeta widget;
  widget.name = "one";
  view.upsert({"example.com", "widgets"}, widget);
  tell(definition("None"));
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(news[0],
              HasSubstr("does not wait for widgets.example.com any more, as it is not seen to convert it"));
}

TEST_F(WeakeningTest, IsNotToldOnceTheCriteriaAreMet) {
  view.remove({{"", "configmaps"}, "n", "c"});
  tell(bindingOf(""));
  tell(roleOf(""));
  guard(guarding("  guard: {dependencies: None}\n"));
  EXPECT_THAT(news, IsEmpty());
}

// These are DELETEs, which are reviewed; and a provider that comes after another is another.
TEST_F(WeakeningTest, IsNotToldOfWhatIsGone) {
  view.remove({{"rbac.authorization.k8s.io", "clusterrolebindings"}, "", "bound"});
  view.remove({{"apps", "deployments"}, "run", "manager"});
  tell(runningAs("acts", "others"));
  EXPECT_THAT(news, IsEmpty());
}

// --- of the CriticalService itself

TEST_F(WeakeningTest, IsToldOfACriticalServiceThatGuardsLess) {
  guard(
      guarding("  enforcement: Hold\n  deletionIntent: BestEffortDeletion\n  guard: {dependencies: None}\n"));
  EXPECT_THAT(news,
              ElementsAre("criticalservice: criticalservices.lastout.dev/guard: spec.deletionIntent is "
                          "BestEffortDeletion; spec.enforcement is Hold; spec.guard.dependencies is None"));
  news.clear();
  guard(
      guarding("  enforcement: Hold\n  deletionIntent: BestEffortDeletion\n  guard: {dependencies: None}\n"));
  guard(guarding("  enforcement: Hold\n"));
  EXPECT_THAT(news, IsEmpty()) << "it guards as much, or more";
  guard(guarding("  enforcement: Hold\n  deletionIntent: OrphanResources\n"));
  EXPECT_THAT(news, SizeIs(1));
  guard(guarding("  deletionIntent: OrphanResources\n  guard: {dependencies: None}\n"));
  EXPECT_THAT(news, SizeIs(1)) << "it had guarded nothing";
}

TEST_F(WeakeningTest, IsToldOfCriteriaThatAreTakenAway) {
  const std::string other =
      "{type: Finalizer, finalizer: {group: example.com, resource: widgets, finalizerName: example.com/f}}";
  guard(guarding("", kCriterion + (", " + other)));
  EXPECT_THAT(news, IsEmpty());
  guard(guarding("", other));
  EXPECT_THAT(news,
              ElementsAre("criticalservice: criticalservices.lastout.dev/guard: spec.criteria does not have "
                          "configmaps/n/c any more"));
}

TEST_F(WeakeningTest, IsToldOfAnotherProvider) {
  guard(guarding("", kCriterion, "other"));
  EXPECT_THAT(news, ElementsAre("criticalservice: criticalservices.lastout.dev/guard: spec.provider is not "
                                "deployments.apps/run/manager any more"));
}

TEST(WeakerThan, ComparesEachField) {
  using criticalservice::DependencyMode;
  criticalservice::CriticalService before;
  before.meta.name = "guard";
  before.guardsScaling = true;
  before.criteria = {criticalservice::FinalizerCriterion{{"example.com", "widgets"}, "example.com/f"}};
  before.dependencies = {DependencyMode::Listed, {{{"", "secrets"}, "n", "a"}, {{"", "secrets"}, "n", "b"}}};
  EXPECT_THAT(weakerThan(before, before), IsEmpty());
  criticalservice::CriticalService after = before;
  after.guardsScaling = false;
  after.dependencies.listed.pop_back();
  after.criteria = {criticalservice::FinalizerCriterion{{"example.com", "widgets"}, "example.com/f", true}};
  EXPECT_THAT(
      weakerThan(before, after),
      ElementsAre("spec.criteria has ifNotInstalled: Met for finalizer example.com/f on widgets.example.com",
                  "spec.guard.dependencies does not list secrets/n/b any more",
                  "spec.guard.scaleToZero is off"));
  EXPECT_THAT(weakerThan(after, before), IsEmpty());
  criticalservice::CriticalService excepting = before;
  std::get<criticalservice::FinalizerCriterion>(excepting.criteria[0]).scope =
      kube::NamespaceScope::outside("run");
  EXPECT_THAT(weakerThan(before, excepting),
              ElementsAre("spec.criteria has exceptProviderNamespace for finalizer example.com/f on "
                          "widgets.example.com"));
  EXPECT_THAT(weakerThan(excepting, before), IsEmpty());
  criticalservice::CriticalService scoped = before;
  std::get<criticalservice::FinalizerCriterion>(scoped.criteria[0]).scope =
      kube::NamespaceScope::within({"a", "b"});
  EXPECT_THAT(weakerThan(before, scoped),
              ElementsAre("spec.criteria has namespaces for finalizer example.com/f on widgets.example.com"));
  EXPECT_THAT(weakerThan(scoped, before), IsEmpty());
  criticalservice::CriticalService elsewhere = scoped;
  std::get<criticalservice::FinalizerCriterion>(elsewhere.criteria[0]).scope =
      kube::NamespaceScope::within({"c"});
  EXPECT_THAT(weakerThan(scoped, elsewhere),
              ElementsAre("spec.criteria does not have finalizer example.com/f on widgets.example.com in "
                          "namespaces a and b any more"));
  criticalservice::CriticalService selecting = before;
  std::get<criticalservice::FinalizerCriterion>(selecting.criteria[0]).scope =
      kube::NamespaceScope::selectedBy("tenant in (a)");
  EXPECT_THAT(
      weakerThan(before, selecting),
      ElementsAre("spec.criteria does not have finalizer example.com/f on widgets.example.com any more"));
  EXPECT_THAT(weakerThan(selecting, before), IsEmpty());
  EXPECT_THAT(weakerThan(selecting, elsewhere),
              ElementsAre("spec.criteria does not have finalizer example.com/f on widgets.example.com in "
                          "namespaces with tenant in (a) any more"));
  criticalservice::CriticalService both = excepting;
  both.criteria.push_back(after.criteria[0]);
  both.guardsScaling = before.guardsScaling;
  EXPECT_THAT(weakerThan(excepting, both), IsEmpty()) << "the same as before, and more";
  criticalservice::CriticalService found = before;
  found.dependencies = {};
  EXPECT_THAT(weakerThan(found, before), ElementsAre("spec.guard.dependencies is a list"));
}

}  // namespace
}  // namespace lastout::admission
