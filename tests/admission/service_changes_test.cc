// What may be written over a CriticalService that stands, held against docs/criticalservice.md: there is
// always a way out, and what did not change is not looked at again.
#include "admission/service_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/manifests.h"

namespace lastout::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kTypes = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: probes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: probes, kind: Probe}
  versions: [{name: v1, served: true, storage: true}]
)";

constexpr std::string_view kFinalizer =
    "  - type: Finalizer\n    finalizer: {group: example.com, resource: probes, finalizerName: "
    "example.com/f}\n";
// Probes are namespaced.
constexpr std::string_view kWrongScope =
    "  - type: SpecificResource\n    specificResource: {group: example.com, resource: probes, name: x}\n";

class ServiceChanges : public ::testing::Test {
 protected:
  ServiceChanges() { testing::objects(kTypes, types_); }

  kube::Object service(const std::string& criteria, const std::string& more = "") {
    return serviceOf("group: apps, resource: deployments, namespace: n, name: d", criteria, more);
  }
  kube::Object serviceOf(const std::string& provider, const std::string& criteria,
                         const std::string& more = "") {
    return testing::object(
        "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s, uid: u}\nspec:\n" +
            more + "  provider: {" + provider + "}\n  criteria:\n" + criteria,
        types_);
  }
  // No criterion is known to be met, and what is asked about is counted.
  std::string problems(const kube::Object& before, const kube::Object& after) {
    return testing::lines(serviceProblems(view_, types_, "lastout", &before, after, [this](const auto&) {
      ++asked_;
      return false;
    }));
  }

  kube::ResourceMap types_ = kube::ResourceMap::builtIn();
  ClusterView view_{"lastout", ViewScope::Everything};
  int asked_ = 0;
};

TEST_F(ServiceChanges, AnyIntentIsAcceptedWhateverElseTheSpecHolds) {
  const std::string criteria = std::string(kFinalizer) + std::string(kWrongScope);
  EXPECT_THAT(testing::lines(serviceProblems(view_, types_, "lastout", nullptr, service(criteria), nullptr)),
              HasSubstr("namespace is missing"))
      << "nobody may write that today";
  for (const char* intent : {"Ordered", "BestEffortDeletion", "OrphanResources"}) {
    const std::string line = std::string("  deletionIntent: ") + intent + "\n";
    EXPECT_EQ(problems(service(criteria), service(criteria, line)), "") << intent;
  }
}

TEST_F(ServiceChanges, WhatDidNotChangeIsNotValidatedAgain) {
  const kube::Object before = service(std::string(kWrongScope));
  EXPECT_EQ(problems(before, service(std::string(kWrongScope), "  enforcement: Hold\n")), "");
  EXPECT_THAT(problems(before, service(std::string(kWrongScope), "  enforcement: Maybe\n")),
              HasSubstr("spec.enforcement must be one of"))
      << "what is new is";
}

TEST_F(ServiceChanges, WhoGivesTheProviderUpGivesItsCriteriaUpUnasked) {
  const std::string other =
      "  - type: SpecificResource\n    specificResource: {resource: secrets, namespace: n, name: x}\n";
  EXPECT_EQ(problems(service(std::string(kFinalizer) + other),
                     service(other, "  deletionIntent: OrphanResources\n")),
            "");
  EXPECT_EQ(asked_, 0) << "nothing is read again for it";
  EXPECT_THAT(problems(service(std::string(kFinalizer) + other),
                       service(other, "  deletionIntent: BestEffortDeletion\n")),
              HasSubstr("spec.criteria[0] cannot be removed"))
      << "until it is gone it guards";
}

TEST_F(ServiceChanges, ANamespaceIsLeftOutWhereTheWholeCriterionIsMetOrGivenUp) {
  const auto excepting = [](const std::string& more) {
    return "  - type: Finalizer\n    finalizer: {group: example.com, resource: probes, finalizerName: "
           "example.com/f, exceptProviderNamespace: " +
           more + "}\n";
  };
  const kube::Object before = service(std::string(kFinalizer));
  EXPECT_THAT(problems(before, service(excepting("true"))), HasSubstr("spec.criteria[0] cannot be removed"));
  EXPECT_EQ(problems(before, service(excepting("true"), "  deletionIntent: OrphanResources\n")), "");
  asked_ = 0;
  EXPECT_EQ(problems(service(excepting("true")), before), "");
  EXPECT_EQ(problems(before, service(excepting("false"))), "");
  EXPECT_EQ(asked_, 0) << "nothing is given up";
}

