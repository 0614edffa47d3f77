#include "criticalservice/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manifests.h"

namespace lastout::criticalservice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Criterion kNoFinalizer =
    FinalizerCriterion{{"my.crd.group", "coolresources"}, "my.crd.group/super-important"};
const Criterion kNoCrd = SpecificResourceCriterion{
    {{"apiextensions.k8s.io", "customresourcedefinitions"}, "", "coolresources.my.crd.group"}};

CriticalService story() {
  CriticalService service;
  service.meta.name = "for-finalizer-deployment";
  service.provider = {{"apps", "deployments"}, "finalizer-namespace", "finalizer-deployment"};
  service.criteria = {kNoFinalizer, kNoCrd};
  return service;
}

bool nothingIsMet(const Criterion&) { return false; }

kube::ResourceMap withCoolResources() {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"my.crd.group", "coolresources"}, "CoolResource", "v1", "coolresource", {}, true, false});
  return types;
}

TEST(ValidateChange, TheProviderCannotBeChanged) {
  CriticalService after = story();
  after.provider.name = "other";
  EXPECT_THAT(testing::lines(validateChange(story(), after, nothingIsMet)),
              HasSubstr("spec.provider cannot be changed from "
                        "deployments.apps/finalizer-namespace/finalizer-deployment to"));
}

TEST(ValidateChange, ACriterionMayNotBeRemovedWhileItIsUnmet) {
  CriticalService after = story();
  after.criteria = {kNoFinalizer};
  EXPECT_EQ(testing::lines(validateChange(story(), after, nothingIsMet)),
            "spec.criteria[1] cannot be removed while it is not known to be met "
            "(customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group); to give the "
            "guarding up, set "
            "spec.deletionIntent to OrphanResources\n");
  EXPECT_TRUE(validateChange(story(), after, [](const Criterion& c) { return c == kNoCrd; }).empty());
}

TEST(ValidateChange, AnAlteredCriterionIsARemovedOne) {
  CriticalService after = story();
  after.criteria[0] = FinalizerCriterion{{"my.crd.group", "coolresources"}, "my.crd.group/other"};
  EXPECT_THAT(testing::lines(validateChange(story(), after, nothingIsMet)),
              HasSubstr("spec.criteria[0] cannot be removed while it is not known to be met (finalizer "
                        "my.crd.group/super-important on coolresources.my.crd.group)"));
}

Criterion outside(const std::string& space, Criterion criterion) {
  std::get<FinalizerCriterion>(criterion).scope = kube::NamespaceScope::outside(space);
  return criterion;
}

Criterion within(std::set<std::string> spaces, Criterion criterion) {
  std::get<FinalizerCriterion>(criterion).scope = kube::NamespaceScope::within(std::move(spaces));
  return criterion;
}

TEST(ValidateChange, ToAskForFewerNamespacesIsToGiveACriterionUp) {
  const auto problems = [](const Criterion& before, const Criterion& after) {
    CriticalService first = story();
    CriticalService second = story();
    first.criteria[0] = before;
    second.criteria[0] = after;
    return testing::lines(validateChange(first, second, nothingIsMet));
  };
  const Criterion both = within({"a", "b"}, kNoFinalizer);
  EXPECT_EQ(problems(both, kNoFinalizer), "");
  EXPECT_EQ(problems(within({"a"}, kNoFinalizer), both), "");
  EXPECT_EQ(problems(within({"a"}, kNoFinalizer), outside("b", kNoFinalizer)), "");
  EXPECT_THAT(problems(both, within({"a"}, kNoFinalizer)),
              HasSubstr("cannot be removed while it is not known to be met (finalizer "
                        "my.crd.group/super-important on coolresources.my.crd.group in namespaces a and b)"));
  EXPECT_THAT(problems(kNoFinalizer, both), HasSubstr("cannot be removed"));
  EXPECT_THAT(problems(both, outside("b", kNoFinalizer)), HasSubstr("cannot be removed"));
  EXPECT_THAT(problems(outside("b", kNoFinalizer), both), HasSubstr("cannot be removed"));
}

TEST(ValidateChange, ToLeaveANamespaceOutIsToGiveACriterionUp) {
  CriticalService excepting = story();
  excepting.criteria[0] = outside("finalizer-namespace", kNoFinalizer);
  EXPECT_THAT(testing::lines(validateChange(story(), excepting, nothingIsMet)),
              HasSubstr("spec.criteria[0] cannot be removed while it is not known to be met (finalizer "
                        "my.crd.group/super-important on coolresources.my.crd.group)"));
  EXPECT_TRUE(
      validateChange(story(), excepting, [](const Criterion& c) { return c == kNoFinalizer; }).empty());
  EXPECT_TRUE(validateChange(excepting, story(), nothingIsMet).empty()) << "it asks for more";
  CriticalService without = story();
  without.criteria = {kNoCrd};
  EXPECT_THAT(testing::lines(validateChange(excepting, without, nothingIsMet)),
              HasSubstr("coolresources.my.crd.group outside namespace finalizer-namespace)"));
}

