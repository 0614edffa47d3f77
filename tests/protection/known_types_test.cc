// A policy's types and fields beside those of a cluster.
#include "protection/known_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kube/parse.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kDatabaseDefinition = R"(
spec:
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              deletionProtection: {type: boolean}
              ref: {type: object, properties: {name: {type: string}}}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
              limits: {type: object, additionalProperties: {type: string}}
              users:
                type: array
                items: {type: object, properties: {name: {type: string}, kind: {type: string}, apiVersion: {type: string}}}
  - name: v1alpha1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {deletionProtection: {type: boolean}}}}
  - name: v0
    served: false
    schema: {openAPIV3Schema: {type: object}}
)";

// Databases, which a CRD defines, and Kubernetes' own types, of which Deployments and ConfigMaps are enough.
std::vector<std::string> unknownOf(std::string_view spec) {
  static const kube::Value kDefinition = kube::parseYaml(kDatabaseDefinition, "")->front();
  const kube::GroupResource databases{"db.example.com", "databases"};
  KnownTypes known;
  known.served = {{"apps", "deployments"}, {"", "configmaps"}, databases};
  known.isMissing = [&](const ResourcePattern& pattern) {
    return std::ranges::none_of(known.served,
                                [&](const kube::GroupResource& type) { return pattern.matches(type); });
  };
  known.definitionOf = [&](const kube::GroupResource& type) {
    return type == databases ? &kDefinition : nullptr;
  };
  return unknownTypes(policyOf(spec), known);
}

std::vector<std::string> unknownField(const std::string& path) {
  return unknownOf(
      "  objects: [{resources: [{group: db.example.com, resource: databases}]}]\n  when: [{field: {path: " +
      path + "}}]\n");
}

TEST(KnownTypes, WhatIsThereIsKnown) {
  for (const char* path : {"spec.deletionProtection", "metadata.name", "kind"})
    EXPECT_THAT(unknownField(path), IsEmpty()) << path;
}

TEST(KnownTypes, AMisspeltFieldIsNamedWithTheNearest) {
  EXPECT_THAT(
      unknownField("spec.deletionProtecion"),
      ElementsAre("spec.when: databases.db.example.com v1 has no field spec.deletionProtecion; did you mean "
                  "\"deletionProtection\"?"));
  EXPECT_THAT(
      unknownField("spce.deletionProtection"),
      ElementsAre("spec.when: databases.db.example.com v1 has no field spce; did you mean \"spec\"?"));
}

// A request may come in any of them.
TEST(KnownTypes, AFieldOfTheObjectsHasToBeInEveryVersionThatIsServed) {
  for (const char* path : {"spec.ref.name", "spec.extra.anything", "spec.limits.cpu"})
    EXPECT_THAT(unknownField(path),
                ElementsAre("spec.when: databases.db.example.com v1alpha1 has no field " +
                            std::string(path).substr(0, std::string_view(path).rfind('.'))))
        << path;
}

TEST(KnownTypes, NoPathEntersAList) {
  EXPECT_THAT(
      unknownField("spec.users.name"),
      ElementsAre(
          "spec.when: databases.db.example.com v1 has a list in spec.users, which no field path enters"));
}

TEST(KnownTypes, ATypeThatNobodyServesIsNamed) {
  EXPECT_THAT(
      unknownOf(
          "  objects: [{resources: [{group: db.example.com, resource: databses}, {resource: deployments}, "
          "{group: a.b, resource: cs}]}]\n"),
      ElementsAre("spec.objects: the cluster serves no databses.db.example.com; did you mean "
                  "\"databases.db.example.com\"?",
                  "spec.objects: the cluster serves no deployments; did you mean \"deployments.apps\"?",
                  "spec.objects: the cluster serves no cs.a.b"));
  EXPECT_THAT(
      unknownOf(
          "  objects: [{resources: [{group: '*', resource: databases}, {group: apps, resource: '*'}]}]\n"
          "  when: [{label: a/b}]\n"),
      IsEmpty());
  EXPECT_THAT(unknownOf("  objects: [{resources: [{group: '*', resource: databses}]}]\n"
                        "  when: [{label: a/b}]\n"),
              ElementsAre("spec.objects: the cluster serves no databses.*"));
}

TEST(KnownTypes, ChildrenAndListersAreComparedToo) {
  const std::string objects = "  objects: [{resources: [{resource: configmaps}]}]\n  when: [{children: [";
  EXPECT_THAT(unknownOf(objects + "{group: db.example.com, resource: databases, field: spec.ref.name}]}]\n"),
              IsEmpty())
      << "one version has it, and the newest is read";
  EXPECT_THAT(
      unknownOf(objects + "{group: db.example.com, resource: databases, field: spec.rfe.name}]}]\n"),
      ElementsAre("spec.when.children: databases.db.example.com v1 has no field spec.rfe; did you mean "
                  "\"ref\"?"));
  EXPECT_THAT(unknownOf(objects + "{resource: secretz, ownerReference: true}]}]\n"),
              ElementsAre("spec.when.children: the cluster serves no secretz"));
  const auto listedBy = [](const std::string& entries, const std::string& kind) {
    return "  listedBy: {group: db.example.com, resource: databases, entries: " + entries +
           ", apiVersion: apiVersion, kind: " + kind + ", name: name}\n";
  };
  EXPECT_THAT(unknownOf(listedBy("spec.users", "kind")), IsEmpty());
  EXPECT_THAT(
      unknownOf(listedBy("spec.users", "knid")),
      ElementsAre("spec.listedBy: databases.db.example.com v1 has no field spec.users.knid; did you mean "
                  "\"kind\"?"));
  EXPECT_THAT(unknownOf(listedBy("spec.uesrs", "kind")),
              ElementsAre("spec.listedBy: databases.db.example.com v1 has no field spec.uesrs; did you mean "
                          "\"users\"?"));
}

TEST(KnownTypes, FieldsAreComparedOfTypesWithADefinitionAlone) {
  EXPECT_THAT(unknownOf("  objects: [{resources: [{group: apps, resource: deployments}]}]\n"
                        "  when: [{field: {path: spec.nothing}}]\n"),
              IsEmpty());
  const std::string all =
      "  objects: [{resources: [{group: apps, resource: deployments}, {group: '*', resource: x}]}]\n"
      "  when: [{field: {path: spec.a}}, {children: [{group: a.b, resource: cs, field: spec.b}, "
      "{resource: pods, label: a/b}]}]\n";
  EXPECT_THAT(typesWithFields(policyOf(all)), UnorderedElementsAre(kube::GroupResource{"apps", "deployments"},
                                                                   kube::GroupResource{"a.b", "cs"}));
  EXPECT_THAT(typesWithFields(policyOf("  objects: [{resources: [{resource: pods}]}]\n")), IsEmpty());
}

TEST(KnownTypes, ManyAreCutShort) {
  EXPECT_EQ(joinedUnknown({}), "");
  EXPECT_EQ(joinedUnknown({"a", "b?", "c"}), "a. b? c");
  EXPECT_EQ(joinedUnknown(std::vector<std::string>(12, "x")), "x. x. x. x. x. x. x. x. x. x. And 2 more");
}

}  // namespace
}  // namespace lastout::protection
