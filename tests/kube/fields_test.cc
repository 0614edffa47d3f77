#include "kube/fields.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

// What a reader reports of a document, one line each.
std::string report(std::string_view text, const std::function<void(Fields&)>& reader) {
  const Value document = yaml(text);
  Errors errors;
  Fields fields(document, "file", "spec", errors);
  reader(fields);
  std::string lines;
  for (const Error& error : errors) lines += (lines.empty() ? "" : "\n") + toString(error);
  return lines;
}

TEST(Fields, ReadEveryKindOfField) {
  const std::string text = R"(
text: some
empty: ""
flag: true
count: 3
wait: 1h30m
intent: Ordered
names: [a, b]
one: a
labels: {app: web}
nested: {inner: x}
items: [{name: a}, {name: b}]
list: [1]
anything: 4
unset: ~
known: 1
)";
  EXPECT_EQ(report(text,
                   [](Fields& fields) {
                     EXPECT_EQ(fields.requiredString("text"), "some");
                     EXPECT_EQ(fields.string("empty"), "");
                     EXPECT_EQ(fields.boolean("flag"), true);
                     EXPECT_EQ(fields.integer("count", 0, 3), 3);
                     EXPECT_EQ(fields.duration("wait"), std::chrono::minutes(90));
                     EXPECT_EQ(fields.oneOf("intent", {"Ordered", "BestEffort"}), "Ordered");
                     EXPECT_EQ(fields.strings("names"), (std::vector<std::string>{"a", "b"}));
                     EXPECT_EQ(fields.stringOrStrings("names"), (std::vector<std::string>{"a", "b"}));
                     EXPECT_EQ(fields.stringOrStrings("one"), (std::vector<std::string>{"a"}));
                     EXPECT_EQ(fields.stringMap("labels").at("app"), "web");
                     auto nested = fields.requiredFields("nested");
                     ASSERT_TRUE(nested);
                     EXPECT_EQ(nested->requiredString("inner"), "x");
                     EXPECT_EQ(nested->path(), "spec.nested");
                     EXPECT_EQ(nested->pathOf("inner"), "spec.nested.inner");
                     auto items = fields.items("items");
                     ASSERT_EQ(items.size(), 2);
                     EXPECT_EQ(items[1].requiredString("name"), "b");
                     EXPECT_EQ(items[1].path(), "spec.items[1]");
                     EXPECT_EQ(fields.requiredList("list")->asList()->size(), 1);
                     EXPECT_NE(fields.map("nested"), nullptr);
                     EXPECT_EQ(*fields.any("anything")->asInteger(), 4);
                     EXPECT_EQ(fields.string("unset"), std::nullopt);
                     EXPECT_FALSE(fields.has("unset"));
                     fields.allow({"known"});
                     fields.finish();
                   }),
            "");
}

TEST(Fields, AbsentAndNullAreTheSame) {
  EXPECT_EQ(report("{a: ~, b: ~}",
                   [](Fields& fields) {
                     for (const std::string_view key : {"a", "absent"}) {
                       EXPECT_EQ(fields.string(key), std::nullopt);
                       EXPECT_EQ(fields.boolean(key), std::nullopt);
                       EXPECT_EQ(fields.integer(key), std::nullopt);
                       EXPECT_EQ(fields.duration(key), std::nullopt);
                       EXPECT_EQ(fields.oneOf(key, {"x"}), std::nullopt);
                       EXPECT_TRUE(fields.strings(key).empty());
                       EXPECT_TRUE(fields.stringOrStrings(key).empty());
                       EXPECT_TRUE(fields.stringMap(key).empty());
                       EXPECT_TRUE(fields.items(key).empty());
                       EXPECT_FALSE(fields.fields(key));
                       EXPECT_EQ(fields.list(key), nullptr);
                       EXPECT_EQ(fields.map(key), nullptr);
                       EXPECT_EQ(fields.any(key), nullptr);
                     }
                   }),
            "");
}

TEST(Fields, SayWhatIsMissing) {
  EXPECT_EQ(report("\n\n  a: ''\n  b: ~\n",
                   [](Fields& fields) {
                     fields.requiredString("a");
                     fields.requiredString("b");
                     fields.requiredString("c");
                     fields.requiredList("d");
                     fields.requiredFields("e");
                   }),
            "file:3:6: spec.a may not be empty\n"
            "file:4:6: spec.b is missing\n"
            "file:3:3: spec.c is missing\n"
            "file:3:3: spec.d is missing\n"
            "file:3:3: spec.e is missing");
}

TEST(Fields, SayWhatHasTheWrongType) {
  EXPECT_EQ(report("s: 1\nb: yes\ni: x\nd: 5\nd2: 5 years\nl: {}\nm: []\nss: [a, 1]\nso: {}\nsm: {k: "
                   "true}\nit: [{}, x]\nr: 1\n",
                   [](Fields& fields) {
                     EXPECT_EQ(fields.requiredString("s"), "");
                     fields.boolean("b");
                     fields.integer("i");
                     fields.duration("d");
                     fields.duration("d2");
                     fields.list("l");
                     fields.fields("m");
                     EXPECT_EQ(fields.strings("ss"), (std::vector<std::string>{"a"}));
                     fields.stringOrStrings("so");
                     fields.stringMap("sm");
                     EXPECT_EQ(fields.items("it").size(), 1);
                     fields.requiredFields("r");
                   }),
            "file:1:4: spec.s must be a string, not an integer: put it in quotes\n"
            "file:2:4: spec.b must be true or false, not a string\n"
            "file:3:4: spec.i must be an integer, not a string\n"
            "file:4:4: spec.d must be a duration such as 30s or 1h30m, not an integer\n"
            "file:5:5: spec.d2: \"5 years\" has a unit other than h, m, s and ms\n"
            "file:6:4: spec.l must be a list, not a map\n"
            "file:7:4: spec.m must be a map, not a list\n"
            "file:8:9: spec.ss[1] must be a string, not an integer: put it in quotes\n"
            "file:9:5: spec.so must be a string or a list of strings, not a map\n"
            "file:10:9: spec.sm[\"k\"] must be a string, not a boolean: put it in quotes\n"
            "file:11:10: spec.it[1] must be a map, not a string\n"
            "file:12:4: spec.r must be a map, not an integer");
}