TEST_F(ServiceChanges, TheProviderStaysTheSameWhateverTheIntent) {
  const kube::Object after = service(std::string(kFinalizer), "  deletionIntent: OrphanResources\n");
  const kube::Object other = serviceOf("group: apps, resource: deployments, namespace: n, name: other",
                                       std::string(kFinalizer), "  deletionIntent: OrphanResources\n");
  EXPECT_EQ(problems(service(std::string(kFinalizer)), after), "");
  EXPECT_THAT(problems(service(std::string(kFinalizer)), other),
              HasSubstr("spec.provider cannot be changed"));
}

// The first entry goes, and the second, which nobody may write today, becomes the first.
TEST_F(ServiceChanges, WhatMovesUpInAListIsNotValidatedAgain) {
  const auto listing = [this](const std::string& dependencies) {
    return service(std::string(kFinalizer), "  guard: {dependencies: [" + dependencies + "]}\n");
  };
  const std::string secret = "{resource: secrets, namespace: n, name: a}";
  const std::string pod = "{resource: pods, namespace: n, name: a}";
  EXPECT_EQ(problems(listing(secret + ", " + pod), listing(pod)), "");
  EXPECT_THAT(problems(listing(pod), listing(pod + ", {resource: pods, namespace: n, name: b}")),
              HasSubstr("pods/n/b cannot be listed"));
}

// A status says which types were seen, and reviews leave it out.
TEST_F(ServiceChanges, UntilItWasToldOfNoCriterionIsTakenForDoubtful) {
  view_.understandBy(criticalservice::knownTypes(types_));
  const std::string other =
      "  - type: SpecificResource\n    specificResource: {resource: secrets, namespace: "
      "n, name: x}\n";
  const std::string missing =
      "  - type: SpecificResource\n    specificResource: {group: gone.example.com, "
      "resource: things, name: x}\n";
  const kube::Object before = service(missing + other);
  EXPECT_THAT(problems(before, service(other)), HasSubstr("spec.criteria[0] cannot be removed"));
  ASSERT_TRUE(view_.guard(before));
  EXPECT_EQ(problems(before, service(other)), "");
}

TEST(LargeServices, AreReadWhereTheyBecomeSmaller) {
  const std::string most(kMostServiceBytes, 'x');
  EXPECT_EQ(tooLarge("", most), std::nullopt);
  const auto why = tooLarge("", most + "x");
  ASSERT_TRUE(why);
  EXPECT_THAT(why->message, HasSubstr("takes 65537 bytes without annotations, managedFields and status"));
  EXPECT_EQ(tooLarge(most + "xx", most + "x"), std::nullopt);
  EXPECT_TRUE(tooLarge(most + "x", most + "xx"));
  const auto withIntent = [](const std::string& intent) {
    return R"({"spec":{"a":")" + std::string(70'000, 'x') + "\"" + intent + "}}";
  };
  const std::string orphan = R"(,"deletionIntent":"OrphanResources")";
  EXPECT_EQ(tooLarge(withIntent(""), withIntent(orphan)), std::nullopt) << "there is always a way out";
  EXPECT_EQ(tooLarge(withIntent(R"(,"deletionIntent":"Ordered")"), withIntent(orphan)), std::nullopt);
  EXPECT_TRUE(tooLarge(most, R"({"deletionIntent":")" + most + most + "\"}"));
}

class RightsToWrite : public ServiceChanges {
 protected:
  kube::Object specOf(const std::string& more) { return service(std::string(kFinalizer), more); }
  static std::vector<std::string> rights(const kube::Object* before, const kube::Object& after) {
    std::vector<std::string> words;
    for (const NeededRight& right : rightsToWrite(before, after)) words.push_back(toString(right));
    return words;
  }
  std::vector<std::string> rightsOfChange(const std::string& before, const std::string& after) {
    const kube::Object former = specOf(before);
    return rights(&former, specOf(after));
  }

  const std::vector<std::string> onProvider_{"delete namespaces/n", "delete deployments.apps/n/d"};
};

TEST_F(RightsToWrite, OfANewOneAreOnTheProviderAndItsNamespace) {
  EXPECT_EQ(rights(nullptr, specOf("")), onProvider_);
  EXPECT_EQ(rights(nullptr, specOf("  deletionIntent: OrphanResources\n")), onProvider_)
      << "also if it guards nothing yet";
  EXPECT_THAT(rights(nullptr, specOf("  enforcement: Hold\n")),
              ElementsAre(onProvider_[0], onProvider_[1], "patch deployments.apps/n/d"));
}

