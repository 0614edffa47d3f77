#include "kube/value.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

TEST(Value, IsFoundByKeyAndByPath) {
  const Value document = yaml("spec: {provider: {name: x}, none: ~}");
  EXPECT_EQ(*document.at({"spec", "provider", "name"})->asString(), "x");
  EXPECT_TRUE(document.at({"spec", "none"})->isNull());
  EXPECT_EQ(document.at({}), &document);
  EXPECT_EQ(document.at({"spec", "provider", "name", "deeper"}), nullptr);
  EXPECT_EQ(document.at({"spec", "nothing", "name"}), nullptr);
  EXPECT_EQ(document.find("provider"), nullptr);
}

TEST(Value, IsCalledWhatItIs) {
  const Value list = yaml("[~, true, 1, 1.5, x, [], {}]");
  std::string names;
  for (const Value& item : *list.asList()) names += std::string(kindName(item)) + ";";
  EXPECT_EQ(names, "null;a boolean;an integer;a number;a string;a list;a map;");
}

TEST(Value, BecomesJsonInTheOrderOfTheTextAndBack) {
  const std::string text = R"({"z":[null,true,-1,2.5,"s"],"a":{"b":[],"c":{}}})";
  const Value value = fromJson(nlohmann::ordered_json::parse(text));
  EXPECT_EQ(toJson(value).dump(), text);
  EXPECT_EQ(value.position, Position{});
  EXPECT_EQ(toJson(fromJson(nlohmann::json::parse(text))).dump(),
            R"({"a":{"b":[],"c":{}},"z":[null,true,-1,2.5,"s"]})");
}

TEST(Value, BecomesTheJsonThatNlohmannReadsFromTheText) {
  const std::string text = R"({"z":[null,true,-1,0,7,2.5,"s",9223372036854775807],"a":{"b":[],"c":{}}})";
  const Value value = yaml(text);
  EXPECT_EQ(toSortedJson(value).dump(),
            R"({"a":{"b":[],"c":{}},"z":[null,true,-1,0,7,2.5,"s",9223372036854775807]})");
  const nlohmann::json read = nlohmann::json::parse(text);
  for (size_t i = 0; i < read["z"].size(); ++i) {
    EXPECT_EQ(toSortedJson(value)["z"][i].type(), read["z"][i].type()) << read["z"][i];
    EXPECT_EQ(toJson(value)["z"][i].type(), read["z"][i].type()) << read["z"][i];
  }
}

TEST(Value, FromJsonKeepsWhatFitsAnInteger) {
  EXPECT_EQ(*fromJson(nlohmann::json(uint64_t{9223372036854775807U})).asInteger(), 9223372036854775807);
  EXPECT_EQ(std::get<double>(fromJson(nlohmann::json(uint64_t{9223372036854775808U})).data),
            9223372036854775808.0);
}

}  // namespace
}  // namespace lastout::kube
