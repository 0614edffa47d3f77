// JsonDocument beside nlohmann's parser, and whose memory it takes.
#include "kube/json_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lastout::kube {
namespace {

constexpr size_t kDepthForTests = 64;

bool accepts(std::string_view text) { return JsonDocument(text, kDepthForTests).isWhole(); }

std::string nested(size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); }

TEST(JsonDocument, TakesWhatIsJsonAndNothingElse) {
  for (const char* text : {"0",
                           "-0",
                           "10",
                           "01",
                           "-",
                           "1.",
                           "1.5",
                           ".5",
                           "1e5",
                           "1E+05",
                           "18446744073709551615",
                           "18446744073709551616",
                           "18446744073709552000",
                           "-9223372036854775808",
                           "-9223372036854776000",
                           "[100000000000000000000,{\"a\\\"1\":-100000000000000000000}]",
                           "1e400",
                           "01234567890123456789012",
                           "1234567890123456789012x",
                           "1e",
                           "1e+",
                           "+1",
                           "true",
                           "tru",
                           "truex",
                           "null",
                           "false",
                           "nan",
                           "\"\"",
                           "\"a",
                           "\"\\n\"",
                           "\"\\x\"",
                           "\"\\u00e4\"",
                           "\"\\u00g4\"",
                           "\"\\ud83d\\ude00\"",
                           "\"\\ud83d\"",
                           "\"\\ude00\"",
                           "\"\\ud83d\\u0041\"",
                           "\"\t\"",
                           "\"\x7f\"",
                           "\"ä\"",
                           "\"\xc3\"",
                           "\"\xed\xa0\x80\"",
                           "[]",
                           "[ ]",
                           "[1]",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "[1,2]",
                           "[[],{}]",
                           "[}",
                           "{]",
                           "{}",
                           "{ }",
                           "{\"a\":1}",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "{\"a\" : 1 , \"b\" : [ ] }",
                           "{a:1}",
                           "{1:1}",
                           "{\"a\":}",
                           "{,}",
                           "[1]]",
                           "[1][",
                           "",
                           " ",
                           " 1 ",
                           "1 1",
                           "{\"a\":{\"b\":[{\"c\":null}]}}",
                           "{\"a\":{\"b\":[{\"c\":null}]}",
                           "/**/1",
                           "'a'"})
    EXPECT_EQ(accepts(text), nlohmann::json::accept(text)) << text;
}

TEST(JsonDocument, TakesNoSpoiltByteThatNlohmannDoesNotTake) {
  const std::string text = R"({"a":[1.5e3,{"b\u00e4":"ü"},null,true],"":{}})";
  for (size_t at = 0; at < text.size(); ++at) {
    for (int byte = 1; byte < 256; ++byte) {  // nlohmann takes NUL for the end
      std::string spoilt = text;
      spoilt[at] = static_cast<char>(byte);
      ASSERT_EQ(accepts(spoilt), nlohmann::json::accept(spoilt)) << spoilt;
    }
  }
}

TEST(JsonDocument, IsNestedOnlySoDeep) {
  EXPECT_TRUE(JsonDocument(nested(64), 64).isWhole());
  EXPECT_EQ(JsonDocument(nested(65), 64).problem(), "lists and maps are nested more than 64 deep");
  EXPECT_EQ(JsonDocument(nested(4), 3).problem(), "lists and maps are nested more than 3 deep");
  EXPECT_TRUE(JsonDocument(nested(64), 64).isWhole()) << "the memory is the same one";
  EXPECT_TRUE(JsonDocument("1", 0).isWhole());
  EXPECT_FALSE(JsonDocument("[1]", 0).isWhole());
}

// The second finds the thread's memory taken; the third is too large for it.
TEST(JsonDocument, MayBeOneOfSeveral) {
  const JsonDocument one("\"one\"", kDepthForTests);
  const JsonDocument two("\"two\"", kDepthForTests);
  const std::string large(JsonDocument::kUsualBytes, 'x');
  const JsonDocument three("\"" + large + "\"", kDepthForTests);
  EXPECT_EQ(std::string_view(one.root()), "one");
  EXPECT_EQ(std::string_view(two.root()), "two");
  EXPECT_EQ(std::string_view(three.root()), large);
}

// As Go writes doubles below 1e21.
TEST(JsonDocument, ReadsWideNumbersAsDoubles) {
  const JsonDocument document(
      R"({"100000000000000000000":[100000000000000000000,-9223372036854776000,"9\"1"]})", kDepthForTests);
  ASSERT_TRUE(document.isWhole()) << document.problem();
  const simdjson::dom::array numbers = document.root()["100000000000000000000"];
  EXPECT_EQ(double(numbers.at(0)), 1e20);
  EXPECT_EQ(double(numbers.at(1)), -9223372036854776000.0);
  EXPECT_EQ(std::string_view(numbers.at(2)), "9\"1");
}

TEST(JsonDocument, SaysWhatIsWrong) {
  EXPECT_EQ(JsonDocument("", kDepthForTests).problem(), "it is empty");
  EXPECT_EQ(JsonDocument("\"\xff\"", kDepthForTests).problem(), "it is not UTF-8");
}

}  // namespace
}  // namespace lastout::kube