TEST(ValidateChange, IntentAndOrderMayAlwaysChangeAndCriteriaMayBeAdded) {
  CriticalService after = story();
  after.intent = DeletionIntent::OrphanResources;
  after.criteria = {kNoCrd, kNoFinalizer, SpecificResourceCriterion{{{"", "nodes"}, "", "n"}}};
  EXPECT_TRUE(validateChange(story(), after, nothingIsMet).empty());
}

TEST(ValidateNew, NothingGuardsWhatGoesTogetherWithLastout) {
  EXPECT_TRUE(validateNew(story(), "").empty());
  EXPECT_TRUE(validateNew(story(), "lastout").empty());
  EXPECT_THAT(testing::lines(validateNew(story(), "finalizer-namespace")),
              HasSubstr("spec.provider.namespace: lastout itself runs in finalizer-namespace"));
  CriticalService service = story();
  service.criteria.emplace_back(SpecificResourceCriterion{{{"", "namespaces"}, "", "lastout"}});
  EXPECT_THAT(testing::lines(validateNew(service, "lastout")),
              HasSubstr("spec.criteria[2]: lastout itself runs in lastout"));
}

TEST(Warnings, TheStoryEarnsNone) {
  EXPECT_EQ(testing::lines(warnings(story(), withCoolResources(), {})), "");
}

TEST(Warnings, TheFormerNameOfAField) {
  CriticalService service = story();
  service.hasFormerReplay = true;
  EXPECT_THAT(testing::lines(warnings(service, withCoolResources(), {})),
              HasSubstr("spec.replay is the former name of spec.deferredDeletions"));
}

TEST(Warnings, ATypeThatIsNotInstalledIsNamed) {
  EXPECT_EQ(testing::lines(warnings(story(), kube::ResourceMap::builtIn(), {})),
            "spec.criteria[0]: coolresources.my.crd.group is not installed\n");
  CriticalService service = story();
  service.criteria[0] = FinalizerCriterion{{"my.crd.group", "coolresource"}, "a/b"};
  EXPECT_THAT(
      testing::lines(warnings(service, withCoolResources(), {})),
      HasSubstr("coolresource.my.crd.group is not installed; did you mean \"coolresources.my.crd.group\"?"));
}

TEST(Warnings, AFinalizerCriterionAloneLeavesAWindow) {
  CriticalService service = story();
  service.criteria = {kNoFinalizer};
  EXPECT_THAT(testing::lines(warnings(service, withCoolResources(), {})),
              HasSubstr("add a SpecificResource criterion for "
                        "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group"));
  service.criteria = {FinalizerCriterion{{"", "configmaps"}, "a/b"}};
  const std::string builtIn = testing::lines(warnings(service, withCoolResources(), {}));
  EXPECT_THAT(builtIn, HasSubstr("no criterion can exclude that for a built-in type"));
  EXPECT_THAT(builtIn, Not(HasSubstr("add a SpecificResource")));
}

TEST(Warnings, ACriterionAboutSomeNamespacesLeavesAWindowThere) {
  CriticalService service = story();
  const auto warned = [&](const std::set<std::string>& namespaces) {
    service.criteria[0] =
        FinalizerCriterion{{"my.crd.group", "coolresources"}, "my.crd.group/super-important"};
    std::get<FinalizerCriterion>(service.criteria[0]).scope = kube::NamespaceScope::within(namespaces);
    return testing::lines(warnings(service, withCoolResources(), {}));
  };
  EXPECT_EQ(
      warned({"a"}),
      "spec.criteria[1]: leave it out: the CRD waits for the objects of all namespaces, and spec.criteria[0] "
      "only for those in namespace a\n");
  service.criteria.resize(1);
  EXPECT_THAT(warned({"a"}),
              HasSubstr("; only a SpecificResource criterion for that Namespace excludes that\n"));
  EXPECT_THAT(warned({"a", "b"}),
              HasSubstr("; only SpecificResource criteria for these Namespaces exclude that\n"));
  EXPECT_THAT(warned({"a", "finalizer-namespace"}),
              HasSubstr("; no criterion can exclude that in the provider's own namespace\n"));
  service.criteria.emplace_back(SpecificResourceCriterion{{kube::kNamespaces, "", "a"}});
  EXPECT_EQ(warned({"a"}), "");
}

TEST(Warnings, AGroupOfWhichNoTypeIsInstalledIsComparedWithGroups) {
  CriticalService service = story();
  service.criteria = {FinalizerCriterion{{"my.crd.groop", "*"}, "a/b"}};
  EXPECT_THAT(
      testing::lines(warnings(service, withCoolResources(), {})),
      HasSubstr("spec.criteria[0]: no type of my.crd.groop is installed; did you mean \"my.crd.group\"?\n"));
}

