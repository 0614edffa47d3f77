// The CRD that is shipped and the parser agree about the fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "tests/support/crd_schema.h"
#include "tests/support/manifests.h"

namespace lastout::criticalservice {
namespace {

using ::testing::UnorderedElementsAreArray;

kube::Object crd() { return testing::crdOf("deploy/crd/criticalservices.yaml"); }

const kube::Value& version(const kube::Object& crd) {
  return crd.content.at({"spec", "versions"})->asList()->at(0);
}

const kube::Value& specSchema(const kube::Object& crd) {
  return *version(crd).at({"schema", "openAPIV3Schema", "properties", "spec"});
}

// A manifest's value for a schema: every property is there but for those of these names, with the first word
// of an enumeration.
kube::Value example(const kube::Value& schema, std::string_view name, const std::set<std::string>& without) {
  if (const kube::Value* choices = schema.find("enum")) return choices->asList()->at(0);
  if (schema.find("type") == nullptr) return *schema.find("default");
  const std::string type = *schema.find("type")->asString();
  if (type == "array") return {kube::Value::List{example(*schema.find("items"), name, without)}, {}};
  // That does not go with the field before it.
  if (type == "boolean") return {name != kExceptField, {}};
  if (type != "object") {
    if (name == "group") return {std::string("apps"), {}};
    if (name == "resource") return {std::string("deployments"), {}};
    return {std::string("a"), {}};
  }
  kube::Value::Map map;
  if (const kube::Value* values = schema.find("additionalProperties"))
    map.push_back({"a", {}, example(*values, "a", without)});
  if (const kube::Value* properties = schema.find("properties")) {
    for (const kube::Member& member : *properties->asMap())
      if (!without.contains(member.key))
        map.push_back({member.key, {}, example(member.value, member.key, without)});
  }
  return {std::move(map), {}};
}

TEST(CriticalServiceCrd, DefinesTheTypeThatIsBuiltIn) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const kube::ResourceType before = *types.find(criticalServiceType());
  const auto added = types.addCrd(crd().content, "deploy/crd/criticalservices.yaml");
  ASSERT_TRUE(added) << kube::toString(added.error());
  EXPECT_EQ(added->type, criticalServiceType());
  EXPECT_EQ(added->kind, kKind);
  EXPECT_EQ(added->type.group + "/" + added->version, kube::kLastoutApiVersion);
  EXPECT_FALSE(added->namespaced);
  EXPECT_EQ(added->singular, before.singular);
  EXPECT_EQ(added->shortNames, before.shortNames);
}

TEST(CriticalServiceCrd, ItsSchemaHasTheFieldsThatAreWritten) {
  CriticalService service;
  service.provider = {{"apps", "deployments"}, "n", "d"};
  FinalizerCriterion finalizer{{"a.b", "cs"}, "f", true};
  FinalizerCriterion scoped = finalizer;
  finalizer.scope = kube::NamespaceScope::outside("n");
  scoped.scope = kube::NamespaceScope::within({"n"});
  const kube::ReferenceFields fields{*kube::parseFieldPath("spec.a"), kube::parseFieldPath("spec.b"),
                                     kube::parseFieldPath("spec.c")};
  FinalizerCriterion selecting = scoped;
  selecting.scope = kube::NamespaceScope::selectedBy("a in (b)");
  service.criteria = {finalizer, scoped, selecting,
                      SpecificResourceCriterion{{{"apps", "deployments"}, "n", "other"}},
                      ReferenceCriterion{{"a.b", "cs"}, {fields, service.provider, "Deployment"}}};
  service.guardsScaling = true;
  service.deferral = DeferralMode::Never;
  service.enforcement = EnforcementMode::Hold;
  service.dependencies.mode = DependencyMode::None;
  std::set<std::string> written = testing::fieldsOf(*toManifest(service).find("spec"));
  written.insert("replay");  // the former name of deferredDeletions, which is read alone
  written.insert("criteria[].finalizer.namespaces.sameAsProvider");        // written as that name
  written.insert("criteria[].finalizer.namespaces.selector.matchLabels");  // written as expressions
  const kube::Object object = crd();
  EXPECT_THAT(testing::propertiesOf(specSchema(object)), UnorderedElementsAreArray(written));
}

// A criterion has one of its members, and namespaces are named or selected.
TEST(CriticalServiceCrd, WhateverItsSchemaHasIsRead) {
  const kube::Object definition = crd();
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  for (const std::set<std::string>& without :
       {std::set<std::string>{"specificResource", "reference", "selector"},
        {"specificResource", "reference", "names", "sameAsProvider"}}) {
    kube::Value manifest = toManifest(CriticalService{});
    for (kube::Member& member : *std::get_if<kube::Value::Map>(&manifest.data)) {
      if (member.key == "metadata")
        member.value = {kube::Value::Map{{"name", {}, {std::string("x"), {}}}}, {}};
      if (member.key == "spec") member.value = example(specSchema(definition), "spec", without);
    }
    const auto object = kube::parseObject(std::move(manifest), "", types);
    ASSERT_TRUE(object) << kube::toString(object.error());
    const auto parsed = parse(*object, types);
    EXPECT_TRUE(parsed) << testing::lines(parsed.error());
  }
}

TEST(CriticalServiceCrd, ItsEnumerationsAreTheParsers) {
  const kube::Object object = crd();
  const kube::Value& spec = specSchema(object);
  std::vector<std::string> intents;
  for (const kube::Value& word : *spec.at({"properties", "deletionIntent", "enum"})->asList()) {
    intents.push_back(*word.asString());
  }
  EXPECT_THAT(intents, ::testing::ElementsAre(toString(DeletionIntent::Ordered),
                                              toString(DeletionIntent::BestEffortDeletion),
                                              toString(DeletionIntent::OrphanResources)));
  EXPECT_EQ(*spec.at({"properties", "deletionIntent", "default"})->asString(),
            toString(CriticalService{}.intent));
  std::vector<std::string> enforcements;
  for (const kube::Value& word : *spec.at({"properties", "enforcement", "enum"})->asList())
    enforcements.push_back(*word.asString());
  EXPECT_THAT(enforcements,
              ::testing::ElementsAre(toString(EnforcementMode::Deny), toString(EnforcementMode::Hold)));
  EXPECT_EQ(*spec.at({"properties", "enforcement", "default"})->asString(),
            toString(CriticalService{}.enforcement));
  std::vector<std::string> words;
  for (const kube::Value& word : *spec.at({"properties", "deferredDeletions", "enum"})->asList())
    words.push_back(*word.asString());
  EXPECT_THAT(words, ::testing::ElementsAre(toString(DeferralMode::Controllers),
                                            toString(DeferralMode::Always), toString(DeferralMode::Never)));
  EXPECT_EQ(spec.at({"properties", "deferredDeletions", "default"}), nullptr)
      << "it would hide what stands under the former name, replay";
}

TEST(CriticalServiceCrd, StatusIsASubresourceThatKeepsTheProvidersUid) {
  const kube::Object object = crd();
  EXPECT_NE(version(object).at({"subresources", "status"}), nullptr);
  const std::set<std::string> inSchema =
      testing::propertiesOf(*version(object).at({"schema", "openAPIV3Schema", "properties", "status"}));
  EXPECT_EQ(inSchema.count("provider.uid"), 1u);
}

TEST(CriticalServiceCrd, PrinterColumnsShowFieldsThatExist) {
  EXPECT_THAT(testing::columnsWithoutField(version(crd())), ::testing::IsEmpty());
}

}  // namespace
}  // namespace lastout::criticalservice
