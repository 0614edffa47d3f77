#include "kube/selector.h"

#include <gtest/gtest.h>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

const Labels kWeb = {{"app", "web"}, {"tier", "front"}, {"example.com/owner", ""}};

bool matches(std::string_view selector, const Labels& labels = kWeb) {
  const auto parsed = parseSelector(selector);
  EXPECT_TRUE(parsed) << selector << ": " << (parsed ? "" : parsed.error().message);
  return parsed && parsed->matches(labels);
}

TEST(Selector, MatchesAsKubectlDoes) {
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("app=web"));
  EXPECT_TRUE(matches("app == web , tier != back"));
  EXPECT_FALSE(matches("app=web,tier=back"));
  EXPECT_TRUE(matches("tier in (back, front)"));
  EXPECT_FALSE(matches("tier in (back)"));
  EXPECT_TRUE(matches("tier notin (back)"));
  EXPECT_FALSE(matches("tier notin (back,front)"));
  EXPECT_TRUE(matches("app"));
  EXPECT_FALSE(matches("legacy"));
  EXPECT_TRUE(matches("!legacy"));
  EXPECT_FALSE(matches("!app"));
  EXPECT_TRUE(matches("example.com/owner"));
  EXPECT_TRUE(matches("example.com/owner="));
  EXPECT_TRUE(matches("example.com/owner in ()"));
  EXPECT_TRUE(matches("app=web,tier in (front),!legacy"));
}

TEST(Selector, NegativesHoldOfWhatHasNoSuchLabel) {
  EXPECT_TRUE(matches("legacy!=yes"));
  EXPECT_TRUE(matches("legacy notin (yes)"));
  EXPECT_FALSE(matches("legacy=yes"));
  EXPECT_FALSE(matches("app", {}));
  EXPECT_TRUE(matches("", {}));
}

TEST(Selector, RefusesWhatIsNone) {
  for (const std::string_view bad :
       {"app=web,", ",app", "app=web tier=front", "app in web", "app in (a", "app in a)", "=web", "a b c",
        "app>1", "!", "!!a", "app=a=b", "app=(a)", "-app", "app=-"}) {
    const auto parsed = parseSelector(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().message.find("\"" + std::string(bad) + "\" is no label selector: "), 0) << bad;
  }
}

std::string readSelector(std::string_view text, const Labels& labels = kWeb) {
  const auto parsed = parseSelector(yaml(text), "file");
  if (!parsed) return toString(parsed.error());
  return parsed->matches(labels) ? "matches" : "does not match";
}

TEST(Selector, AMistakeNamesItsPath) {
  const auto parsed = parseSelector(yaml("{matchLabels: {a: 'b c'}}"), "file", "spec.selector");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "spec.selector.matchLabels: \"b c\" is no value of a label");
}

TEST(Selector, ReadsTheApisForm) {
  EXPECT_EQ(readSelector("{}"), "matches");
  EXPECT_EQ(readSelector("{matchLabels: {app: web}}"), "matches");
  EXPECT_EQ(readSelector("{matchLabels: {app: web, tier: back}}"), "does not match");
  EXPECT_EQ(readSelector("matchExpressions: [{key: tier, operator: In, values: [front, back]}]"), "matches");
  EXPECT_EQ(readSelector("matchExpressions: [{key: tier, operator: NotIn, values: [front]}]"),
            "does not match");
  EXPECT_EQ(readSelector("matchExpressions: [{key: app, operator: Exists}]"), "matches");
  EXPECT_EQ(readSelector("matchExpressions: [{key: app, operator: DoesNotExist}]"), "does not match");
  EXPECT_EQ(readSelector("{matchLabels: {app: web}, matchExpressions: [{key: app, operator: DoesNotExist}]}"),
            "does not match");
}

TEST(Selector, SaysWhatIsWrongWithTheApisForm) {
  EXPECT_EQ(readSelector("[]"), "file:1:1: selector must be a map, not a list");
  EXPECT_EQ(readSelector("matchLabel: {}"),
            "file:1:1: selector.\"matchLabel\" is no known field; did you mean \"matchLabels\"?");
  EXPECT_EQ(readSelector("matchLabels: {app: -}").substr(0, 4), "file");
  EXPECT_EQ(readSelector("matchLabels: {app: 'a b'}"),
            "file:1:14: selector.matchLabels: \"a b\" is no value of a label");
  EXPECT_EQ(readSelector("matchExpressions: [{key: a}]"),
            "file:1:20: selector.matchExpressions[0].operator is missing");
  EXPECT_EQ(readSelector("matchExpressions: [{operator: Exists}]"),
            "file:1:20: selector.matchExpressions[0].key is missing");
  EXPECT_EQ(readSelector("matchExpressions: [{key: a, operator: in, values: [b]}]"),
            "file:1:39: selector.matchExpressions[0].operator must be one of In, NotIn, Exists, "
            "DoesNotExist, not \"in\"; "
            "did you mean \"In\"?");
  EXPECT_EQ(readSelector("matchExpressions: [{key: a, operator: In}]"),
            "file:1:26: selector.matchExpressions[0]: \"a\" needs at least one value to compare with");
  EXPECT_EQ(readSelector("matchExpressions: [{key: a, operator: Exists, values: [b]}]"),
            "file:1:26: selector.matchExpressions[0]: \"a\" may have no values with this operator");
}

}  // namespace
}  // namespace lastout::kube
