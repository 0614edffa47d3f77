// The query of a URL, as browsers and Go read it.
#include <gtest/gtest.h>

#include "simulator/request.h"

namespace lastout::simulator {
namespace {

TEST(ParseQuery, EndsAKeyAtTheFirstEqualsSign) {
  EXPECT_EQ(parseQuery("labelSelector=app=web,tier!=db&limit=5").value(),
            (Query{{"labelSelector", "app=web,tier!=db"}, {"limit", "5"}}));
}

TEST(ParseQuery, DecodesKeysAndValues) {
  EXPECT_EQ(parseQuery("a%26b=c+d%2be&f=%3d%C3%A4").value(), (Query{{"a&b", "c d+e"}, {"f", "=\xc3\xa4"}}));
}

TEST(ParseQuery, KnowsKeysWithoutAValueAndPiecesThatAreEmpty) {
  EXPECT_EQ(parseQuery("").value(), Query{});
  EXPECT_EQ(parseQuery("&watch&&a=&=b").value(), (Query{{"watch", ""}, {"a", ""}, {"", "b"}}));
}

TEST(ParseQuery, TakesTheFirstOfTwo) { EXPECT_EQ(parseQuery("a=1&a=2").value(), (Query{{"a", "1"}})); }

TEST(ParseQuery, RefusesEscapesThatAreNone) {
  for (const char* text : {"a=%", "a=%4", "a=%zz", "%4=a", "a=%-1", "a=%4&b", "a=1&b=%%41"}) {
    const auto query = parseQuery(text);
    ASSERT_FALSE(query) << text;
    EXPECT_EQ(query.error().code, 400);
  }
}

}  // namespace
}  // namespace lastout::simulator
