// Bodies and media types, held against recorded exchanges.
#include "simulator/decode.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

template <class T>
Json refusal(const ApiResult<T>& result) {
  return result ? Json("accepted") : statusOf(result.error());
}

int codeOf(std::string_view body, std::string_view contentType = "application/json") {
  const auto result = decodeBody(body, contentType);
  return result ? 200 : result.error().code;
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(DecodeBody, ReadsJsonAndYaml) {
  const Json object = {{"a", {1, -1, 1.5, true, nullptr, "\u00e9"}}, {"b", Json::object()}};
  for (const char* type : {"", "application/json", "Application/JSON; charset=utf-8", "application/yaml"})
    EXPECT_EQ(*decodeBody(object.dump(), type), object) << type;
  EXPECT_EQ(*decodeBody("a: [1, -1, 1.5, true, null, \u00e9]\nb: {}\n", "application/yaml"), object);
  EXPECT_EQ((*decodeBody("a: 1", "application/yaml"))["a"].type(), Json::parse("1").type());
  EXPECT_EQ(*decodeBody("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "application/yaml"),
            Json::parse(R"({"a": {"b": 1}, "c": {"b": 1, "d": 2}})"));
}

TEST(DecodeBody, ReadsEveryRecordedOne) {
  for (const char* name : {"010-create-crd", "072-create-deployment", "098-create-webhook-configuration"}) {
    const Json body = recordedExchange(name)["request"]["body"];
    EXPECT_EQ(*decodeBody(body.dump(2), "application/json"), body) << name;
  }
}

TEST(DecodeBody, RefusesOtherMediaTypes) {
  const Json exchange = recordedExchange("047-unsupported-media-type");
  EXPECT_EQ(refusal(decodeBody(exchange["request"]["body"].dump(), "text/plain")),
            exchange["response"]["body"]);
  EXPECT_EQ(codeOf("{}", "application/cbor"), 415);
}

TEST(DecodeBody, RefusesWhatIsNoObject) {
  for (const char* body : {"", " ", "[]", "1", "null", "{", "{\"a\":1}x", "{\"a\":1,}", "{\"a\":1e999}",
                           "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1,\"a\":1}", "\xEF\xBB\xBF{}"})
    EXPECT_EQ(codeOf(body), 400) << body;
  EXPECT_EQ(codeOf(std::string_view("{}\0{", 4)), 400);
  for (const char* body :
       {"", "- a", "a: 1\n---\nb: 1", "a: &x [*x]", "a: {{ .Values.a }}", "a: 1\na: 1", "a: ["})
    EXPECT_EQ(codeOf(body, "application/yaml"), 400) << body;
}

TEST(DecodeBody, SaysWhatItShouldHaveBeen) {
  EXPECT_EQ(decodeBody("[]", "", "Deployment").error().message,
            "the object provided is unrecognized (must be of type Deployment): it is array, not an object");
  EXPECT_EQ(
      decodeBody("{\"a\":1,\"a\":2}", "").error().message,
      "the object provided is unrecognized: couldn't get version/kind; json parse error: the key \"a\" is "
      "there twice");
}

TEST(DecodeBody, HasLimits) {
  EXPECT_EQ(codeOf("{\"a\":" + nested(63) + "}"), 200);
  EXPECT_EQ(codeOf("{\"a\":" + nested(64) + "}"), 400);
  EXPECT_EQ(codeOf("a: " + nested(64), "application/yaml"), 400);
  EXPECT_EQ(codeOf("{" + std::string(kMostBodyBytes - 2, ' ') + "}"), 200);
  EXPECT_EQ(codeOf("{" + std::string(kMostBodyBytes - 1, ' ') + "}"), 413);
  std::string many = "{\"a\":[0";
  for (size_t i = 0; i < kMostJsonValues; ++i) many += ",0";
  EXPECT_EQ(codeOf(many + "]}"), 400);
}

TEST(ParseJsonText, KeepsIntegersExactAsLongAsInt64Does) {
  EXPECT_EQ(*parseJsonText("9223372036854775807"), 9223372036854775807U);
  EXPECT_EQ(*parseJsonText("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(parseJsonText("9223372036854775808")->is_number_float());
}

TEST(ParseJsonText, SaysWhatGoSaysOfABadBeginning) {
  EXPECT_EQ(parseJsonText("x").error(), "invalid character 'x' looking for beginning of value");
  EXPECT_EQ(parseJsonText("\x81").error(), "invalid character '\\u0081' looking for beginning of value");
  EXPECT_EQ(parseJsonText("\xEF").error(), "invalid character '\u00ef' looking for beginning of value");
  EXPECT_EQ(parseJsonText("\x01").error(), "invalid character '\\x01' looking for beginning of value");
  EXPECT_EQ(parseJsonText("").error(), "unexpected end of JSON input");
}

using Form = Representation::Form;

std::string accepted(std::string_view accept) {
  const auto result = parseAccept(accept);
  if (!result) return std::to_string(result.error().code);
  constexpr std::string_view kForms[] = {"full", "metadata", "metadata list", "table"};
  std::string text(kForms[static_cast<size_t>(result->form)]);
  if (result->form != Form::Full) text += " " + result->version;
  return text + (result->yaml ? " yaml" : "");
}

TEST(Accept, TakesTheFirstFormThatCanBeHad) {
  EXPECT_EQ(accepted(""), "full");
  EXPECT_EQ(accepted("*/*"), "full");
  EXPECT_EQ(accepted("text/html, application/*;q=0.8"), "full");
  EXPECT_EQ(accepted("application/vnd.kubernetes.protobuf,application/json"), "full");
  EXPECT_EQ(accepted("application/yaml"), "full yaml");
  EXPECT_EQ(accepted("application/json;q=0, application/yaml"), "full yaml");
  EXPECT_EQ(
      accepted(
          "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
          "application/json"),
      "table v1");
  EXPECT_EQ(
      accepted(
          "application/json;as=Table;v=v2;g=meta.k8s.io, application/json;as=Table;v=v1beta1;g=meta.k8s.io"),
      "table v1beta1");
  EXPECT_EQ(accepted("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
                     "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"),
            "metadata v1");
  EXPECT_EQ(accepted("application/json;as=Nothing;v=v1;g=meta.k8s.io"), "406");
  EXPECT_EQ(accepted("application/vnd.kubernetes.protobuf"), "406");
  EXPECT_EQ(accepted(",;=,;;,"), "406");
}

TEST(Accept, IsReadAsRecorded) {
  const auto acceptOf = [](const std::string& name) -> std::string {
    return recordedExchange(name)["request"]["headers"]["Accept"];
  };
  EXPECT_EQ(accepted(acceptOf("041-get")), "full");
  EXPECT_EQ(accepted(acceptOf("030-list-metadata-only")), "metadata list v1");
  EXPECT_EQ(accepted(acceptOf("042-get-metadata-only")), "metadata v1");
  EXPECT_EQ(accepted(acceptOf("031-list-table")), "table v1");
  const std::string xml = acceptOf("046-not-acceptable");
  EXPECT_EQ(refusal(parseAccept(xml)), recordedExchange("046-not-acceptable")["response"]["body"]);
}

TEST(PatchType, IsNamedByTheContentType) {
  const kube::GroupResource cool{"my.crd.group", "coolresources"};
  const kube::GroupResource deployments{"apps", "deployments"};
  EXPECT_EQ(parsePatchType("application/json-patch+json", cool), PatchType::Json);
  EXPECT_EQ(parsePatchType("application/merge-patch+json; charset=utf-8", cool), PatchType::Merge);
  EXPECT_EQ(parsePatchType("application/apply-patch+yaml", cool), PatchType::Apply);
  EXPECT_EQ(parsePatchType("application/strategic-merge-patch+json", deployments), PatchType::Strategic);
  EXPECT_EQ(parsePatchType("application/strategic-merge-patch+json", {"rbac.authorization.k8s.io", "roles"}),
            PatchType::Strategic);
  EXPECT_EQ(refusal(parsePatchType("application/strategic-merge-patch+json", cool)),
            recordedExchange("051-patch-strategic-on-custom-resource")["response"]["body"]);
  EXPECT_EQ(parsePatchType("application/json", deployments).error().message,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/strategic-merge-patch+json, application/apply-patch+yaml");
}

TEST(DecodePatch, TakesYamlForApplyAlone) {
  EXPECT_EQ(*decodePatch("kind: A", PatchType::Apply), Json({{"kind", "A"}}));
  EXPECT_EQ(*decodePatch("{\"kind\":\"A\"}", PatchType::Apply), Json({{"kind", "A"}}));
  EXPECT_EQ(decodePatch("kind: A", PatchType::Merge).error().code, 400);
  EXPECT_EQ(decodePatch("- a", PatchType::Apply).error().code, 400);
}

TEST(DecodePatch, WantsAListForJsonPatchesAndAnObjectForOthers) {
  EXPECT_TRUE(decodePatch("[]", PatchType::Json));
  EXPECT_EQ(decodePatch("{}", PatchType::Json).error().code, 400);
  for (const PatchType type : {PatchType::Merge, PatchType::Strategic, PatchType::Apply})
    EXPECT_EQ(decodePatch("[]", type).error().code, 400);
  EXPECT_EQ(decodePatch(std::string(kMostBodyBytes + 1, ' '), PatchType::Merge).error().code, 413);
}

}  // namespace
}  // namespace lastout::simulator
