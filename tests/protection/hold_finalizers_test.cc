// The finalizers by which DeletionPolicies hold objects: as a policy says it, also one that is not
// understood, and as what was made of it says it.
#include "protection/hold_finalizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/parse.h"
#include "protection/cel.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const kube::GroupResource kHeldDatabases{"example.com", "databases"};
const kube::GroupResource kHeldSecrets{"", "secrets"};

constexpr const char* kHoldsTwoTypes = R"(  objects:
  - resources: [{group: example.com, resource: databases}]
    namespaces: [production]
  - resources: [{resource: secrets}]
  when: [{label: example.com/protect}]
  enforcement: Hold
  hold: {finalizer: example.com/held, force: {annotation: example.com/force}}
)";

HoldFinalizers finalizersIn(const std::string& yaml) {
  HoldFinalizers finalizers;
  const auto documents = kube::parseYaml(yaml, "test");
  EXPECT_TRUE(documents) << yaml;
  if (documents) addOfDeletionPolicy(documents->front(), finalizers);
  return finalizers;
}

TEST(HoldFinalizers, APolicyNamesItsTypesAndItsFinalizer) {
  EXPECT_THAT(finalizersIn(std::string("spec:\n") + kHoldsTwoTypes),
              ElementsAre(Pair(kHeldSecrets, ElementsAre("example.com/held")),
                          Pair(kHeldDatabases, ElementsAre("example.com/held"))));
}

// One of a later version may have fields that this one does not know.
TEST(HoldFinalizers, APolicyThatIsNotUnderstoodNamesThemToo) {
  const std::string later = std::string("spec:\n") + kHoldsTwoTypes + "  unheardOf: {a: b}\n";
  EXPECT_THAT(finalizersIn(later), ElementsAre(Pair(kHeldSecrets, ElementsAre("example.com/held")),
                                               Pair(kHeldDatabases, ElementsAre("example.com/held"))));
}

// lastout never held by these: their finalizers are those of others.
TEST(HoldFinalizers, WhatNeverHeldIsLeftOut) {
  for (const char* spec :
       {"{objects: [{resources: [{resource: secrets}]}], hold: {finalizer: example.com/held}}",
        "{objects: [{resources: [{resource: secrets}]}], enforcement: Hold, hold: {finalizer: orphan}}",
        "{objects: [{resources: [{resource: secrets}]}], enforcement: Hold, hold: {finalizer: 'a/b c'}}",
        "{objects: [{resources: [{resource: '*'}]}], enforcement: Hold, hold: {finalizer: example.com/held}}",
        "{objects: [{resources: [{group: '*', resource: secrets}]}], enforcement: Hold, hold: {finalizer: "
        "example.com/held}}",
        "{objects: [{resources: [{resource: pods/status}]}], enforcement: Hold, hold: {finalizer: "
        "example.com/held}}",
        "{objects: {a: b}, enforcement: Hold, hold: {finalizer: example.com/held}}", "[1]", "null"})
    EXPECT_THAT(finalizersIn(std::string("spec: ") + spec), IsEmpty()) << spec;
}

TEST(HoldFinalizers, WhatWasMadeOfAPolicyNamesThemToo) {
  const auto made = admissionPoliciesOf(policyOf(kHoldsTwoTypes));
  ASSERT_EQ(made.size(), 2U);
  HoldFinalizers finalizers;
  EXPECT_TRUE(addOfAdmissionPolicy(kube::fromJson(made.front()), finalizers));
  EXPECT_THAT(finalizers, ElementsAre(Pair(kHeldSecrets, ElementsAre("example.com/held")),
                                      Pair(kHeldDatabases, ElementsAre("example.com/held"))));
}

TEST(HoldFinalizers, OfAPolicyThatDeniesNothingIsHeld) {
  HoldFinalizers finalizers;
  const auto made = admissionPoliciesOf(
      policyOf("  objects: [{resources: [{resource: secrets}]}]\n  when: [{label: example.com/protect}]\n"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_FALSE(addOfAdmissionPolicy(kube::fromJson(made.front()), finalizers));
  EXPECT_THAT(finalizers, IsEmpty());
}

}  // namespace
}  // namespace lastout::protection
