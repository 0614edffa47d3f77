// Answers to reviews, held against what webhooks answered in the recordings, and against the embedded API
// server's reading of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/review.h"
#include "simulator/admission_review.h"
#include "tests/admission/recorded_reviews.h"

namespace lastout::admission {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::SizeIs;

json responseOf(const ReviewAnswer& answer) {
  const json review = json::parse(answerText("1", answer));
  EXPECT_EQ(review["kind"], "AdmissionReview");
  EXPECT_EQ(review["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(review["response"]["uid"], "1");
  return review["response"];
}

simulator::WebhookAnswer asTheServerReads(const ReviewAnswer& answer) {
  return simulator::readAnswer({200, answerText("1", answer)}, "rec.test.dev", "1", false).value();
}

// As the webhook answered, and what the client then got.
json recordedDenial(const std::string& name, const Refusal& refusal) {
  const json recorded = testing::recordedFile("rest/" + name + ".json");
  const json answered = responseOf({refusal, {}})["status"];
  const json& wanted = recorded["webhookAnswer"]["status"];
  for (const char* key : {"code", "reason", "message"}) EXPECT_EQ(answered[key], wanted[key]) << name;
  EXPECT_EQ(answered.value("details", json()), wanted.value("details", json())) << name;
  EXPECT_EQ(json(statusOf(*asTheServerReads({refusal, {}}).denial)), recorded["response"]["body"]) << name;
  return answered;
}

TEST(ReviewAnswer, DeniesAsRecorded) {
  const DenialCause cause{"FinalizerPresent", "my.crd.group/super-important",
                          "coolresources.my.crd.group/some-instance"};
  recordedDenial("099-delete-webhook-403", {403, "blocked by test", {cause}, {}});
  recordedDenial("100-delete-webhook-409", {409, "blocked by test", {}, {}});
  recordedDenial("101-delete-webhook-429", {429, "blocked by test", {}, 1});
}

TEST(ReviewAnswer, Allows) {
  const json response = responseOf({});
  EXPECT_EQ(response, json({{"uid", "1"}, {"allowed", true}}));
  EXPECT_FALSE(asTheServerReads({}).denial);
}

TEST(ReviewAnswer, IsNeverADenialWithoutExplanation) {
  const auto answer = asTheServerReads({Refusal{200, "", {}, {}}, {}});
  ASSERT_TRUE(answer.denial);
  EXPECT_EQ(answer.denial->code, 403);
  EXPECT_EQ(answer.denial->reason, "Forbidden");
  EXPECT_EQ(answer.denial->message,
            "admission webhook \"rec.test.dev\" denied the request: it is not allowed now");
}

TEST(ReviewAnswer, HasWarningsThatAServerPassesOn) {
  EXPECT_EQ(asTheServerReads({{}, {"first", "", "line\nbreak"}}).warnings,
            (std::vector<std::string>{"first", R"(line\x0abreak)"}));
  std::string longOne;
  for (int i = 0; i < 200; ++i) longOne += "ü";
  const json warnings = responseOf({{}, std::vector<std::string>(40, longOne)})["warnings"];
  ASSERT_THAT(warnings, SizeIs(16));
  EXPECT_THAT(std::string(warnings[0]), SizeIs(::testing::Le(256)));
  EXPECT_THAT(std::string(warnings[0]), EndsWith("ü..."));
}

TEST(ReviewAnswer, IsJsonWhateverTheWords) {
  const json response =
      responseOf({Refusal{403, "\xff\"\n\\\x01ü", {{"", "\xfe", ""}, {"", "", ""}}, 3}, {"\xfd"}});
  EXPECT_EQ(response["status"]["message"], "\xEF\xBF\xBD\"\n\\\x01ü");
  EXPECT_EQ(response["status"]["details"],
            json::parse(R"({"causes": [{"message": "\ufffd"}, {}], "retryAfterSeconds": 3})"));
}

}  // namespace
}  // namespace lastout::admission