TEST(Warnings, APersonsDeletionThatNobodyDefers) {
  CriticalService service = story();
  service.deferral = DeferralMode::Always;
  EXPECT_EQ(testing::lines(warnings(service, withCoolResources(), {})), "");
  ValidationContext unproven;
  unproven.personsCount = false;
  EXPECT_THAT(testing::lines(warnings(service, withCoolResources(), unproven)),
              HasSubstr("spec.deferredDeletions: Always defers no person's deletion here: lastout serve runs "
                        "without --client-ca"));
  service.deferral = DeferralMode::Controllers;
  EXPECT_EQ(testing::lines(warnings(service, withCoolResources(), unproven)), "");
}

TEST(Warnings, AProviderThatIsNotThere) {
  ValidationContext empty;
  empty.exists = [](const kube::ObjectKey&) { return false; };
  EXPECT_EQ(
      testing::lines(warnings(story(), withCoolResources(), empty)),
      "spec.provider: deployments.apps/finalizer-namespace/finalizer-deployment does not exist: nothing is "
      "guarded until it does\n");
  empty.exists = [](const kube::ObjectKey& key) { return key == story().provider; };
  EXPECT_EQ(testing::lines(warnings(story(), withCoolResources(), empty)), "");
}

TEST(Warnings, AFinalizerThatNobodyCarriesWhileOthersAreCarried) {
  ValidationContext others;
  others.finalizers = [](const kube::GroupResource&) {
    return std::vector<std::string>{"my.crd.group/super-importent"};
  };
  EXPECT_EQ(testing::lines(warnings(story(), withCoolResources(), others)),
            "spec.criteria[0]: no coolresources.my.crd.group carries \"my.crd.group/super-important\", "
            "although some "
            "carry others; did you mean \"my.crd.group/super-importent\"?\n");
  others.finalizers = [](const kube::GroupResource&) { return std::vector<std::string>{}; };
  EXPECT_EQ(testing::lines(warnings(story(), withCoolResources(), others)), "") << "they may come later";
}

TEST(Warnings, InstancesInTheProvidersOwnNamespace) {
  ValidationContext everywhere;
  everywhere.carriedIn = [](const FinalizerCriterion& criterion, std::string_view) {
    return criterion.finalizerName == "my.crd.group/super-important";
  };
  EXPECT_THAT(testing::lines(warnings(story(), withCoolResources(), everywhere)),
              HasSubstr("spec.criteria[0]: some coolresources.my.crd.group with that finalizer are in the "
                        "provider's own namespace finalizer-namespace"));
  CriticalService service = story();
  service.criteria[0] = outside("finalizer-namespace", kNoFinalizer);
  EXPECT_EQ(
      testing::lines(warnings(service, withCoolResources(), everywhere)),
      "spec.criteria[1]: leave it out: the CRD waits for the objects of all namespaces, and spec.criteria[0] "
      "only for those outside namespace finalizer-namespace\n");
  service.criteria.resize(1);
  EXPECT_THAT(testing::lines(warnings(service, withCoolResources(), everywhere)),
              Not(HasSubstr("provider's own namespace")))
      << "it says so itself";
  service.criteria.emplace_back(SpecificResourceCriterion{{{"", "secrets"}, "finalizer-namespace", "s"}});
  EXPECT_THAT(
      testing::lines(warnings(service, withCoolResources(), {})),
      HasSubstr("secrets/finalizer-namespace/s is in the provider's own namespace finalizer-namespace, which "
                "cannot be deleted as a whole before it is gone"));
}

TEST(Warnings, ADependencyThatGoesBeforeTheProvider) {
  ValidationContext context;
  context.awaited = {{{"", "serviceaccounts"}, "op", "operator"}};
  EXPECT_EQ(testing::lines(warnings(story(), withCoolResources(), context)),
            "spec.criteria: the provider needs serviceaccounts/op/operator, which carries a finalizer that a "
            "criterion waits for: it goes before the provider, and nothing guards it\n");
}

TEST(Warnings, AProviderThatTheApiServerDoesNotAskAbout) {
  CriticalService service = story();
  service.provider.namespaceName = "kube-system";
  const std::string warned = testing::lines(warnings(service, withCoolResources(), {}));
  EXPECT_THAT(
      warned,
      HasSubstr("spec.provider.namespace: the API server does not ask lastout about what is in kube-system"));
  EXPECT_THAT(
      warned,
      HasSubstr("run the provider in another namespace, or protect what it finalizes by a DeletionPolicy"));
}

TEST(Warnings, NoneOfWhatIsGivenUp) {
  CriticalService service = story();
  service.provider.namespaceName = "kube-system";
  service.intent = DeletionIntent::OrphanResources;
  EXPECT_EQ(testing::lines(warnings(service, withCoolResources(), {})), "");
}

}  // namespace
}  // namespace lastout::criticalservice
