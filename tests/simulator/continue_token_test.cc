// Continue tokens, held against recorded ones.
#include <gtest/gtest.h>

#include "simulator/selection.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

TEST(ContinueToken, IsTheRecordedOne) {
  EXPECT_EQ(toString(ContinueToken{748, "app/page-1"}),
            recordedAnswer("033-list-page-1")["metadata"]["continue"]);
  const std::string second =
      recordedAnswer("034-list-page-2-with-continue-of-page-1")["metadata"]["continue"];
  EXPECT_EQ(toString(ContinueToken{748, "app/page-4"}), second);
  const auto token = parseContinueToken(second);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->resourceVersion, 748);
  EXPECT_EQ(token->lastName, "app/page-4");
}

// Base64 has other lengths, and other last digits, for each of three lengths of a name.
TEST(ContinueToken, IsReadAsItIsWritten) {
  for (const char* name : {"a", "ab", "abc", "app/with \"quotes\" and \\", "n/\u00e9"}) {
    const auto token = parseContinueToken(toString(ContinueToken{18446744073709551615U >> 1, name}));
    ASSERT_TRUE(token) << token.error().message;
    EXPECT_EQ(token->lastName, name);
    EXPECT_EQ(token->resourceVersion, 9223372036854775807U);
  }
}

TEST(ContinueToken, ThatIsGarbageIsRefusedAsRecorded) {
  EXPECT_EQ(statusOf(parseContinueToken("garbage").error()), recordedAnswer("039-list-bad-continue"));
}

TEST(ContinueToken, ThatIsNotOursIsRefused) {
  const std::string invalid = "invalid continue token: continue key is not valid: ";
  // {"v":"meta.k8s.io/v2"}, {"v":"meta.k8s.io/v1","rv":0}, {"v":"meta.k8s.io/v1","rv":7}, 5
  const std::pair<std::string, std::string> refusals[] = {
      {"eyJ2IjoibWV0YS5rOHMuaW8vdjIifQ", "server does not recognize this encoded version"},
      {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MH0",
       "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
      {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6N30", "encoded start key empty (version meta.k8s.io/v1)"},
      {"NQ", "server does not recognize this encoded version"},
      {"a+b", "illegal base64 data at input byte 1"},
      {"", "unexpected end of JSON input"},
      {std::string(5000, 'A'), "it is too long"},
  };
  for (const auto& [text, why] : refusals) {
    const auto token = parseContinueToken(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().message, invalid + why);
  }
}

}  // namespace
}  // namespace lastout::simulator
