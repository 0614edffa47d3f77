// Which objects an object names in its fields.
#include "kube/object_references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/patterns.h"
#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

FieldPath path(std::string_view text) { return parseFieldPath(text).value(); }

ReferenceFields fields(std::string_view name, std::string_view space = {}, std::string_view kind = {}) {
  ReferenceFields made{path(name), std::nullopt, std::nullopt};
  if (!space.empty()) made.namespaceName = path(space);
  if (!kind.empty()) made.kind = path(kind);
  return made;
}

const ObjectKey kNetwork{{"ec2.example.com", "vpcs"}, "shop", "main"};
const ObjectKey kClass{{"storage.example.com", "classes"}, "", "fast"};

// An object with this spec, in this namespace, names the target.
bool names(const ReferenceFields& by, const ObjectKey& target, const std::string& spec,
           std::string_view home = "shop", const std::string& kind = {}) {
  const auto found = referencesIn(yaml("spec: " + spec), home, {by});
  return namesAny(found, {by, target, kind});
}

bool namesNetwork(const ReferenceFields& by, const std::string& spec) { return names(by, kNetwork, spec); }

TEST(ObjectReferences, AreOfTheObjectsOwnNamespaceUnlessAFieldSaysAnother) {
  const ReferenceFields by = fields("spec.ref.name", "spec.ref.namespace");
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main}}"));
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main, namespace: ''}}"));
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main, namespace: shop}}", "bank"));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: main}}", "bank"));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: main, namespace: bank}}"));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: other}}"));
  EXPECT_FALSE(names(by, kNetwork, "{}"));
  // Without the field for it a namespace that is named counts for nothing.
  EXPECT_TRUE(names(fields("spec.ref.name"), kNetwork, "{ref: {name: main, namespace: bank}}"));
}

TEST(ObjectReferences, OfAnObjectInNoNamespaceMayMeanAny) {
  const ReferenceFields by = fields("spec.ref.name", "spec.ref.namespace");
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main}}", ""));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: main, namespace: bank}}", ""));
}

TEST(ObjectReferences, ToWhatIsInNoNamespaceNameNone) {
  const ReferenceFields by = fields("spec.ref.name", "spec.ref.namespace");
  EXPECT_TRUE(names(by, kClass, "{ref: {name: fast}}"));
  EXPECT_TRUE(names(by, kClass, "{ref: {name: fast}}", ""));
  EXPECT_FALSE(names(by, kClass, "{ref: {name: fast, namespace: shop}}"));
}

TEST(ObjectReferences, AreOfAKindUnlessNoneIsSaid) {
  const ReferenceFields by = fields("spec.ref.name", "", "spec.ref.kind");
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main, kind: VPC}}"));
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main}}"));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: main, kind: Gateway}}"));
  EXPECT_TRUE(names(by, kNetwork, "{ref: {name: main, kind: Cloud}}", "shop", "Cloud"));
  EXPECT_FALSE(names(by, kNetwork, "{ref: {name: main, kind: VPC}}", "shop", "Cloud"));
}

// What stands in one item belongs together, and nothing of another item.
TEST(ObjectReferences, OfAListAreItemByItem) {
  const ReferenceFields by = fields("spec.refs.name", "spec.refs.namespace", "spec.refs.kind");
  EXPECT_TRUE(names(by, kNetwork, "{refs: [{name: a}, {name: main, namespace: shop, kind: Vpc}]}", "bank"));
  EXPECT_FALSE(names(by, kNetwork, "{refs: [{name: main, namespace: bank}, {name: a, namespace: shop}]}"));
  EXPECT_FALSE(names(by, kNetwork, "{refs: [{name: main, kind: Class}, {name: a, kind: Vpc}]}"));
  EXPECT_TRUE(names(fields("spec.names"), kNetwork, "{names: [a, main]}"));
  // A namespace beside the list is that of all of its names.
  const ReferenceFields beside = fields("spec.refs.name", "spec.space");
  EXPECT_TRUE(names(beside, kNetwork, "{space: shop, refs: [{name: a}, {name: main}]}", "bank"));
  EXPECT_FALSE(names(beside, kNetwork, "{space: bank, refs: [{name: a}, {name: main}]}"));
}

