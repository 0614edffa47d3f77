// What is published of types: /openapi/v3, held against what kubectl looks for in it.
#include "simulator/openapi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kube/parse.h"
#include "simulator/builtin_schemas.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

Json documentOf(const TypeRegistry& types, const std::string& group, const std::string& version) {
  OpenApi openApi;
  return Json::parse(*openApi.document(types, group, version));
}

// A registry with a CRD of that schema.
TypeRegistry typesWith(const Json& schema) {
  Json crd = recordedRequest("010-create-crd");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema;
  TypeRegistry types;
  EXPECT_TRUE(types.put(crd));
  return types;
}

Json schemaOf(const Json& schema) {
  return documentOf(typesWith(schema), "my.crd.group",
                    "v1")["components"]["schemas"]["group.crd.my.v1.CoolResource"];
}

void collectReferences(const Json& json, std::set<std::string>& references) {
  if (json.is_object() && json.contains("$ref")) references.insert(json["$ref"]);
  if (json.is_structured()) {
    for (const Json& inner : json) collectReferences(inner, references);
  }
}

// As kubectl looks for it: a PATCH of the kind with the parameter fieldValidation.
TEST(OpenApi, SaysThatFieldsAreValidatedHere) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(recordedRequest("010-create-crd")));
  const Json document = documentOf(types, "my.crd.group", "v1");
  const Json& patch =
      document["paths"]["/apis/my.crd.group/v1/namespaces/{namespace}/coolresources/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"],
            Json::parse(R"({"group": "my.crd.group", "version": "v1", "kind": "CoolResource"})"));
  EXPECT_TRUE(std::ranges::any_of(patch["parameters"], [](const Json& one) {
    return one["name"] == "fieldValidation" && one["in"] == "query";
  }));
  EXPECT_TRUE(documentOf(types, "", "v1")["paths"].contains("/api/v1/namespaces/{name}"));
  EXPECT_EQ(OpenApi().document(types, "no.such.group", "v1"), nullptr);
}

