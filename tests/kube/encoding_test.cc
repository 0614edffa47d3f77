#include "kube/encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lastout::kube {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(toBase64(bytes), text);
    EXPECT_EQ(fromBase64(text), bytes);
  }
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "Z===", "=", "Zm9v!", "Zg==Zg==", "Zm-v"})
    EXPECT_FALSE(fromBase64(bad)) << bad;
}

TEST(Percent, EscapesWhatUrlsReserve) {
  EXPECT_EQ(percentEncoded("a-Z.0_9~"), "a-Z.0_9~");
  EXPECT_EQ(percentEncoded("a/b c\xc3\xa4%"), "a%2Fb%20c%C3%A4%25");
  EXPECT_EQ(percentEncoded("a-b/c.d~", "-./"), "a-b/c.d%7E");
  EXPECT_EQ(percentDecoded(percentEncoded("a/b c\xc3\xa4%")), "a/b c\xc3\xa4%");
  for (const char* const bad : {"%", "%a", "%g0", "a%0x"})
    EXPECT_EQ(percentDecoded(bad), std::nullopt) << bad;
}

TEST(Hex, WritesEachByteInTwoDigits) {
  EXPECT_EQ(hexOf(0), "00");
  EXPECT_EQ(hexOf(0xaf), "af");
}

// The values that the authors of FNV publish for FNV-1a of 64 bits.
TEST(StableHash, IsThePublishedOne) {
  EXPECT_EQ(stableHash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stableHash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(stableHash("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(stableHash("bar", stableHash("foo")), stableHash("foobar"));
}

}  // namespace
}  // namespace lastout::kube