TEST_F(RightsToWrite, AreOnWhatIsListedAndOnWhatHoldsThat) {
  EXPECT_THAT(
      rights(nullptr, specOf("  guard:\n    dependencies:\n"
                             "    - {resource: secrets, namespace: n, name: s}\n"
                             "    - {group: apps, resource: deployments, namespace: far, name: e}\n"
                             "    - {group: example.com, resource: probes, namespace: n, name: p}\n")),
      UnorderedElementsAre(onProvider_[0], onProvider_[1], "delete secrets/n/s",
                           "delete deployments.apps/far/e", "delete namespaces/far",
                           "delete probes.example.com/n/p",
                           "delete customresourcedefinitions.apiextensions.k8s.io/probes.example.com"));
}

TEST_F(RightsToWrite, AreOnTheCrdOfACustomProvider) {
  const kube::Object custom = testing::object(
      "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s}\nspec:\n"
      "  provider: {group: db.example.com, resource: databases, name: d}\n  criteria:\n" +
          std::string(kFinalizer),
      types_);
  EXPECT_THAT(
      rights(nullptr, custom),
      UnorderedElementsAre("delete databases.db.example.com/d",
                           "delete customresourcedefinitions.apiextensions.k8s.io/databases.db.example.com"));
}

TEST_F(RightsToWrite, AreNeededForEachChangeOfWhatItHasLastoutDo) {
  for (const char* const after :
       {"  deferredDeletions: Always\n", "  deferredDeletions: Never\n", "  replay: Always\n",
        "  guard: {scaleToZero: true}\n", "  guard: {dependencies: None}\n"}) {
    EXPECT_EQ(rightsOfChange("", after), onProvider_) << after;
    EXPECT_EQ(rightsOfChange(after, ""), onProvider_) << after;
  }
  EXPECT_EQ(rightsOfChange("", "  enforcement: Hold\n").size(), 3U);
  EXPECT_EQ(rightsOfChange("  enforcement: Hold\n", ""), onProvider_);
  EXPECT_EQ(rightsOfChange("  deletionIntent: OrphanResources\n", ""), onProvider_) << "it guards again";
}

TEST_F(RightsToWrite, AreNotNeededForAnotherChange) {
  for (const char* const intent : {"OrphanResources", "BestEffortDeletion"})
    EXPECT_THAT(rightsOfChange("", std::string("  deletionIntent: ") + intent + "\n"), IsEmpty()) << intent;
  EXPECT_THAT(rightsOfChange("  deletionIntent: BestEffortDeletion\n", ""), IsEmpty());
  EXPECT_THAT(rightsOfChange("", "  deletionIntent: OrphanResources\n  enforcement: Hold\n"), IsEmpty())
      << "it is given up, whatever else it says";
  EXPECT_THAT(rightsOfChange("  replay: Always\n", "  deferredDeletions: Always\n"), IsEmpty())
      << "that is the same, by its new name";
  const kube::Object before = specOf("");
  EXPECT_THAT(rights(&before, service(std::string(kFinalizer) + std::string(kWrongScope))), IsEmpty());
  kube::Object labelled = before;
  labelled.meta.labels = {{"a", "b"}};
  EXPECT_THAT(rights(&before, labelled), IsEmpty());
}

TEST_F(RightsToWrite, AreNotNeededAgainForWhatWasListedBefore) {
  const std::string a = "{resource: secrets, namespace: n, name: a}";
  const std::string b = "{resource: secrets, namespace: n, name: b}";
  const auto listing = [](const std::string& dependencies, const std::string& more = "") {
    return more + "  guard: {dependencies: [" + dependencies + "]}\n";
  };
  EXPECT_THAT(rightsOfChange(listing(a), listing(a + ", " + b)),
              ElementsAre(onProvider_[0], "delete secrets/n/b", onProvider_[1]));
  EXPECT_EQ(rightsOfChange(listing(a + ", " + b), listing(b)), onProvider_);
  EXPECT_THAT(rightsOfChange(listing(a + ", " + b), listing(b + ", " + a)), IsEmpty())
      << "order means nothing";
  EXPECT_EQ(rightsOfChange(listing(a), listing(a, "  deferredDeletions: Always\n")).size(), 3U)
      << "lastout is to delete it for others than before";
}

TEST_F(RightsToWrite, AreThoseOfANewOneWhereNotEvenTheProviderCouldBeRead) {
  const kube::Object before = testing::object(
      "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s}\n", types_);
  EXPECT_EQ(rights(&before, specOf("")), onProvider_);
  EXPECT_THAT(rights(&before, before), IsEmpty());
}

}  // namespace
}  // namespace lastout::admission
