// The finalizers by which DeletionPolicies hold objects: as a policy says it, also one that is not
// understood, and as what was made of it says it.
#include "protection/hold_finalizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  ASSERT_EQ(made.size(), 4U);
  HoldFinalizers finalizers;
  EXPECT_TRUE(addOfAdmissionPolicy(kube::fromJson(made.front()), finalizers));
  EXPECT_THAT(finalizers, ElementsAre(Pair(kHeldSecrets, ElementsAre("example.com/held")),
                                      Pair(kHeldDatabases, ElementsAre("example.com/held"))));
}

// Whoever may write such an object must not make lastout take off what it never sets.
TEST(HoldFinalizers, WhatCannotHaveHeldIsNoFormerFinalizer) {
  HoldFinalizers finalizers;
  const nlohmann::json made{
      {"metadata",
       {{"annotations",
         {{"lastout.dev/hold-finalizer", "kubernetes.io/pvc-protection"},
          {"lastout.dev/former-hold-finalizers",
           "persistentvolumeclaims:kubernetes.io/pvc-protection,,:,secrets,secrets:orphan,*:example.com/a,"
           "pods/status:example.com/a,deployments.apps:example.com/a,x.*:example.com/a"}}}}},
      {"spec",
       {{"matchConstraints", {{"resourceRules", {{{"apiGroups", {""}}, {"resources", {"secrets"}}}}}}}}}};
  EXPECT_TRUE(addOfAdmissionPolicy(kube::fromJson(made), finalizers));
  EXPECT_THAT(finalizers,
              ElementsAre(Pair(kube::GroupResource{"apps", "deployments"}, ElementsAre("example.com/a"))));
}

TEST(HoldFinalizers, OfAPolicyThatDeniesNothingIsHeld) {
  HoldFinalizers finalizers;
  const auto made = admissionPoliciesOf(
      policyOf("  objects: [{resources: [{resource: secrets}]}]\n  when: [{label: example.com/protect}]\n"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_FALSE(addOfAdmissionPolicy(kube::fromJson(made.front()), finalizers));
  EXPECT_THAT(finalizers, IsEmpty());
}

// What is taken off an object, by the policies that there are and were. example.com/a and example.com/b are
// finalizers of theirs on Secrets; of a policy that is not understood nobody knows what it selects.
struct ReleaseRow {
  const char* counts;  // the finalizer of the policy that counts for the object; empty: none does
  std::vector<std::string> carried;
  std::vector<std::string> unclear;
  std::vector<std::string> released;
};

TEST(HoldFinalizers, WhatHoldsForNoPolicyAnyMoreIsReleased) {
  const std::string a = "example.com/a";
  const std::string b = "example.com/b";
  const ReleaseRow rows[] = {
      {"", {a}, {}, {a}},
      {"", {a, "others.io/f", b}, {}, {a, b}},
      {"", {"others.io/f", "orphan"}, {}, {}},
      {"", {}, {}, {}},
      {"example.com/a", {a}, {}, {}},
      {"example.com/a", {b, a}, {}, {b}},
      {"example.com/a", {b}, {}, {b}},
      {"", {a, b}, {b}, {a}},
      {"example.com/a", {a, b}, {b}, {}},
      {"example.com/of-another-operator", {a, b}, {}, {a}},  // as the policy calls example.com/b
  };
  for (const ReleaseRow& row : rows) {
    DeletionPolicy counts = policyOf(kHoldsTwoTypes);
    counts.hold->finalizer = row.counts;
    if (counts.hold->finalizer == "example.com/of-another-operator") counts.hold->finalizersOfOthers = {b};
    KnownFinalizers known;
    known.all[kHeldSecrets] = {a, b};
    known.unclear[kHeldSecrets] = {row.unclear.begin(), row.unclear.end()};
    kube::ObjectMeta meta;
    meta.finalizers = row.carried;
    const DeletionPolicy* const policy = row.counts[0] == 0 ? nullptr : &counts;
    EXPECT_EQ(releasableFinalizers(known, policy, kHeldSecrets, meta), row.released) << &row - rows;
    EXPECT_THAT(releasableFinalizers(known, policy, kHeldDatabases, meta), IsEmpty())
        << "on other types they are not lastout's";
  }
}

TEST(HoldFinalizers, APolicyThatDeniesHasNone) {
  HoldFinalizers finalizers;
  addOfPolicy(policyOf("  objects: [{resources: [{resource: secrets}]}]\n  when: [{label: a/b}]\n"),
              finalizers);
  EXPECT_THAT(finalizers, IsEmpty());
  addOfPolicy(policyOf(kHoldsTwoTypes), finalizers);
  EXPECT_THAT(finalizers, ElementsAre(Pair(kHeldSecrets, ElementsAre("example.com/held")),
                                      Pair(kHeldDatabases, ElementsAre("example.com/held"))));
}

}  // namespace
}  // namespace lastout::protection
