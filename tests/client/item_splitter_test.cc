#include "client/item_splitter.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/client/recorded_answers.h"

namespace lastout::client {
namespace {

using lastout::testing::OrderedJson;
using lastout::testing::pushInPieces;
using lastout::testing::recordedBody;
using lastout::testing::recordedWatch;

using Items = std::vector<std::string>;

struct Split {
  std::vector<std::string> items;
  std::string frame;
  std::string error;
  friend bool operator==(const Split&, const Split&) = default;
};

Split split(std::string_view text, size_t size, const StreamLimits& limits = {}) {
  Split result;
  ItemSplitter splitter(
      [&](std::string_view item) -> kube::Result<void> {
        result.items.emplace_back(item);
        return {};
      },
      limits);
  if (const auto pushed = pushInPieces(splitter, text, size); !pushed) {
    result.error = pushed.error().message;
    EXPECT_FALSE(splitter.push("{}")) << "it goes on after an error";
    return result;
  }
  const auto frame = splitter.finish();
  if (frame) {
    result.frame = *frame;
  } else {
    result.error = frame.error().message;
  }
  return result;
}

// Where it is cut into pieces makes no difference.
Split splitAnyhow(const std::string& text, const StreamLimits& limits = {}) {
  const Split whole = split(text, text.size() + 1, limits);
  for (size_t size = 1; size < std::min<size_t>(text.size(), 300); ++size)
    EXPECT_EQ(split(text, size, limits), whole) << "in pieces of " << size;
  return whole;
}

TEST(ItemSplitter, CutsRecordedLists) {
  for (const char* name : {"029-list-all-namespaces", "030-list-metadata-only", "033-list-page-1",
                           "034-list-page-2-with-continue-of-page-1", "078-list-metadata-deployments"}) {
    OrderedJson list = recordedBody(name);
    Split expected;
    for (const OrderedJson& item : list["items"]) expected.items.push_back(item.dump());
    ASSERT_FALSE(expected.items.empty());
    const std::string text = list.dump();
    list["items"] = OrderedJson::array();
    expected.frame = list.dump();
    EXPECT_EQ(splitAnyhow(text), expected) << name;
  }
}

TEST(ItemSplitter, CutsARecordedListInTwoPiecesAnywhere) {
  const std::string text = recordedBody("030-list-metadata-only").dump(1);
  const Split whole = split(text, text.size());
  ASSERT_EQ(whole.items.size(), recordedBody("030-list-metadata-only")["items"].size());
  for (size_t cut = 1; cut < text.size(); ++cut) {
    std::vector<std::string> items;
    ItemSplitter splitter([&](std::string_view item) -> kube::Result<void> {
      items.emplace_back(item);
      return {};
    });
    ASSERT_TRUE(splitter.push(text.substr(0, cut)));
    EXPECT_FALSE(ItemSplitter(splitter).finish()) << "complete after " << cut << " bytes";
    ASSERT_TRUE(splitter.push(text.substr(cut)));
    ASSERT_EQ(items, whole.items) << cut;
    ASSERT_EQ(splitter.finish().value(), whole.frame) << cut;
  }
}

TEST(ItemSplitter, TellsItemsFromWhatLooksLikeThem) {
  EXPECT_EQ(splitAnyhow(R"({"items":[]})"), (Split{{}, R"({"items":[]})", ""}));
  EXPECT_EQ(splitAnyhow(R"({"items":null})"), (Split{{}, R"({"items":null})", ""}));
  EXPECT_EQ(splitAnyhow(" {\"items\" : [ {} ,\n {\"items\":[1]}\t] } \n"),
            (Split{{"{}", R"({"items":[1]})"}, " {\"items\" : [] } \n", ""}));
  EXPECT_EQ(
      splitAnyhow(R"({"a":{"items":[1]},"kind":"items","b":["items",[2]],"items":[{"x":"]}\\\"["}]})"),
      (Split{
          {R"({"x":"]}\\\"["})"}, R"({"a":{"items":[1]},"kind":"items","b":["items",[2]],"items":[]})", ""}));
  EXPECT_EQ(splitAnyhow(R"({"k":"\"items\":[","xitems":[3],"items":[{"a":"\\"}]})"),
            (Split{{R"({"a":"\\"})"}, R"({"k":"\"items\":[","xitems":[3],"items":[]})", ""}));
}

TEST(ItemSplitter, RefusesWhatIsNoList) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"404 page not found\n", "the answer is no JSON object, so no list"},
      {"[{}]", "the answer is no JSON object, so no list"},
      {R"({"items":[]} {})", "the answer is no JSON object, so no list"},
      {"", "the list ended before it was whole"},
      {"  ", "the list ended before it was whole"},
      {R"({"items":[{})", "the list ended before it was whole"},
      {R"({"items":[1]})", "item 1 of the list is no object"},
      {R"({"items":["{}"]})", "item 1 of the list is no object"},
      {R"({"items":[{},[]]})", "item 2 of the list is no object"},
      {R"({"items":[{},]})", "item 2 of the list is no object"},
      {R"({"items":[,{}]})", "item 1 of the list is no object"},
      {R"({"items":[{} {}]})", "item 2 of the list is no object"},
      {R"({"items":[],"items":[{}]})", "the list has \"items\" twice"},
  };
  for (const auto& [text, error] : mistakes) EXPECT_EQ(splitAnyhow(text).error, error) << text;
}