TEST(Fields, SayWhatIsOutOfRange) {
  EXPECT_EQ(
      report("a: 0\nb: 6\nc: ordered\nd: other\n",
             [](Fields& fields) {
               fields.integer("a", 1, 5);
               fields.integer("b", 1, 5);
               fields.oneOf("c", {"Ordered", "BestEffort"});
               fields.oneOf("d", {"Ordered", "BestEffort"});
             }),
      "file:1:4: spec.a must be at least 1\n"
      "file:2:4: spec.b must be at most 5\n"
      "file:3:4: spec.c must be one of Ordered, BestEffort, not \"ordered\"; did you mean \"Ordered\"?\n"
      "file:4:4: spec.d must be one of Ordered, BestEffort, not \"other\"");
}

TEST(Fields, NameTheNearestToAnUnknownField) {
  EXPECT_EQ(report("provider: {}\ncritera: []\nunheardOf: 1\n",
                   [](Fields& fields) {
                     fields.map("provider");
                     fields.list("criteria");
                     fields.finish();
                   }),
            "file:2:1: spec.\"critera\" is no known field; did you mean \"criteria\"?\n"
            "file:3:1: spec.\"unheardOf\" is no known field");
}

TEST(Fields, ReportAtMostTenUnknownFields) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "x" + std::to_string(i) + ": 1\n";
  const std::string lines = report(text, [](Fields& fields) { fields.finish(); });
  EXPECT_EQ(std::ranges::count(lines, '\n'), 10);
  EXPECT_TRUE(lines.ends_with("file:1:1: spec has 40 more unknown fields")) << lines;
}

TEST(Fields, ReportOneErrorForWhatIsNoMap) {
  EXPECT_EQ(report("[a]",
                   [](Fields& fields) {
                     fields.requiredString("a");
                     fields.requiredList("b");
                     fields.requiredFields("c");
                     fields.finish();
                   }),
            "file:1:1: spec must be a map, not a list");
  Errors errors;
  const Value text = yaml("just text");
  const Fields document(text, "file", "", errors);
  EXPECT_EQ(errors.at(0).message, "the document must be a map, not a string");
}

TEST(Fields, TakeTheirReadersOwnErrors) {
  EXPECT_EQ(report("a: 1\n",
                   [](Fields& fields) {
                     fields.fail("a", fields.pathOf("a") + " is odd");
                     fields.fail("b", fields.pathOf("b") + " is needed here");
                     fields.failAt(fields.value(), "all of it is odd");
                   }),
            "file:1:4: spec.a is odd\n"
            "file:1:1: spec.b is needed here\n"
            "file:1:1: all of it is odd");
}

TEST(Duration, IsReadInGosNotation) {
  struct Case {
    std::string_view text;
    int64_t milliseconds;
  };
  const Case cases[] = {{"0", 0},           {"0s", 0},        {"250ms", 250},
                        {"30s", 30'000},    {"5m", 300'000},  {"1h30m", 5'400'000},
                        {"1.5s", 1'500},    {".5m", 30'000},  {"0.25h", 900'000},
                        {"1m0.5s", 60'500}, {"1.50s", 1'500}, {"876000h", 3'153'600'000'000}};
  for (const Case& c : cases) {
    const auto parsed = parseDuration(c.text);
    ASSERT_TRUE(parsed) << c.text << " " << parsed.error().message;
    EXPECT_EQ(parsed->count(), c.milliseconds) << c.text;
  }
}

TEST(Duration, SaysWhatIsWrong) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  const Case cases[] = {
      {"", "\"\" is no duration; write 30s, 250ms or 1h30m"},
      {"soon", "\"soon\" is no duration; write 30s, 250ms or 1h30m"},
      {".s", "\".s\" is no duration; write 30s, 250ms or 1h30m"},
      {"30", "\"30\" has no unit; write 30s, 250ms or 1h30m"},
      {"1h30", "\"1h30\" has no unit; write 30s, 250ms or 1h30m"},
      {"-1s", "\"-1s\" is negative; a duration is 0 or more"},
      {"1d", "\"1d\" has a unit other than h, m, s and ms"},
      {"1us", "\"1us\" has a unit other than h, m, s and ms"},
      {"1 s", "\"1 s\" has a unit other than h, m, s and ms"},
      {"0.5ms", "\"0.5ms\" is no whole number of milliseconds"},
      {"0.00000000000000000001h", "\"0.00000000000000000001h\" is no whole number of milliseconds"},
      {"876001h", "\"876001h\" is longer than 100 years"},
      {"876000h1ms", "\"876000h1ms\" is longer than 100 years"},
      {"99999999999999999999999s", "\"99999999999999999999999s\" is longer than 100 years"},
  };
  for (const Case& c : cases) {
    const auto parsed = parseDuration(c.text);
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_EQ(parsed.error().message, c.message);
  }
}

}  // namespace
}  // namespace lastout::kube
