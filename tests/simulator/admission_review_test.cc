// AdmissionReviews, held against the recorded ones; and answers against what the API server made of them.
#include "simulator/admission_review.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kube/encoding.h"

namespace lastout::simulator {
namespace {

const std::string kControlPlane = "tests/recordings/kubernetes-1.26/";

Json parsedFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

UserInfo userFrom(const Json& json) {
  return {json.value("username", ""), json.value("uid", ""), json.value("groups", std::vector<std::string>()),
          json.value("extra", std::map<std::string, std::vector<std::string>, std::less<>>())};
}

// The request that a recorded review is about, from what the API server knew of it.
ReviewRequest requestFrom(const Json& recorded) {
  const Json& resource = recorded["resource"];
  const Json& kind = recorded["kind"];
  ReviewRequest request;
  request.operation = recorded["operation"];
  request.type = {resource["group"], resource["resource"]};
  request.version = resource["version"];
  request.subresource = recorded.value("subResource", "");
  request.kindGroup = kind["group"];
  request.kindVersion = kind["version"];
  request.kind = kind["kind"];
  request.name = recorded.value("name", "");
  const bool isNamespace = request.type == kube::GroupResource{"", "namespaces"};
  request.namespaceName = isNamespace ? "" : recorded.value("namespace", "");
  if (!recorded["object"].is_null()) request.object = &recorded["object"];
  if (!recorded["oldObject"].is_null()) request.oldObject = &recorded["oldObject"];
  request.options = recorded["options"];
  request.dryRun = recorded["dryRun"];
  request.user = userFrom(recorded["userInfo"]);
  return request;
}

TEST(AdmissionReview, IsTheRecordedOne) {
  size_t reviews = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kControlPlane + "admission")) {
    if (entry.path().extension() != ".json") continue;
    const Json recorded = parsedFile(entry.path())["body"];
    const Json& request = recorded["request"];
    EXPECT_EQ(reviewBody(requestFrom(request), std::string(request["uid"])), recorded) << entry.path();
    ++reviews;
  }
  EXPECT_EQ(reviews, 46U);
}