TEST(OpenApi, TellsOfEveryBuiltInTypeAndOfNoOther) {
  std::set<std::string> described;
  for (const kube::CompiledText& one : builtInSchemaTexts()) {
    const auto documents = kube::parseYaml(one.text, one.file);
    ASSERT_TRUE(documents) << one.file;
    const Json entries = kube::toSortedJson(documents->front());
    for (const auto& [name, fields] : entries.items()) {
      if (name[0] >= 'a') described.insert(name);
    }
  }
  std::set<std::string> served;
  for (const ServedType& type : preinstalledTypes(kube::kNewestKubernetes)) {
    if (!type.builtIn) continue;
    served.insert(type.type.group.empty() ? type.type.resource : type.type.resource + "." + type.type.group);
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, RefersOnlyToWhatIsInTheDocument) {
  const TypeRegistry types;
  for (const ServedGroup& group : types.groups()) {
    for (const std::string& version : group.versions) {
      const Json document = documentOf(types, group.name, version);
      std::set<std::string> references;
      collectReferences(document, references);
      for (const std::string& reference : references) {
        ASSERT_TRUE(reference.starts_with("#/components/schemas/")) << reference;
        const std::string name = reference.substr(reference.rfind('/') + 1);
        EXPECT_TRUE(document["components"]["schemas"].contains(name)) << group.name << ": " << name;
      }
    }
  }
}

TEST(OpenApi, GivesACustomTypeWhatEveryObjectHas) {
  const Json schema =
      schemaOf(Json::parse(R"({"type": "object", "description": "Is cool.", "required": ["spec"],
      "properties": {"kind": {"type": "string", "description": "Mine."},
                     "spec": {"type": "object", "x-kubernetes-embedded-resource": true}}})"));
  EXPECT_EQ(schema["description"], "Is cool.");
  EXPECT_EQ(schema["required"], Json::array({"spec"}));
  EXPECT_EQ(schema["x-kubernetes-group-version-kind"][0],
            Json::parse(R"({"group": "my.crd.group", "version": "v1", "kind": "CoolResource"})"));
  EXPECT_NE(schema["properties"]["kind"]["description"], "Mine.");
  for (const Json* object : {&schema, &schema["properties"]["spec"]}) {
    EXPECT_EQ((*object)["properties"]["apiVersion"]["type"], "string");
    EXPECT_EQ((*object)["properties"]["metadata"]["allOf"][0]["$ref"],
              "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  }
}

// One CRD's mistake must not make the document of its group unreadable.
TEST(OpenApi, LeavesOutWhatIsNotFormedAsASchemaIs) {
  const Json schema = schemaOf(Json::parse(R"({"type": "object", "required": "spec", "description": 7,
      "properties": {"a": {"type": ["string"], "maxLength": 1.5, "minimum": 2, "nullable": "yes", "$ref": "#/x"},
                     "b": "string",
                     "c": {"type": "object", "additionalProperties": true},
                     "d": {"type": "array", "items": [{"type": "string"}]},
                     "e": {"anyOf": {"type": "string"}, "oneOf": [3, {"type": "integer"}]}}})"));
  EXPECT_FALSE(schema.contains("required"));
  EXPECT_FALSE(schema.contains("description"));
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties["a"], Json::parse(R"({"minimum": 2})"));
  EXPECT_FALSE(properties.contains("b"));
  EXPECT_EQ(properties["c"]["additionalProperties"],
            Json::parse(R"({"x-kubernetes-preserve-unknown-fields": true})"));
  EXPECT_EQ(properties["d"], Json::parse(R"({"type": "array"})"));
  EXPECT_EQ(properties["e"], Json::parse(R"({"oneOf": [{"type": "integer"}]})"));
}

// What a CRD says of values is data: what looks like a reference there brings nothing along.
TEST(OpenApi, TakesNoDataForReferences) {
  EXPECT_TRUE(sharedSchema("pods").is_null()) << "a type's own";
  EXPECT_TRUE(sharedSchema("deployments.apps").is_null()) << "a type's own";
  EXPECT_FALSE(sharedSchema("io.k8s.api.core.v1.PodSpec").is_null());
  const Json plain = Json::parse(R"({"type": "object", "properties": {"default": {"type": "object"}}})");
  const Json reference = Json::parse(R"({"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"})");
  const auto namesIn = [](const Json& schema) {
    std::set<std::string> names;
    const Json document = documentOf(typesWith(schema), "my.crd.group", "v1");
    for (const auto& [name, component] : document["components"]["schemas"].items()) names.insert(name);
    return names;
  };
  for (const char* key : {"default", "enum", "example", "x-kubernetes-validations"}) {
    Json schema = plain;
    const bool isList =
        key == std::string_view("enum") || key == std::string_view("x-kubernetes-validations");
    schema["properties"]["default"][key] = isList ? Json::array({reference}) : reference;
    EXPECT_EQ(namesIn(schema), namesIn(plain)) << key;
  }
  Json embeds = plain;
  embeds["properties"]["default"]["x-kubernetes-embedded-resource"] = true;
  EXPECT_TRUE(schemaOf(embeds)["properties"]["default"]["properties"]["metadata"].contains("allOf"));
}

TEST(OpenApi, IsBuiltOnceAndHasAnotherAddressWhenATypeChanges) {
  OpenApi openApi;
  TypeRegistry types = typesWith(Json::parse(R"({"type": "object"})"));
  const auto addressOf = [&](const char* path) {
    return std::string(openApi.index(types)["paths"][path]["serverRelativeURL"]);
  };
  const std::string before = addressOf("apis/my.crd.group/v1");
  const std::string apps = addressOf("apis/apps/v1");
  EXPECT_TRUE(before.starts_with("/openapi/v3/apis/my.crd.group/v1?hash=")) << before;
  EXPECT_EQ(openApi.document(types, "apps", "v1"), openApi.document(types, "apps", "v1"));
  types = typesWith(Json::parse(R"({"type": "object", "description": "Is cool."})"));
  EXPECT_NE(addressOf("apis/my.crd.group/v1"), before);
  EXPECT_EQ(addressOf("apis/apps/v1"), apps);
  types.remove({"my.crd.group", "coolresources"});
  EXPECT_FALSE(openApi.index(types)["paths"].contains("apis/my.crd.group/v1"));
}

}  // namespace
}  // namespace lastout::simulator
