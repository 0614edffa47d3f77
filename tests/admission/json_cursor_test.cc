// JsonCursor beside nlohmann's parser, and what it steps over at once.
#include "admission/json_cursor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "admission/json_text.h"
#include "tests/admission/recorded_reviews.h"

namespace lastout::admission {
namespace {

bool accepts(std::string_view text) {
  JsonCursor cursor(text);
  cursor.skip();
  cursor.finish();
  return !cursor.failed();
}

// Every byte at every place of a text, behind which others follow that are not plain either.
TEST(PlainLength, EndsAtTheFirstByteThatNeedsALook) {
  for (size_t place = 0; place <= 20; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      const bool isPlain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
      std::string text(place, 'a');
      text += static_cast<char>(byte);
      EXPECT_EQ(plainLength(text), place + (isPlain ? 1 : 0)) << place << " " << byte;
      text += "!\x01\xff\"";
      EXPECT_EQ(plainLength(text), place + (isPlain ? 2 : 0)) << place << " " << byte;
    }
  }
  EXPECT_EQ(plainLength(""), 0U);
}

TEST(JsonCursor, TakesWhatIsJsonAndNothingElse) {
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

TEST(JsonCursor, TakesNoSpoiltByteThatNlohmannDoesNotTake) {
  const std::string text = R"({"a":[1.5e3,{"b\u00e4":"ü"},null,true],"":{}})";
  for (size_t at = 0; at < text.size(); ++at) {
    for (int byte = 1; byte < 256; ++byte) {  // nlohmann takes NUL for the end
      std::string spoilt = text;
      spoilt[at] = static_cast<char>(byte);
      ASSERT_EQ(accepts(spoilt), nlohmann::json::accept(spoilt)) << spoilt;
    }
  }
}

TEST(JsonCursor, StepsOverEachValueOfAMap) {
  JsonCursor cursor(R"( {"a": [1, "}"], "\u0062" : {"c": null} ,"d":2} )");
  std::vector<std::string> seen;
  cursor.eachMember([&](std::string_view key) {
    seen.emplace_back(key);
    seen.emplace_back(cursor.skip());
  });
  cursor.finish();
  EXPECT_EQ(cursor.problem(), "");
  EXPECT_EQ(seen, (std::vector<std::string>{"a", R"([1, "}"])", "b", R"({"c": null})", "d", "2"}));
}

}  // namespace
}  // namespace lastout::admission
