// What a CRD's schema does to objects.
#include "simulator/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ServedType coolType() { return servedTypesOf(recordedRequest("010-create-crd"))->front(); }

// Each problem as "field: message" of a value under `spec`, which has this schema.
std::vector<std::string> problems(const char* schema, const char* value) {
  const Json whole = {{"type", "object"}, {"properties", {{"spec", Json::parse(schema)}}}};
  std::vector<std::string> words;
  for (const StatusCause& cause : schemaProblems(whole, {{"spec", Json::parse(value)}}))
    words.push_back(cause.field + ": " + cause.message);
  return words;
}

Json pruned(const char* schema, const char* object) {
  Json result = Json::parse(object);
  prune(Json::parse(schema), result);
  return result;
}

Json defaulted(const char* schema, const char* object) {
  Json result = Json::parse(object);
  applyDefaults(Json::parse(schema), result);
  return result;
}

TEST(Schema, SaysWhatTheRecordedServerSaysOfWrongTypesAndMissingFields) {
  for (const char* name : {"016-create-wrong-type", "017-create-missing-required"}) {
    const auto causes = schemaProblems(coolType().schema, recordedRequest(name));
    EXPECT_EQ(statusOf(invalid("CoolResource", "my.crd.group", "bad", causes)), recordedAnswer(name));
  }
  EXPECT_THAT(schemaProblems(coolType().schema, recordedRequest("014-create-plain")), IsEmpty());
}

TEST(Schema, ReportsUnknownFieldsAsTheClientWants) {
  const Json sent = recordedRequest("022-create-unknown-field");
  Json object = sent;
  EXPECT_EQ(statusOf(decodeBySchema(coolType(), FieldValidation::Strict, object).error()),
            recordedAnswer("022-create-unknown-field"));
  object = sent;
  EXPECT_THAT(*decodeBySchema(coolType(), FieldValidation::Warn, object),
              ElementsAre("unknown field \"spec.colour\""));
  EXPECT_EQ(object["spec"], Json::parse(R"({"size": 1})"));
  object = sent;
  EXPECT_THAT(*decodeBySchema(coolType(), FieldValidation::Ignore, object), IsEmpty());
  EXPECT_EQ(object["spec"], Json::parse(R"({"size": 1})"));
  EXPECT_EQ(parseFieldValidation(""), FieldValidation::Warn);
  EXPECT_EQ(parseFieldValidation("strict"), std::nullopt);
}

TEST(Schema, ChecksTypes) {
  EXPECT_THAT(problems(R"({"type": "integer"})", "3.0"), IsEmpty());
  EXPECT_THAT(problems(R"({"type": "number"})", "3"), IsEmpty());
  EXPECT_THAT(
      problems(R"({"type": "integer"})", "1e300"),
      ElementsAre("spec: Invalid value: \"number\": spec in body must be of type integer: \"number\""));
  EXPECT_THAT(problems(R"({"type": "string"})", "null"),
              ElementsAre("spec: Invalid value: \"null\": spec in body must be of type string: \"null\""));
  EXPECT_THAT(problems(R"({"type": "string", "nullable": true})", "null"), IsEmpty());
  const char* either = R"({"x-kubernetes-int-or-string": true})";
  EXPECT_THAT(problems(either, "\"25%\""), IsEmpty());
  EXPECT_THAT(problems(either, "25"), IsEmpty());
  EXPECT_THAT(
      problems(either, "true"),
      ElementsAre(
          "spec: Invalid value: \"boolean\": spec in body must be of type integer,string: \"boolean\""));
}

TEST(Schema, ChecksTexts) {
  EXPECT_THAT(problems(R"({"type": "string", "maxLength": 3})", "\"äöü\""),
              IsEmpty());  // characters, not bytes
  EXPECT_THAT(problems(R"({"type": "string", "maxLength": 3})", "\"four\""),
              ElementsAre("spec: Too long: may not be longer than 3"));
  EXPECT_THAT(problems(R"({"type": "string", "minLength": 1})", "\"\""),
              ElementsAre("spec: Invalid value: \"\": spec in body should be at least 1 chars long"));
  EXPECT_THAT(problems(R"({"type": "string", "pattern": "^[a-z]+$"})", "\"A\""),
              ElementsAre("spec: Invalid value: \"A\": spec in body should match '^[a-z]+$'"));
  EXPECT_THAT(problems(R"({"type": "string", "enum": ["a", "b"]})", "\"c\""),
              ElementsAre("spec: Unsupported value: \"c\": supported values: \"a\", \"b\""));
}

