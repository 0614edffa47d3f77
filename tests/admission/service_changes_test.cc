// What may be written over a CriticalService that stands, held against docs/criticalservice.md: there is
// always a way out, and what did not change is not looked at again.
#include "admission/service_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/manifests.h"

namespace lastout::admission {
namespace {

using ::testing::HasSubstr;

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
    return testing::object(
        "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s, uid: u}\nspec:\n" +
            more + "  provider: {group: apps, resource: deployments, namespace: n, name: d}\n  criteria:\n" +
            criteria,
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
  ClusterView view_{"lastout", Told::Everything};
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

TEST_F(ServiceChanges, TheProviderStaysTheSameWhateverTheIntent) {
  const kube::Object after = service(std::string(kFinalizer), "  deletionIntent: OrphanResources\n");
  const kube::Object other = testing::object(
      "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s, uid: u}\nspec:\n"
      "  deletionIntent: OrphanResources\n"
      "  provider: {group: apps, resource: deployments, namespace: n, name: other}\n  criteria:\n" +
          std::string(kFinalizer),
      types_);
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

}  // namespace
}  // namespace lastout::admission
