// An object as it should be: what is asked of the API server, and how others who write it are treated.
#include "client/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "protection/policy.h"
#include "tests/client/script.h"

namespace lastout::client {
namespace {

using ::testing::HasSubstr;
using testing::Script;
using testing::ScriptedAnswer;
using TestJson = nlohmann::json;

constexpr const char* kPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";

const kube::ResourceType& policies() {
  return *kube::ResourceMap::builtIn().find(protection::deletionPolicyType());
}

TestJson policy(const TestJson& spec) {
  return {{"apiVersion", "lastout.dev/v1alpha1"},
          {"kind", "DeletionPolicy"},
          {"metadata", {{"name", "p"}, {"labels", {{"ours", "1"}}}}},
          {"spec", spec}};
}

TestJson stored(const TestJson& spec, const std::string& version) {
  TestJson object = policy(spec);
  object["metadata"]["uid"] = "u";
  object["metadata"]["resourceVersion"] = version;
  object["metadata"]["labels"]["theirs"] = "2";
  return object;
}

ScriptedAnswer answer(int status, const TestJson& body) { return {status, {body.dump()}}; }

ScriptedAnswer refusal(int status, const std::string& reason, const std::string& message) {
  return answer(status, {{"kind", "Status"}, {"code", status}, {"reason", reason}, {"message", message}});
}

ScriptedAnswer nothingThere() {
  return refusal(404, "NotFound", "deletionpolicies.lastout.dev \"p\" not found");
}

TEST(Apply, CreatesWhatIsNotThere) {
  Script script({nothingThere(), answer(201, stored({{"a", 1}}, "1"))});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), false), Applied::Created);
  EXPECT_EQ(script.request(0).target, std::string(kPolicies) + "/p");
  EXPECT_EQ(script.request(1).method + " " + script.request(1).target, std::string("POST ") + kPolicies);
}

TEST(Apply, ReplacesTheSpecOfTheObjectThatWasRead) {
  Script script({answer(200, stored({{"old", 1}}, "7")), answer(200, stored({{"a", 1}}, "8"))});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), false), Applied::Updated);
  const ApiRequest request = script.request(1);
  EXPECT_EQ(request.method + " " + request.target, std::string("PUT ") + kPolicies + "/p");
  EXPECT_EQ(TestJson::parse(request.body), stored({{"a", 1}}, "7")) << "uid, version and others' labels stay";
}

TEST(Apply, WhatTheServerMakesOfItTellsWhetherItChanged) {
  const TestJson full = stored({{"a", 1}, {"default", true}}, "7");
  Script script({answer(200, full), answer(200, full)});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), false), Applied::Unchanged);
}

TEST(Apply, ReadsAgainWhenSomebodyWasFaster) {
  Script script({answer(200, stored({{"old", 1}}, "7")), refusal(409, "Conflict", "modified"),
                 answer(200, stored({{"old", 2}}, "8")), answer(200, stored({{"a", 1}}, "9"))});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), false), Applied::Updated);
  EXPECT_EQ(TestJson::parse(script.request(3).body)["metadata"]["resourceVersion"], "8");
}

TEST(Apply, SomebodyElseMayCreateIt) {
  Script script({nothingThere(), refusal(409, "AlreadyExists", "there"), answer(200, stored({{"a", 1}}, "8")),
                 answer(200, stored({{"a", 1}}, "8"))});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), false), Applied::Unchanged);
}

TEST(Apply, ATrialSaysSo) {
  Script script({nothingThere(), answer(201, stored({{"a", 1}}, ""))});
  EXPECT_EQ(*apply(*script.server(), policies(), policy({{"a", 1}}), true), Applied::Created);
  EXPECT_EQ(script.request(1).target, std::string(kPolicies) + "?dryRun=All");
}

TEST(Apply, RefusalsAreTheServersWords) {
  Script denied({nothingThere(), refusal(403, "Forbidden", "not you")});
  EXPECT_THAT(apply(*denied.server(), policies(), policy({}), false).error().message,
              HasSubstr("p: 403 Forbidden: not you"));
  Script unserved({refusal(404, "", "404 page not found")});
  EXPECT_THAT(apply(*unserved.server(), policies(), policy({}), false).error().message,
              HasSubstr("its type is not served there: apply deploy/crd/ first"));
  TestJson dying = stored({}, "7");
  dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Script terminating({answer(200, dying)});
  EXPECT_THAT(apply(*terminating.server(), policies(), policy({}), false).error().message,
              HasSubstr("is being deleted"));
}

TEST(RemoveObject, DeletesTheVeryObjectThatWasRead) {
  Script script({answer(200, stored({}, "7")), answer(200, {{"kind", "Status"}})});
  EXPECT_TRUE(*removeObject(*script.server(), policies(), "", "p", false));
  const TestJson options = TestJson::parse(script.request(1).body);
  EXPECT_EQ(options["preconditions"], (TestJson{{"uid", "u"}, {"resourceVersion", "7"}}));
  Script none({nothingThere()});
  EXPECT_FALSE(*removeObject(*none.server(), policies(), "", "p", false));
}

}  // namespace
}  // namespace lastout::client
