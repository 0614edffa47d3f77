#include <gtest/gtest.h>

#include "kube/messages.h"
#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

TEST(Quoting, LeavesOrdinaryTextAsItIs) {
  EXPECT_EQ(inQuotes("my.crd.group/super-important"), "\"my.crd.group/super-important\"");
  EXPECT_EQ(inQuotes(""), "\"\"");
  EXPECT_EQ(printable("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"), "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST(Quoting, WritesOutWhatATerminalOrJsonWouldChokeOn) {
  EXPECT_EQ(printable("\x1b[31m\n\x7f"), "\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf");                    // longer than need be
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last character
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");
}

TEST(Quoting, EndsLongTextBetweenCharacters) {
  EXPECT_EQ(printable(std::string(300, 'a')), std::string(300, 'a'));
  EXPECT_EQ(printable(std::string(301, 'a')), std::string(300, 'a') + "...");
  EXPECT_EQ(printable(std::string(299, 'a') + "\xC3\xA4"), std::string(299, 'a') + "...");
}

TEST(Listed, NamesTheFirstAndCountsTheRest) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b"}), "a and b");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed({"a", "b", "c"}, 3), "a, b and c");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 3), "a, b, c and d") << "a last one is named";
  EXPECT_EQ(listed({"a", "b", "c", "d", "e"}, 3), "a, b, c and 2 more");
  EXPECT_EQ(listed({"a", "b"}, 1), "a and b");
  EXPECT_EQ(listed({"a", "b", "c"}, 1), "a and 2 more");
  EXPECT_EQ(listedOf({"a", "b"}, 2), "a and b");
  EXPECT_EQ(listedOf({"a", "b"}, 3), "a, b and 1 more") << "the last one's name is not given";
}

TEST(JoinedClauses, TellTheFirstAndCountTheRest) {
  EXPECT_EQ(joinedClauses({}, 2), "");
  EXPECT_EQ(joinedClauses({"a is gone", "b stays"}, 2), "a is gone; b stays");
  EXPECT_EQ(joinedClauses({"a is gone", "b stays", "c"}, 2), "a is gone; b stays; and 1 more");
}

TEST(Quoting, KeepsMessagesOfParsersShortAndInUtf8) {
  const std::string longText(1000, 'x');
  EXPECT_LT(readJson("[\"" + longText + "\" 1]").size(), 500);
  EXPECT_LT(readJson("[\"" + longText).size(), 500);
  EXPECT_LT(readYaml("{" + longText + ": 1, " + longText + ": 2}").size(), 500);
  EXPECT_EQ(readYaml("\"\\e[1m\": 1\n\"\\e[1m\": 2"),
            R"(file:2:1: the key "\x1b[1m" is in this map twice; the first is in line 1)");
  // An escape that does not exist: yaml-cpp's message has the first byte of the character alone.
  EXPECT_TRUE(
      readYaml("\"\\\xC3\xA4\"").ends_with(": this is no valid YAML: unknown escape character: \\xc3"));
}

TEST(Quoting, CutsNoCharacterInHalf) {
  EXPECT_EQ(atMost("abc", 3), "abc");
  EXPECT_EQ(atMost("abcd", 3), "abc");
  EXPECT_EQ(atMost("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
  for (const size_t bytes : {2, 3, 4}) EXPECT_EQ(atMost("ab\xE2\x82\xAC", bytes), "ab");
  EXPECT_EQ(atMost("\xE2\x82\xAC", 0), "");
}

TEST(Quoting, WhatIsBoundedElsewhereIsPrintedWhole) {
  const std::string sentence(1'000, 'a');
  EXPECT_EQ(printable(sentence).size(), 303U);
  EXPECT_EQ(printableWhole(sentence), sentence);
  EXPECT_EQ(printableWhole("a\nb\x1b"), "a\\x0ab\\x1b");
}

}  // namespace
}  // namespace lastout::kube
