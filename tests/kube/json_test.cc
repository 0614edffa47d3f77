#include <gtest/gtest.h>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

TEST(Json, ReadsADocumentInTheOrderOfItsText) {
  const std::string text = R"({"kind":"Pod","a":[1,-2,0.5,true,false,null,""],"b":{"c":{}}})";
  EXPECT_EQ(readJson(text), text);
  EXPECT_EQ(readJson(" \r\n\t[ ] "), "[]");
  EXPECT_EQ(readJson("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(readJson("\"\\u00e9\\ud83d\\ude00\\n\""), "\"\xC3\xA9\xF0\x9F\x98\x80\\n\"");
}

TEST(Json, KeepsIntegersAsLongAsTheyFit) {
  EXPECT_EQ(readJson("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(readJson("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(readJson("9223372036854775808"), "9.223372036854776e+18");
  EXPECT_EQ(readJson("100000000000000000000"), "1e+20");
  EXPECT_EQ(readJson("1.0"), "1.0");
  EXPECT_EQ(readJson("1e2"), "100.0");
}

TEST(Json, RemembersWhereEverythingStood) {
  const auto document =
      parseJson("{\"\xC3\xA4,:]}\\\"\": [1 ,\n  -2.5e3, \"x\\\\\", {\"k\" : null}],\n \"b\":true}", "file");
  ASSERT_TRUE(document) << toString(document.error());
  const Member& first = document->asMap()->at(0);
  EXPECT_EQ(document->position, (Position{1, 1}));
  EXPECT_EQ(first.key, "\xC3\xA4,:]}\"");
  EXPECT_EQ(first.keyPosition, (Position{1, 2}));
  EXPECT_EQ(first.value.position, (Position{1, 13}));
  const Value::List& items = *first.value.asList();
  EXPECT_EQ(items.at(0).position, (Position{1, 14}));
  EXPECT_EQ(items.at(1).position, (Position{2, 3}));
  EXPECT_EQ(items.at(2).position, (Position{2, 11}));
  EXPECT_EQ(items.at(3).find("k")->position, (Position{2, 25}));
  EXPECT_EQ(document->find("b")->position, (Position{3, 6}));
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  struct Mistake {
    std::string text;
    std::string sentence;  // or its beginning
  };
  const Mistake mistakes[] = {
      {"", "file:1:1: this is no valid JSON: "},
      {"\xEF\xBB\xBF\xEF\xBB\xBF 0", "file:1:1: the text begins with two byte order marks"},
      {"{\"a\": 1,\n \"a\": 2}", R"(file:2:2: the key "a" is in this map twice; the first is in line 1)"},
      {"{\"a\": 1,}", "file:1:9: this is no valid JSON: "},
      {"[1, 2", "file:1:6: this is no valid JSON: "},
      {"[1 2]", "file:1:4: this is no valid JSON: "},
      {"{} {}", "file:1:4: this is no valid JSON: "},
      {"{a: 1}", "file:1:2: this is no valid JSON: "},
      {"[01]", "file:1:3: this is no valid JSON: "},
      {"[NaN]", "file:1:2: this is no valid JSON: "},
      {"[\n1e999]", "file:2:1: the number is too large"},
      {"// no\n{}", "file:1:1: this is no valid JSON: "},
      {"[\"a\nb\"]", "file:1:4: this is no valid JSON: "},
      {"[\"\\ud800\"]", "file:1:"},
      {"[\"\\x41\"]", "file:1:4: this is no valid JSON: "},
      {"[\"\xFF\"]", "file:1:3: the byte 0xff is not UTF-8; is this a text file?"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(readJson(mistake.text).substr(0, mistake.sentence.size()), mistake.sentence) << mistake.text;
  }
  EXPECT_EQ(readJson(std::string_view("[\0]", 3)),
            "file:1:2: the byte 0x00 is a control character; is this a text file?");
}

TEST(Json, FindsTheFirstOfManyDuplicates) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"" + std::to_string(i) + "\": 0,\n";
  text += "\"5\": 1,\n\"3\": 1,\n\"7\": 1}";
  EXPECT_EQ(readJson(text), R"(file:100001:1: the key "5" is in this map twice; the first is in line 6)");
}

TEST(Json, HoldsItsLimits) {
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(readJson(deep), deep);
  EXPECT_EQ(readJson(std::string(5'000'000, '[')),
            "file:1:65: lists and maps are nested more than 64 deep here");
  EXPECT_EQ(readJson("[1,2]", {.values = 3}), "[1,2]");
  EXPECT_EQ(readJson("[1,2,3]", {.values = 3}), "file:1:6: this has more than 3 values");
  EXPECT_EQ(readJson("[1,2]", {.bytes = 4}), "file: the text has 5 bytes; at most 4 are read");
}

TEST(Json, AndYamlAgreeOnJsonsOwnText) {
  for (const std::string_view text : {R"({"a":[1,-2,0.5,true,false,null,""],"b":{"c":{}}})",
                                      R"(["\"\\\/\b\f\n\r\t"])", "[1.5e3, 2E+2]", "{}"}) {
    EXPECT_EQ(readJson(text), readYaml(text)) << text;
  }
}

}  // namespace
}  // namespace lastout::kube
