// JSON patch and merge patch by the examples of RFC 6902 (appendix A) and RFC 7396 (appendix A), and apply.
#include "simulator/patch.h"

#include <gtest/gtest.h>

#include "simulator/decode.h"

namespace lastout::simulator {
namespace {

// The patched object, or the code of the refusal.
Json patched(const char* object, const char* patch) {
  const auto result = jsonPatch(Json::parse(object), Json::parse(patch));
  return result ? *result : Json(result.error().code);
}

TEST(JsonPatch, DoesWhatTheExamplesOfItsRfcDo) {
  struct Example {
    const char* object;
    const char* patch;
    const char* result;  // or the code of the refusal
  };
  const Example examples[] = {
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])", R"({"baz":"qux","foo":"bar"})"},
      {R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
       R"({"foo":["bar","qux","baz"]})"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
      {R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])", R"({"foo":["bar","baz"]})"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
       R"({"baz":"boo","foo":"bar"})"},
      {R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
       R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
       R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
      {R"({"foo":["all","grass","cows","eat"]})", R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
       R"({"foo":["all","cows","eat","grass"]})"},
      {R"({"baz":"qux","foo":["a",2,"c"]})",
       R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
       R"({"baz":"qux","foo":["a",2,"c"]})"},
      {R"({"baz":"qux"})", R"([{"op":"test","path":"/baz","value":"bar"}])", "422"},
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
       R"({"foo":"bar","child":{"grandchild":{}}})"},
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])",
       R"({"foo":"bar","baz":"qux"})"},
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":"qux"}])", "422"},
      {R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
      {R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":"10"}])", "422"},
      {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
       R"({"foo":["bar",["abc","def"]]})"},
  };
  for (const Example& example : examples)
    EXPECT_EQ(patched(example.object, example.patch), Json::parse(example.result)) << example.patch;
}

TEST(JsonPatch, CopiesAndMovesWithinTheObject) {
  EXPECT_EQ(patched(R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/a/0"}])"),
            Json::parse(R"({"a":[[1],1]})"));
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])"), Json::parse(R"({"a":1})"));
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b/c"}])"), 422);
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/a"}])"),
            Json::parse(R"({"a":1})"));
}

TEST(JsonPatch, ThatIsMalformedIsABadRequest) {
  for (const char* patch : {R"([1])", R"([{}])", R"([{"op":"merge","path":"/a"}])", R"([{"op":"remove"}])",
                            R"([{"op":"add","path":"/a"}])", R"([{"op":"remove","path":"a"}])",
                            R"([{"op":"remove","path":"/~2"}])", R"([{"op":"move","path":"/a"}])",
                            R"([{"op":1,"path":"/a"}])", R"([{"op":"test","path":["a"],"value":1}])"})
    EXPECT_EQ(patched(R"({"a":1})", patch), 400) << patch;
  EXPECT_EQ(jsonPatch(Json::object(), Json::object()).error().code, 400);
}

TEST(JsonPatch, ThatDoesNotApplySaysWhy) {
  for (const char* patch :
       {R"([{"op":"remove","path":"/b"}])", R"([{"op":"replace","path":"/b","value":1}])",
        R"([{"op":"add","path":"/a/2","value":1}])", R"([{"op":"remove","path":"/a/01"}])",
        R"([{"op":"remove","path":"/a/-"}])", R"([{"op":"remove","path":"/a/99999999999999999999"}])",
        R"([{"op":"remove","path":""}])", R"([{"op":"replace","path":"","value":[]}])",
        R"([{"op":"copy","from":"/b","path":"/c"}])"})
    EXPECT_EQ(patched(R"({"a":[1]})", patch), 422) << patch;
  const auto failed = jsonPatch({{"a", 1}}, Json::parse(R"([{"op":"test","path":"/a","value":2}])"));
  EXPECT_EQ(failed.error().message,
            "the server rejected our request due to an error in our request: testing \"/a\" failed");
  EXPECT_EQ(failed.error().reason, "Invalid");
}

// Each copy puts the map into itself: 2^n values.
TEST(JsonPatch, CannotGrowWithoutBound) {
  Json doubling = Json::array();
  for (int i = 0; i < 60; ++i)
    doubling.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/b" + std::to_string(i)}});
  EXPECT_EQ(jsonPatch({{"a", {{"x", std::string(1000, 'x')}}}}, doubling).error().code, 413);
  // What is copied counts even when it is removed again.
  const Json once = Json::parse(R"([{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/b"}])");
  Json twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  const Json large = {{"a", std::string(kMostBodyBytes * 2 / 3, 'x')}};
  EXPECT_EQ(*jsonPatch(large, once), large);
  EXPECT_EQ(jsonPatch(large, twice).error().code, 413);
  Json deepening = Json::array();
  for (int i = 0; i < 60; ++i)
    deepening.push_back(
        {{"op", "move"}, {"from", "/a" + std::to_string(i)}, {"path", "/a" + std::to_string(i + 1) + "/a"}});
  Json object = Json::object();
  for (int i = 0; i < 70; ++i) object["a" + std::to_string(i)] = {{"x", {{"y", {{"z", Json::object()}}}}}};
  EXPECT_EQ(jsonPatch(object, deepening).error().code, 422);
}

