// JSON paths as CRDs write them.
#include "simulator/json_path.h"

#include <gtest/gtest.h>

namespace lastout::simulator {
namespace {

const char* const kObject = R"({
    "metadata": {"labels": {"a.b/c": "dotted"}},
    "spec": {"size": 3, "list": ["first", "second"]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False", "n": 2}]}})";

// All values at a path, as one list.
Json found(const char* path) {
  const Json object = Json::parse(kObject);
  Json all = Json::array();
  for (const Json* value : valuesAt(object, path)) all.push_back(*value);
  return all;
}

TEST(JsonPath, FindsMembersAndItems) {
  EXPECT_EQ(found(".spec.size"), Json({3}));
  EXPECT_EQ(found("$.spec['size']"), Json({3}));
  EXPECT_EQ(found(".spec.list[0]"), Json({"first"}));
  EXPECT_EQ(found(".spec.list[-1]"), Json({"second"}));
  EXPECT_EQ(found(".spec.list[*]"), Json::parse(R"(["first", "second"])"));
  EXPECT_EQ(found(".status.conditions[*].type"), Json::parse(R"(["Ready", "Old"])"));
}

TEST(JsonPath, FindsKeysWithDots) {
  EXPECT_EQ(found(R"(.metadata.labels.a\.b/c)"), Json({"dotted"}));
  EXPECT_EQ(found(R"(.metadata.labels['a.b/c'])"), Json({"dotted"}));
}

TEST(JsonPath, FiltersItemsByWhatTheyHold) {
  EXPECT_EQ(found(R"(.status.conditions[?(@.type=="Ready")].status)"), Json({"True"}));
  EXPECT_EQ(found(R"(.status.conditions[?(@.type != 'Ready')].status)"), Json({"False"}));
  EXPECT_EQ(found(R"(.status.conditions[?(@.n==2)].type)"), Json({"Old"}));
  EXPECT_EQ(found(R"(.status.conditions[?(@.n)].type)"), Json({"Old"}));
}

TEST(JsonPath, FindsNothingWhereNothingIsOrThePathIsWrittenInAnotherWay) {
  const std::string endless(5000, '[');
  for (const char* path :
       {".spec.nothing", ".spec.list[9]", ".spec.size.deeper", ".spec.list[", ".spec.list[0:1]", "..size",
        "spec", ".spec['size", ".status.conditions[?(@.type==Ready)].status",
        ".status.conditions[?(@.type==\"Ready\"", ".status.conditions[?(type)]", "[?(@[?(@)])]",
        endless.c_str()}) {
    EXPECT_EQ(found(path), Json::array()) << path;
  }
}

}  // namespace
}  // namespace lastout::simulator