// The answer of a webhook to the review "1".
WebhookResponse answering(Json response) {
  if (!response.contains("uid")) response["uid"] = "1";
  return {200,
          Json{{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", response}}
              .dump()};
}

auto answerTo(const WebhookResponse& response, bool mutating = false) {
  return readAnswer(response, "rec.test.dev", "1", mutating);
}

TEST(WebhookAnswer, DenialsAreTheRecordedStatus) {
  for (const char* name : {"099-delete-webhook-403", "100-delete-webhook-409", "101-delete-webhook-429",
                           "105-delete-webhook-deny", "106-delete-webhook-denywarn"}) {
    const Json recorded = parsedFile(kControlPlane + "rest/" + name + ".json");
    const auto answer = answerTo(answering(recorded["webhookAnswer"]));
    ASSERT_TRUE(answer && answer->denial) << name;
    EXPECT_EQ(statusOf(*answer->denial), recorded["response"]["body"]) << name;
  }
}

TEST(WebhookAnswer, WarningsBecomeTheRecordedHeader) {
  const Json recorded = parsedFile(kControlPlane + "rest/109-delete-dry-run-webhook-allow-with-warning.json");
  const auto answer = answerTo(answering(recorded["webhookAnswer"]));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->denial);
  ASSERT_EQ(answer->warnings.size(), 1U);
  EXPECT_EQ(warningHeader(answer->warnings[0]), recorded["response"]["headers"]["warning"]);
}

TEST(WebhookAnswer, WarningsCannotForgeHeaders) {
  const auto answer =
      answerTo(answering({{"allowed", true}, {"warnings", {"a\r\nSet-Cookie: b", std::string(5000, 'x')}}}));
  ASSERT_TRUE(answer);
  for (const std::string& warning : answer->warnings) {
    EXPECT_EQ(warning.find_first_of("\r\n"), std::string::npos);
    EXPECT_LT(warning.size(), 400U);
  }
  EXPECT_EQ(warningHeader(R"(say "no")"), R"(299 - "say \"no\"")");
  const auto many = answerTo(answering({{"allowed", true}, {"warnings", Json::array_t(1000, "w")}}));
  EXPECT_EQ(many->warnings.size(), 16U);
}

// What the recorded answer says after `failed calling webhook "rec.test.dev": `.
std::string recordedFailure(const std::string& name) {
  const std::string message = parsedFile(kControlPlane + "rest/" + name +
                                         ".json")["response"]["body"]["details"]["causes"][0]["message"];
  const std::string prefix = "failed calling webhook \"rec.test.dev\": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : "";
}

TEST(WebhookAnswer, OfAnotherVersionOrUidFailsAsRecorded) {
  EXPECT_EQ(answerTo({200, R"({"apiVersion": "x", "kind": "y"})"}).error(),
            recordedFailure("103-delete-webhook-garbage"));
  const std::string wrongUid = recordedFailure("104-delete-webhook-wronguid");
  const std::string expected = wrongUid.substr(wrongUid.find('"') + 1, 36);
  EXPECT_EQ(readAnswer(answering({{"uid", "other"}}), "rec.test.dev", expected, false).error(), wrongUid);
}

TEST(WebhookAnswer, ThatIsNoneFails) {
  for (const std::string_view body :
       {"", "no", "[]", "{}", "null", R"({"kind": "AdmissionReview"})",
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"})",
        R"({"kind": "Pod", "apiVersion": "admission.k8s.io/v1"})",
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": 3})",
        R"({"kind": 1, "apiVersion": {}, "response": {"uid": "1", "allowed": true}})"})
    EXPECT_FALSE(answerTo({200, std::string(body)})) << body;
  for (const Json& response :
       {Json{{"allowed", "yes"}}, Json{{"status", 1}}, Json{{"status", {{"code", "1"}}}},
        Json{{"status", {{"details", {{"causes", {1}}}}}}, {"uid", "2"}}, Json{{"warnings", "w"}},
        Json{{"uid", 1}}})
    EXPECT_FALSE(answerTo(answering(response))) << response;
  for (const int status : {100, 302, 404, 500, 503}) {
    WebhookResponse response = answering({{"allowed", true}});
    response.status = status;
    EXPECT_FALSE(answerTo(response)) << status;
  }
}

TEST(WebhookAnswer, WithACodeOfSuccessIsStillADenial) {
  for (const int64_t code : {int64_t{0}, int64_t{200}, int64_t{-1}, int64_t{999}, int64_t{1} << 40}) {
    const auto answer =
        answerTo(answering({{"allowed", false}, {"status", {{"code", code}, {"reason", "Why"}}}}));
    ASSERT_TRUE(answer && answer->denial);
    EXPECT_EQ(answer->denial->code, 400);
    EXPECT_EQ(answer->denial->message, "admission webhook \"rec.test.dev\" denied the request: Why");
  }
}

TEST(WebhookAnswer, PatchesOnlyWhereItMay) {
  const Json patch = Json::parse(R"([{"op": "add", "path": "/a", "value": 1}])");
  const Json allowed = {
      {"allowed", true}, {"patchType", "JSONPatch"}, {"patch", kube::toBase64(patch.dump())}};
  EXPECT_EQ(answerTo(answering(allowed), true)->patch, patch);
  EXPECT_FALSE(answerTo(answering(allowed), false)) << "a validating one may not";
  for (const char* key : {"patch", "patchType"}) {
    Json half = allowed;
    half.erase(key);
    EXPECT_FALSE(answerTo(answering(half), true)) << key;
    Json other = allowed;
    other[key] = "***";
    EXPECT_FALSE(answerTo(answering(other), true)) << key;
  }
}

}  // namespace
}  // namespace lastout::simulator