// A part that some items leave out is not that of another item, wherever the other part stands.
TEST(ObjectReferences, OfAnItemThatLeavesAPartOut) {
  const ReferenceFields kindAbove = fields("spec.refs.name", "spec.refs.namespace", "spec.kind");
  const std::string some = "refs: [{name: main}, {name: b, namespace: bank}]";
  EXPECT_TRUE(names(kindAbove, kNetwork, "{" + some + "}"));
  EXPECT_TRUE(names(kindAbove, kNetwork, "{kind: VPC, " + some + "}"));
  EXPECT_FALSE(names(kindAbove, kNetwork, "{kind: Gateway, " + some + "}"));
  EXPECT_FALSE(names(kindAbove, kNetwork, "{refs: [{name: main, namespace: bank}, {name: b}]}"));
  const ReferenceFields spaceAbove = fields("spec.refs.name", "spec.space", "spec.refs.kind");
  EXPECT_TRUE(names(spaceAbove, kNetwork, "{refs: [{name: main}, {name: b, kind: Gateway}]}"));
  EXPECT_FALSE(names(spaceAbove, kNetwork, "{refs: [{name: main, kind: Gateway}, {name: b}]}"));
  // Two lists beside each other: nobody knows what belongs together.
  const ReferenceFields beside = fields("spec.names", "spec.spaces.name");
  EXPECT_TRUE(names(beside, kNetwork, "{names: [main], spaces: [{name: bank}, {name: shop}]}", "bank"));
  EXPECT_TRUE(names(beside, kNetwork, "{names: [main], spaces: [{name: bank}, {name: other}]}"));
}

TEST(ObjectReferences, AreNamesAlone) {
  const std::string tooLong(254, 'a');
  for (const std::string& wrong :
       {std::string("{ref: 7}"), std::string("{ref: {name: main}}"), std::string("{ref: null}"),
        std::string("{ref: ''}"), "{ref: " + tooLong + "}", std::string("{ref: \"ma\\x01in\"}")})
    EXPECT_THAT(referencesIn(yaml("spec: " + wrong), "shop", {fields("spec.ref")}), IsEmpty()) << wrong;
  EXPECT_THAT(referencesIn(yaml("spec: {ref: [b, a, a]}"), "shop", {fields("spec.ref")}), SizeIs(2));
}

// Each bounds what one object costs; that it is not passed over is the safe side.
TEST(ObjectReferences, OfTooManyNameAll) {
  std::string names = "[a0";
  for (int i = 1; i < 1'000; ++i) names += ", a" + std::to_string(i);
  const ReferenceFields by = fields("spec.names");
  EXPECT_FALSE(namesNetwork(by, "{names: " + names + "]}"));
  EXPECT_TRUE(namesNetwork(by, "{names: " + names + ", b]}"));
  const ReferenceFields crossed = fields("spec.names", "spec.spaces");
  const std::string spec = "{names: " + names + "], spaces: [a, b]}";
  EXPECT_TRUE(namesNetwork(crossed, spec));
  EXPECT_THAT(referencesIn(yaml("spec: " + spec), "", {crossed}), SizeIs(1'001));
}

TEST(ObjectReferences, ByOtherFieldsAreOthers) {
  const auto found = referencesIn(yaml("spec: {a: main, b: main}"), "shop", {fields("spec.a")});
  EXPECT_TRUE(namesAny(found, {fields("spec.a"), kNetwork, ""}));
  EXPECT_FALSE(namesAny(found, {fields("spec.b"), kNetwork, ""}));
  EXPECT_FALSE(namesAny(found, {fields("spec.a", "spec.b"), kNetwork, ""}));
}

TEST(ObjectReferences, AreNoFinalizers) {
  const WantedReference wanted{fields("spec.ref.name", "spec.ref.namespace", "spec.ref.kind"), kNetwork,
                               "VPC"};
  const std::string text = toText(wanted);
  EXPECT_TRUE(isWantedReference(text));
  EXPECT_FALSE(isReference(text));
  EXPECT_EQ(wantedReferenceOf(text), wanted);
  EXPECT_EQ(nameIn(text), "main");
  EXPECT_FALSE(meansFinalizer(text, "main"));
  EXPECT_FALSE(meansFinalizer(text, "example.com/main"));
  EXPECT_FALSE(coversFinalizers("example.com/*", text));
  EXPECT_TRUE(coversFinalizers(text, text));
  for (const std::string& reference :
       referencesIn(yaml("spec: {ref: {name: main}}"), "shop", {wanted.fields})) {
    EXPECT_TRUE(isReference(reference));
    EXPECT_FALSE(isWantedReference(reference));
    EXPECT_EQ(nameIn(reference), "main");
    EXPECT_TRUE(meansFinalizer(text, reference));
  }
}

TEST(ObjectReferences, KnowTheUsualPlurals) {
  EXPECT_TRUE(isRegularPlural("vpcs", "VPC"));
  EXPECT_TRUE(isRegularPlural("policies", "Policy"));
  EXPECT_TRUE(isRegularPlural("classes", "Class"));
  EXPECT_TRUE(isRegularPlural("endpoints", "Endpoints"));
  EXPECT_FALSE(isRegularPlural("cacti", "Cactus"));
  EXPECT_FALSE(isRegularPlural("vpcs", "Gateway"));
}

}  // namespace
}  // namespace lastout::kube
