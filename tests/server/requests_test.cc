// Lists page by page, and what is asked again.
#include "server/runtime/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/uninstall_fixture.h"

namespace lastout::server {
namespace {

using lastout::testing::RequestsTest;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class PagedRequests : public RequestsTest {
 public:
  void createMaps(int count) {
    for (int i = 0; i < count; ++i)
      create(kMaps, {{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", "map-" + std::to_string(i)}, {"labels", {{"of", "test"}}}}}});
  }
  Answered<void> list() {
    return requests.list(
        kMaps, client::Content::Metadata, 2,
        [this](const std::vector<client::StreamedObject>& page) {
          EXPECT_LE(page.size(), 2U);
          for (const client::StreamedObject& object : page) names.push_back(object.meta.name);
        },
        "of=test");
  }

  Requests requests{server, patience};
  std::vector<std::string> names;
};

TEST_F(PagedRequests, AListComesInPages) {
  createMaps(5);
  ASSERT_TRUE(list());
  EXPECT_THAT(names, UnorderedElementsAre("map-0", "map-1", "map-2", "map-3", "map-4"));
  EXPECT_THAT(server.asked, SizeIs(3));
}

TEST_F(PagedRequests, AListBeginsAnewWhenTheServerHasForgotten) {
  createMaps(3);
  bool isForgotten = false;
  server.refuse = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (isForgotten || request.target.find("continue=") == std::string::npos) return std::nullopt;
    isForgotten = true;
    return 410;
  };
  ASSERT_TRUE(list());
  EXPECT_THAT(names, ElementsAre("map-0", "map-1", "map-0", "map-1", "map-2"));
}

TEST_F(PagedRequests, OfWhatIsNotServedThereIsNone) {
  EXPECT_TRUE(requests.list("/apis/nowhere.io/v1/things", client::Content::Metadata, 2,
                            [](const auto&) { FAIL() << "a page of nothing"; }));
  EXPECT_EQ(requests.readMetadata(std::string(kMaps) + "/nothing").value(), std::nullopt);
}

// Busy, failing, or away: each passes.
TEST_F(PagedRequests, WhatMayPassIsAskedAgain) {
  createMaps(1);
  std::vector<int> refusals = {0, 503, 429};
  server.refuse = [&](const client::ApiRequest&) -> std::optional<int> {
    if (refusals.empty()) return std::nullopt;
    const int refusal = refusals.back();
    refusals.pop_back();
    return refusal;
  };
  ASSERT_TRUE(list());
  EXPECT_THAT(names, ElementsAre("map-0"));
  EXPECT_GE(now.time_since_epoch(), std::chrono::seconds(3)) << "it waits between two attempts";
}

TEST_F(PagedRequests, WhatIsForbiddenIsNotAskedAgain) {
  server.refuse = [](const client::ApiRequest&) { return 403; };
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, 403);
  EXPECT_THAT(server.asked, SizeIs(1));
}

TEST_F(PagedRequests, ItEndsWhenNobodyAnswers) {
  server.refuse = [](const client::ApiRequest&) { return 0; };
  EXPECT_EQ(list().error().why, "nobody answers");
}

}  // namespace
}  // namespace lastout::server
