#include "kube/difference.h"

#include <gtest/gtest.h>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

constexpr const char* kWanted = R"({"a": [{"b": 1}, {"c": "d"}], "e": {"f": true}})";

std::string differenceOf(const char* standing) { return differenceFrom(yaml(standing), yaml(kWanted)); }

TEST(Difference, AnObjectThatStandsMaySayMoreThanItHasTo) {
  EXPECT_EQ(differenceOf(kWanted), "");
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1, "more": 2}, {"c": "d"}], "e": {"f": true, "g": []}, "h": 0})"),
            "");
}

TEST(Difference, IsNamedByItsPlace) {
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1}], "e": {"f": true}})"), "a has 1 items instead of 2");
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1}, {"c": "d"}, {}], "e": {"f": true}})"),
            "a has 3 items instead of 2");
  EXPECT_EQ(differenceOf(R"({"e": {"f": true}})"), "a is missing");
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1}, {"c": "D"}], "e": {"f": true}})"), "a[1].c differs");
  EXPECT_EQ(differenceOf(R"({"a": [{"c": "d"}, {"b": 1}], "e": {"f": true}})"), "a[0].b is missing");
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1}, {"c": "d"}], "e": {"f": "true"}})"), "e.f differs");
  EXPECT_EQ(differenceOf(R"({"a": {"b": 1}, "e": {"f": true}})"), "a differs");
  EXPECT_EQ(differenceOf(R"({"a": [{"b": 1}, {"c": "d"}], "e": [1]})"), "e.f is missing");
}

TEST(Difference, MoreMayBeSaidOnlyWhereItIsAllowed) {
  const auto exact = [](const char* standing) {
    return differenceFrom(yaml(standing), yaml(kWanted),
                          [](const Member& more) { return more.key == "status"; });
  };
  EXPECT_EQ(exact(kWanted), "");
  EXPECT_EQ(exact(R"({"a": [{"b": 1}, {"c": "d"}], "e": {"f": true}, "status": {"x": 1}})"), "");
  EXPECT_EQ(exact(R"({"a": [{"b": 1}, {"c": "d", "g": 1}], "e": {"f": true}})"), "a[1].g is set");
}

}  // namespace
}  // namespace lastout::kube
