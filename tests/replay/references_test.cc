// Criteria about objects that name others: what a scenario may do with these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A network that `one` names, and a subnet that names none.
std::string network(const std::string& steps) {
  return scenario("  steps:\n" + steps, R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subnets.net.example.com}
spec:
  group: net.example.com
  scope: Namespaced
  names: {kind: Subnet, listKind: SubnetList, plural: subnets, singular: subnet}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: main-network}
spec:
  provider: {resource: configmaps, namespace: shop, name: main}
  criteria:
  - {type: Reference, reference: {group: net.example.com, resource: subnets, field: spec.network}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: main, namespace: shop}
---
apiVersion: net.example.com/v1
kind: Subnet
metadata: {name: one, namespace: shop}
spec: {network: main, size: 1}
---
apiVersion: net.example.com/v1
kind: Subnet
metadata: {name: two, namespace: shop}
spec: {size: 1}
)");
}

constexpr const char* kPatch = "    - patch: {object: subnets.net.example.com/shop/";

// The machine takes them to stay: that a scenario changes them is told, and not passed over.
TEST(ReferencesInScenarios, MayNotChange) {
  const auto patch = [](const std::string& object, const std::string& merge) {
    return mistakes(network(kPatch + object + ", merge: " + merge + "}\n"));
  };
  EXPECT_THAT(patch("one", "{spec: {size: 2}}"), IsEmpty());
  EXPECT_THAT(patch("one", "{spec: {network: main}}"), IsEmpty());
  for (const char* merge : {"{spec: {network: other}}", "{spec: {network: null}}", "{spec: null}"})
    EXPECT_THAT(
        patch("one", merge),
        ElementsAre(HasSubstr("changes which objects subnets.net.example.com/shop/one names in a field "
                              "that a criterion asks about")))
        << merge;
  EXPECT_THAT(patch("two", "{spec: {network: main}}"), ElementsAre(HasSubstr("shop/two names in a field")));
}

TEST(ReferencesInScenarios, AreThoseOfEachManifestOfOneName) {
  const auto again = [](const std::string& name) {
    return mistakes(
        network("    - delete: subnets.net.example.com/shop/one\n"
                "    - apply: {apiVersion: net.example.com/v1, kind: Subnet, metadata: {name: one, "
                "namespace: shop}, spec: {network: " +
                name + ", size: 3}}\n"));
  };
  EXPECT_THAT(again("main"), IsEmpty());
  EXPECT_THAT(again("other"),
              ElementsAre(HasSubstr("stands here with other names in the fields that criteria")));
}

}  // namespace
}  // namespace lastout::replay
