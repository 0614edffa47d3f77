#include "client/writes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lastout::client {
namespace {

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";

TEST(Writes, ANewObjectIsPosted) {
  const ApiRequest request = creation(kLeases, {{"metadata", {{"name", "web"}}}});
  EXPECT_EQ(request.method + " " + request.target, std::string("POST ") + kLeases);
  EXPECT_EQ(request.contentType, "application/json");
  EXPECT_EQ(request.body, R"({"metadata":{"name":"web"}})");
}

TEST(Writes, AChangeIsAMergePatch) {
  const ApiRequest request = mergePatch(std::string(kLeases) + "/web", {{"spec", nullptr}});
  EXPECT_EQ(request.method + " " + request.target, std::string("PATCH ") + kLeases + "/web");
  EXPECT_EQ(request.contentType, "application/merge-patch+json");
  EXPECT_EQ(request.body, R"({"spec":null})");
}

TEST(Writes, WhatNamesAVersionIsMergedIntoThatOne) {
  nlohmann::json object = {{"metadata", {{"name", "a b"}}}};
  EXPECT_EQ(creationOrPatch(kLeases, object).method, "POST");
  EXPECT_EQ(creationOrPatch(kLeases, object).target, kLeases);
  object["metadata"]["resourceVersion"] = "7";
  const ApiRequest request = creationOrPatch(kLeases, object);
  EXPECT_EQ(request.method + " " + request.target, std::string("PATCH ") + kLeases + "/a%20b");
  EXPECT_EQ(request.body, object.dump());
}

TEST(Writes, ADeletionMeansOneObjectAtOneVersionOrAtAny) {
  const auto meant = [](const std::string& version) {
    return nlohmann::json::parse(deletion("/x", "u", version).body)["preconditions"];
  };
  EXPECT_EQ(meant("7"), (nlohmann::json{{"uid", "u"}, {"resourceVersion", "7"}}));
  EXPECT_EQ(meant(""), (nlohmann::json{{"uid", "u"}}));
}

TEST(Writes, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(mergePatch("/x", {{"message", "\xff"}}).body, "{\"message\":\"\uFFFD\"}");
}

}  // namespace
}  // namespace lastout::client