TEST(Schema, IsNotHeldUpByAPattern) {
  const std::string text = "\"" + std::string(4000, 'a') + "!\"";
  EXPECT_EQ(problems(R"({"type": "string", "pattern": "^(a+)+$"})", text.c_str()).size(), 1U);
  EXPECT_THAT(problems(R"({"type": "string", "pattern": "("})", "\"x\""), IsEmpty());
}

TEST(Schema, ChecksNumbers) {
  EXPECT_THAT(problems(R"({"type": "integer", "minimum": 1})", "0"),
              ElementsAre("spec: Invalid value: 0: spec in body should be greater than or equal to 1"));
  EXPECT_THAT(problems(R"({"type": "number", "maximum": 1, "exclusiveMaximum": true})", "1"),
              ElementsAre("spec: Invalid value: 1: spec in body should be less than 1"));
  EXPECT_THAT(problems(R"({"type": "integer", "minimum": 1, "maximum": 2})", "2"), IsEmpty());
}

TEST(Schema, ChecksListsAndTheirItems) {
  const char* schema = R"({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}})";
  EXPECT_THAT(problems(schema, "[]"),
              ElementsAre("spec: Invalid value: 0: spec in body should have at least 1 items"));
  EXPECT_THAT(problems(schema, "[1, 2, 3]"), ElementsAre("spec: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(
      problems(schema, "[1, \"x\"]"),
      ElementsAre("spec[1]: Invalid value: \"string\": spec[1] in body must be of type integer: \"string\""));
  EXPECT_THAT(problems(R"({"type": "array", "x-kubernetes-list-type": "set"})", R"(["a", "b", "a"])"),
              ElementsAre("spec[2]: Duplicate value: \"a\""));
  EXPECT_THAT(
      problems(
          R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]})",
          R"([{"type": "A", "x": 1}, {"type": "A", "x": 2}])"),
      ElementsAre("spec[1]: Duplicate value: map[string]interface {}{\"type\":\"A\"}"));
}

TEST(Schema, ChecksAlternatives) {
  const char* required = R"({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})";
  EXPECT_THAT(problems(required, R"({"a": 1})"), IsEmpty());
  EXPECT_THAT(
      problems(required, R"({"a": 1, "b": 2})"),
      ElementsAre(
          "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found 2 valid "
          "alternatives"));
  EXPECT_THAT(problems(R"({"anyOf": [{"minimum": 5}, {"maximum": 1}]})", "3"),
              ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate at least one schema (anyOf)",
                          "spec: Invalid value: 3: spec in body should be greater than or equal to 5"));
  EXPECT_EQ(problems(R"({"allOf": [{"minimum": 5}, {"maximum": 9}]})", "3").size(), 2U);
  EXPECT_THAT(problems(R"({"not": {"enum": [3]}})", "3"),
              ElementsAre("<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not)"));
  EXPECT_THAT(problems(R"({"not": {"enum": [3]}})", "4"), IsEmpty());
}

TEST(Schema, ChecksMembersAndEmbeddedResources) {
  EXPECT_THAT(
      problems(R"({"type": "object", "additionalProperties": {"type": "string"}})", R"({"a": 1})"),
      ElementsAre("spec.a: Invalid value: \"integer\": spec.a in body must be of type string: \"integer\""));
  EXPECT_THAT(problems(R"({"type": "object", "x-kubernetes-embedded-resource": true})", R"({"kind": "Pod"})"),
              ElementsAre("spec.apiVersion: Required value: must not be empty"));
}