TEST(ItemSplitter, HoldsNoMoreThanItsLimits) {
  StreamLimits limits;
  limits.depth = 5;
  limits.itemBytes = 40;
  limits.frameBytes = 30;
  const std::string begin = R"({"items":[)";
  EXPECT_EQ(splitAnyhow(begin + R"({"a":[[0]]}]})", limits).error, "");
  EXPECT_EQ(splitAnyhow(begin + R"({"a":[[[0]]]}]})", limits).items, (Items{R"({"a":[[[0]]]})"}));
  EXPECT_EQ(splitAnyhow(begin + "{}," + std::string(100'000, '{'), limits).error,
            "the list ended before it was whole");
  const std::string longest = R"({"a":")" + std::string(32, 'x') + R"("})";
  EXPECT_EQ(splitAnyhow(begin + longest + "]}", limits).items, (Items{longest}));
  // What is longer is passed over.
  for (const std::string& longer :
       {R"({"a":")" + std::string(33, 'x') + R"("})", R"({"a":")" + std::string(10'000, 'x') + R"("})",
        R"({"a":"x]}","b":)" + std::string(100, '[') + std::string(100, ']') + "}"})
    EXPECT_EQ(splitAnyhow(begin + "{}," + longer + "," + longest + "," + longer + "]}", limits).items,
              (Items{"{}", "", longest, ""}));
  EXPECT_EQ(splitAnyhow(begin + "{}" + std::string(1'000, ' ') + "]}", limits).error, "");
  EXPECT_EQ(splitAnyhow(R"({"kind":")" + std::string(1'000, 'x'), limits).error,
            "the list has too much besides its items");
  EXPECT_EQ(splitAnyhow(R"({"a":)" + std::string(20, '['), limits).error, "the list is nested too deep");
}

TEST(ItemSplitter, EndsWithTheErrorOfAnItem) {
  ItemSplitter splitter([](std::string_view text) -> kube::Result<void> {
    if (text == "{}") return {};
    return tl::unexpected(kube::Error{"it is not empty", {}, {}});
  });
  const auto pushed = splitter.push(R"({"items":[{},{},{"a":1},{}]})");
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().message, "item 3 of the list cannot be read: it is not empty");
  EXPECT_EQ(splitter.items(), 2U);
  EXPECT_FALSE(splitter.finish());
}

struct Lines {
  std::vector<std::string> lines;
  std::string error;
  friend bool operator==(const Lines&, const Lines&) = default;
};

Lines lines(std::string_view text, size_t size, size_t most = 1'000'000) {
  Lines result;
  StreamLimits limits;
  limits.itemBytes = most;
  LineSplitter splitter(
      [&](std::string_view line) -> kube::Result<void> {
        result.lines.emplace_back(line);
        return {};
      },
      limits);
  auto done = pushInPieces(splitter, text, size);
  if (done) done = splitter.finish();
  if (!done) result.error = done.error().message;
  return result;
}

TEST(LineSplitter, CutsARecordedWatchInPiecesOfEverySize) {
  const std::string text = recordedWatch("081-watch-metadata-only");
  const Lines whole = lines(text, text.size());
  EXPECT_EQ(whole.lines.size(), lastout::testing::recordedEvents("081-watch-metadata-only").size());
  EXPECT_EQ(whole.error, "");
  for (size_t size = 1; size < text.size(); size += size < 1'000 ? 1 : 97)
    ASSERT_EQ(lines(text, size), whole) << size;
}

TEST(LineSplitter, KnowsWholeLinesFromBegunOnes) {
  for (const size_t size : {1, 2, 3, 100}) {
    EXPECT_EQ(lines("", size), (Lines{{}, ""}));
    EXPECT_EQ(lines("{}\n\r\n \n{}\r\n", size), (Lines{{"{}", "{}\r"}, ""}));
    EXPECT_EQ(lines("{}\n{", size), (Lines{{"{}"}, "the watch was cut off inside an event"}));
    EXPECT_EQ(lines("{}\n {}", size), (Lines{{"{}"}, "the watch was cut off inside an event"}));
    EXPECT_EQ(lines("12345\n123456\n12\n" + std::string(1'000, 'x') + "\n3\n", size, 5),
              (Lines{{"12345", "", "12", "", "3"}, ""}));
    EXPECT_EQ(lines(std::string(100'000, 'x'), size, 5).error, "the watch was cut off inside an event");
  }
}

}  // namespace
}  // namespace lastout::client