// Quotes, escapes, colons and commas count, so that what is stored can be read again.
TEST(WithinLimits, CountsWhatIsWritten) {
  for (const char* text : {R"({"x":{}})", R"({"":[]})", R"("\n\"")", R"({"\u0001":false})", "[null]"}) {
    const Json item = Json::parse(text);
    const size_t most = kMostBodyBytes / (item.dump().size() + 1);
    const auto listOf = [&](size_t items) { return Json{{"a", Json(Json::array_t(items, item))}}; };
    EXPECT_EQ(withinLimits(listOf(most + 1)).error().code, 413) << text;
    EXPECT_TRUE(withinLimits(listOf(most - most / 4))) << text;
  }
  const Json number = -2.2250738585072014e-308;
  EXPECT_EQ(
      withinLimits({{"a", Json(Json::array_t(kMostBodyBytes / number.dump().size(), number))}}).error().code,
      413);
}

TEST(JsonPatch, CannotBeMadeCostly) {
  const Json object = {{"a", Json(Json::array_t(400'000))}};
  Json shifting = Json::array();
  for (size_t i = 0; i < kMostJsonPatchOperations; ++i)
    shifting.push_back({{"op", "add"}, {"path", "/a/0"}, {"value", 1}});
  EXPECT_EQ(jsonPatch(object, shifting).error().code, 413);
  shifting.push_back(shifting.front());
  EXPECT_EQ(jsonPatch(object, shifting).error().message,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(MergePatch, DoesWhatTheExamplesOfItsRfcDo) {
  const char* examples[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [object, patch, result] : examples)
    EXPECT_EQ(*mergePatch(Json::parse(object), Json::parse(patch)), Json::parse(result)) << patch;
  EXPECT_EQ(mergePatch(Json::object(), Json::array()).error().code, 400);
}

TEST(MergePatch, CannotMakeAnObjectTooLarge) {
  const Json object = {{"a", std::string(kMostBodyBytes - 100, 'x')}};
  EXPECT_TRUE(mergePatch(object, {{"b", "x"}}));
  EXPECT_EQ(mergePatch(object, {{"b", std::string(100, 'x')}}).error().code, 413);
}

const ApplyRequest kApply{"some-instance", "tests"};

Json manifest(const char* more) {
  Json json = Json::parse(more);
  json["apiVersion"] = "my.crd.group/v1";
  json["kind"] = "CoolResource";
  json["metadata"]["name"] = "some-instance";
  return json;
}

TEST(Apply, UnitesFinalizersAndMergesOwnersByUid) {
  const Json object = manifest(R"({"metadata":{"finalizers":["a","b"],"labels":{"x":"1"},
    "ownerReferences":[{"uid":"1","name":"one"},{"uid":"2","name":"two"}]},"spec":{"list":[1,2],"map":{"a":1}}})");
  const Json patch = manifest(R"({"metadata":{"finalizers":["b","c"],"labels":{"y":"2"},
    "ownerReferences":[{"uid":"2","controller":true},{"uid":"3","name":"three"}]},"spec":{"list":[3],"map":{"b":2}}})");
  EXPECT_EQ(*applyPatch(object, patch, kApply),
            manifest(R"({"metadata":{"finalizers":["a","b","c"],"labels":{"x":"1","y":"2"},
    "ownerReferences":[{"uid":"1","name":"one"},{"uid":"2","name":"two","controller":true},{"uid":"3","name":"three"}]},
    "spec":{"list":[3],"map":{"a":1,"b":2}}})"));
}

TEST(Apply, CreatesWhatIsNotThere) {
  const Json patch = manifest(R"({"metadata":{"finalizers":["a"]},"spec":{"size":1}})");
  EXPECT_EQ(*applyPatch(nullptr, patch, kApply), patch);
}

TEST(Apply, WantsAFieldManagerAndAnObjectOfThatName) {
  const Json patch = manifest("{}");
  EXPECT_EQ(
      applyPatch(patch, patch, {"some-instance", ""}).error().message,
      "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch");
  EXPECT_EQ(applyPatch(patch, patch, {"other", "tests"}).error().message,
            "the name of the object (some-instance) does not match the name on the URL (other)");
  for (const char* field : {"apiVersion", "kind", "metadata"}) {
    Json lacking = patch;
    lacking.erase(field);
    EXPECT_EQ(applyPatch(patch, lacking, kApply).error().code, 400) << field;
  }
  EXPECT_EQ(applyPatch(patch, manifest(R"({"metadata":{"managedFields":[]}})"), kApply).error().code, 400);
}

}  // namespace
}  // namespace lastout::simulator