TEST(Schema, PrunesWhatItDoesNotKnowButNeverMetadata) {
  const char* object = R"({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "x", "odd": 1}, "other": 1,
                           "spec": {"a": {"b": 1}, "list": [{"x": 1, "y": 2}], "map": {"any": {"x": 1, "y": 2}}}})";
  EXPECT_EQ(pruned(R"({"type": "object"})", object),
            Json::parse(R"({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "x", "odd": 1}})"));
  const char* schema = R"({"properties": {"spec": {"properties": {
      "a": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
      "list": {"items": {"properties": {"x": {}}}},
      "map": {"additionalProperties": {"properties": {"x": {}}}}}}}})";
  EXPECT_EQ(pruned(schema, object)["spec"],
            Json::parse(R"({"a": {"b": 1}, "list": [{"x": 1}], "map": {"any": {"x": 1}}})"));
  Json copy = Json::parse(object);
  EXPECT_THAT(prune(Json::parse(schema), copy), ElementsAre("other", "spec.list[0].y", "spec.map.any.y"));
  EXPECT_EQ(pruned("null", object), Json::parse(object));
}

TEST(Schema, PrunesTheUnknownInsideWhatIsPreservedWhereItIsSpecified) {
  const char* schema =
      R"({"x-kubernetes-preserve-unknown-fields": true, "properties": {"spec": {"properties": {"a": {}}}}})";
  EXPECT_EQ(pruned(schema, R"({"spec": {"a": 1, "b": 2}, "more": {"c": 3}})"),
            Json::parse(R"({"spec": {"a": 1}, "more": {"c": 3}})"));
  const char* embedded =
      R"({"properties": {"template": {"type": "object", "x-kubernetes-embedded-resource": true}}})";
  EXPECT_EQ(pruned(embedded, R"({"template": {"kind": "Pod", "metadata": {"name": "x"}, "spec": {}}})"),
            Json::parse(R"({"template": {"kind": "Pod", "metadata": {"name": "x"}}})"));
}

TEST(Schema, FillsInDefaultsWhereTheirParentIs) {
  const char* schema = R"({"properties": {"spec": {"properties": {
      "mode": {"type": "string", "default": "Ordered"},
      "maybe": {"type": "string", "nullable": true, "default": "x"},
      "items": {"items": {"properties": {"group": {"default": ""}}}}}}}})";
  EXPECT_EQ(defaulted(schema, "{}"), Json::object());
  EXPECT_EQ(defaulted(schema, R"({"spec": {"mode": null, "maybe": null, "items": [{}]}})"),
            Json::parse(R"({"spec": {"mode": "Ordered", "maybe": null, "items": [{"group": ""}]}})"));
}

TEST(Schema, OfOurOwnCrdKeepsItsPromises) {
  const ServedTypePointer service = TypeRegistry().find("lastout.dev", "v1alpha1", "criticalservices");
  Json good = Json::parse(
      R"({"apiVersion": "lastout.dev/v1alpha1", "kind": "CriticalService", "metadata": {"name": "x"},
      "spec": {"provider": {"resource": "deployments", "name": "d"},
               "criteria": [{"type": "Finalizer", "finalizer": {"resource": "cools", "finalizerName": "x.io/y"}}]}})");
  ASSERT_TRUE(decodeBySchema(*service, FieldValidation::Strict, good));
  EXPECT_EQ(good["spec"]["deletionIntent"], "Ordered");
  EXPECT_EQ(good["spec"]["provider"]["group"], "");
  EXPECT_THAT(schemaProblems(service->schema, good), IsEmpty());
  good["spec"]["criteria"] = Json::array();
  EXPECT_EQ(schemaProblems(service->schema, good).front().field, "spec.criteria");
}

TEST(Schema, ThatIsNoSchemaLetsEverythingPass) {
  const Json odd =
      Json::parse(R"({"type": 3, "required": "x", "properties": [], "enum": {}, "items": 1, "anyOf": [7],
                                   "pattern": [], "maxLength": "x", "minimum": {}, "default": 1})");
  for (const Json& value :
       {Json(nullptr), Json("x"), Json(1), Json::array({1}), Json{{"a", Json::object()}}}) {
    Json copy = value;
    prune(odd, copy);
    applyDefaults(odd, copy);
    EXPECT_THAT(schemaProblems(odd, copy), IsEmpty());
  }
}

}  // namespace
}  // namespace lastout::simulator
