// The reviewer, with webhooks that are functions of this process.
#include "simulator/webhook_dispatcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>

#include "kube/encoding.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

// What a webhook of this test answers to the `request` of a review: its `response` without the uid, or why it
// cannot be called.
using Asked = std::function<tl::expected<Json, std::string>(const Json& request)>;

// Webhooks by name, asked in the order of their names.
class ReviewerTest : public testing::Test {
 protected:
  void add(const std::string& name, Asked asked, const char* change = "{}",
           const std::string& kind = "ValidatingWebhookConfiguration") {
    Json webhook = Json::parse(R"({"admissionReviewVersions": ["v1"], "sideEffects": "None",
      "clientConfig": {"url": "https://127.0.0.1:19443/validate"},
      "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]})");
    webhook["name"] = name + ".test.dev";
    webhook.merge_patch(Json::parse(change));
    const auto put = webhooks_.put({{"kind", kind}, {"metadata", {{"name", name}}}, {"webhooks", {webhook}}});
    ASSERT_TRUE(put) << put.error().message;
    asked_[name + ".test.dev"] = std::move(asked);
  }
  void addMutating(const std::string& name, Asked asked, const char* change = "{}") {
    add(name, std::move(asked), change, "MutatingWebhookConfiguration");
  }

  ReviewOutcome review(ReviewRequest request) { return dispatcher_.review(std::move(request)); }

  Webhooks webhooks_;

 private:
  tl::expected<WebhookResponse, std::string> call(const Webhook& webhook, const std::string& body) {
    const Json review = Json::parse(body);
    auto response = asked_.at(webhook.name)(review["request"]);
    if (!response) return tl::unexpected(response.error());
    (*response)["uid"] = review["request"]["uid"];
    return WebhookResponse{
        200, Json{{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", *response}}
                 .dump()};
  }

  std::map<std::string, Asked> asked_;
  std::atomic<int> uids_ = 0;
  WebhookDispatcher dispatcher_{
      webhooks_, [this](const Webhook& webhook, const std::string& body) { return call(webhook, body); },
      [this] { return "uid-" + std::to_string(++uids_); }, 2};
};

ReviewRequest creationOf(const Json& object) {
  ReviewRequest request;
  request.operation = "CREATE";
  request.type = {"", "configmaps"};
  request.version = "v1";
  request.object = &object;
  return request;
}

ReviewRequest deletionOf(const Json& object) {
  ReviewRequest request = creationOf(object);
  request.operation = "DELETE";
  request.oldObject = std::exchange(request.object, nullptr);
  return request;
}

const Json kReviewedObject = {{"metadata", {{"name", "a"}}}, {"seen", Json::array()}};

Asked allowing() {
  return [](const Json&) { return Json{{"allowed", true}}; };
}
Asked denying(const std::string& why) {
  return [why](const Json&) { return Json{{"allowed", false}, {"status", {{"message", why}}}}; };
}
Asked failing(const std::string& why) {
  return [why](const Json&) -> tl::expected<Json, std::string> { return tl::unexpected(why); };
}
Asked patching(const std::string& operations) {
  return [operations](const Json&) {
    return Json{{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", kube::toBase64(operations)}};
  };
}

TEST_F(ReviewerTest, WithoutWebhooksAllIsAllowed) {
  const ReviewOutcome outcome = review(creationOf(kReviewedObject));
  EXPECT_FALSE(outcome.denial);
  EXPECT_FALSE(outcome.object);
}

TEST_F(ReviewerTest, MutatingOnesComeFirstOneAfterTheOther) {
  std::vector<Json> seen;
  const auto note = [&seen](const Asked& then) {
    return [&seen, then](const Json& request) {
      seen.push_back(request["object"]["seen"]);
      return then(request);
    };
  };
  add("a", note(allowing()));
  addMutating("b", note(patching(R"([{"op": "add", "path": "/seen/-", "value": "b"}])")));
  addMutating("c", note(patching(R"([{"op": "add", "path": "/seen/-", "value": "c"}])")));
  const ReviewOutcome outcome = review(creationOf(kReviewedObject));
  ASSERT_FALSE(outcome.denial);
  EXPECT_EQ(seen, (std::vector<Json>{Json::array(), {"b"}, {"b", "c"}}));
  EXPECT_EQ(outcome.object->at("seen"), (Json{"b", "c"}));
}

TEST_F(ReviewerTest, TheFirstDenialCountsAlthoughItComesLast) {
  std::promise<void> second;
  add("a", [answered = second.get_future().share()](const Json& request) {
    answered.wait();  // so both are asked at the same time
    return denying("first")(request);
  });
  add("b", [&second](const Json& request) {
    second.set_value();
    return denying("second")(request);
  });
  add("c", allowing());
  EXPECT_EQ(review(deletionOf(kReviewedObject)).denial->message,
            "admission webhook \"a.test.dev\" denied the request: first");
}

TEST_F(ReviewerTest, ADenialOfAMutatingOneEndsIt) {
  addMutating("a", denying("no"));
  add("b", [](const Json&) -> tl::expected<Json, std::string> {
    ADD_FAILURE() << "asked";
    return tl::unexpected(std::string("asked"));
  });
  EXPECT_EQ(review(creationOf(kReviewedObject)).denial->code, 400);
}

TEST_F(ReviewerTest, AFailedCallIsTheRecorded500) {
  for (const char* name : {"102-delete-webhook-slow", "110-delete-webhook-down-failurepolicy-fail"}) {
    const Json recorded = recordedAnswer(name);
    const std::string message = recorded["details"]["causes"][0]["message"];
    const std::string prefix = "failed calling webhook \"rec.test.dev\": failed to call webhook: ";
    add("rec", failing(message.substr(prefix.size())));
    EXPECT_EQ(statusOf(*review(deletionOf(kReviewedObject)).denial), recorded);
  }
}

TEST_F(ReviewerTest, AFailedCallMayBeIgnored) {
  add("a", failing("down"), R"({"failurePolicy": "Ignore"})");
  addMutating("b", failing("down"), R"({"failurePolicy": "Ignore"})");
  EXPECT_FALSE(review(creationOf(kReviewedObject)).denial);
  add("a", denying("no"), R"({"failurePolicy": "Ignore"})");
  EXPECT_TRUE(review(creationOf(kReviewedObject)).denial) << "a denial is no failure";
}

// https://github.com/karmada-io/karmada/issues/4439 has the words of a real API server.
TEST_F(ReviewerTest, AWebhookWhoseCaBundleHasNoCertificateFailsUncalled) {
  const Asked nobody = [](const Json&) -> tl::expected<Json, std::string> {
    ADD_FAILURE() << "asked";
    return Json{{"allowed", true}};
  };
  add("a", nobody, R"({"clientConfig": {"caBundle": "Cg=="}})");
  const ReviewOutcome outcome = review(deletionOf(kReviewedObject));
  ASSERT_TRUE(outcome.denial);
  EXPECT_EQ(outcome.denial->code, 500);
  EXPECT_EQ(outcome.denial->message,
            "Internal error occurred: failed calling webhook \"a.test.dev\": could not get REST client: "
            "unable to load root certificates: unable to parse bytes as PEM block");
  add("a", nobody, R"({"clientConfig": {"caBundle": "Cg=="}, "failurePolicy": "Ignore"})");
  EXPECT_FALSE(review(deletionOf(kReviewedObject)).denial);
}

TEST_F(ReviewerTest, APatchThatCannotBeAppliedIs500) {
  addMutating("a", patching(R"([{"op": "remove", "path": "/none"}])"), R"({"failurePolicy": "Ignore"})");
  EXPECT_EQ(review(creationOf(kReviewedObject)).denial->code, 500);
  EXPECT_EQ(review(deletionOf(kReviewedObject)).denial->code, 500) << "there is nothing to change";
  addMutating("a", patching(R"({"no": "patch"})"));
  EXPECT_EQ(review(creationOf(kReviewedObject)).denial->code, 500);
}

TEST_F(ReviewerTest, WarningsComeWithBothVerdicts) {
  add("a", [](const Json&) { return Json{{"allowed", false}, {"warnings", {"one"}}}; });
  add("b", [](const Json&) { return Json{{"allowed", true}, {"warnings", {"two"}}}; });
  EXPECT_EQ(review(deletionOf(kReviewedObject)).warnings, (std::vector<std::string>{"one", "two"}));
}

TEST_F(ReviewerTest, ManyReviewsAtOnceAllEnd) {
  for (const char* name : {"a", "b", "c", "d", "e"}) add(name, allowing());
  std::vector<std::thread> clients;
  std::atomic<int> allowed = 0;
  clients.reserve(6);
  for (int i = 0; i < 6; ++i)
    clients.emplace_back([this, &allowed] {
      for (int k = 0; k < 20; ++k) allowed += review(deletionOf(kReviewedObject)).denial ? 0 : 1;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(allowed, 120);
}

TEST_F(ReviewerTest, AConditionThatCannotBeEvaluatedDenies) {
  const char* kOfNoName = R"({"matchConditions": [{"name": "a", "expression": "request.name == 'a'"}]})";
  int calls = 0;
  const Asked counting = [&calls](const Json&) {
    ++calls;
    return Json{{"allowed", true}};
  };
  add("b", counting, kOfNoName);
  add("a", counting);
  const ReviewOutcome outcome = review(deletionOf(kReviewedObject));
  ASSERT_TRUE(outcome.denial);
  EXPECT_EQ(outcome.denial->code, 403);
  EXPECT_EQ(calls, 0) << "nobody is asked before it is clear who is to be";
  webhooks_.remove("ValidatingWebhookConfiguration", "b");
  EXPECT_FALSE(review(deletionOf(kReviewedObject)).denial);
  EXPECT_EQ(calls, 1);
  addMutating("c", counting, kOfNoName);
  EXPECT_TRUE(review(creationOf(kReviewedObject)).denial);
  EXPECT_EQ(calls, 1);
}

// A condition that fails denies or leaves the webhook out, and one that is false decides:
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions
TEST_F(ReviewerTest, AConditionBeyondThisPartOfCelFailsForEveryRequest) {
  const auto conditions = [](const char* more, const char* failurePolicy) {
    return std::string(R"({"failurePolicy": ")") + failurePolicy +
           R"(", "matchConditions": [{"name": "a", "expression": "object.metadata.?labels.orValue('') != 'no'"})" +
           more + "]}";
  };
  const Asked nobody = [](const Json&) -> tl::expected<Json, std::string> {
    ADD_FAILURE() << "asked";
    return Json{{"allowed", true}};
  };
  addMutating("a", nobody, conditions("", "Fail").c_str());
  const ReviewOutcome outcome = review(creationOf(kReviewedObject));
  ASSERT_TRUE(outcome.denial);
  EXPECT_EQ(outcome.denial->code, 403);
  EXPECT_NE(outcome.denial->message.find("an optional field at 1:16 is not supported"), std::string::npos)
      << outcome.denial->message;
  addMutating("a", nobody, conditions("", "Ignore").c_str());
  EXPECT_FALSE(review(creationOf(kReviewedObject)).denial);
  constexpr const char* kNeverTrue = R"(, {"name": "b", "expression": "request.operation == 'DELETE'"})";
  addMutating("a", nobody, conditions(kNeverTrue, "Fail").c_str());
  EXPECT_FALSE(review(creationOf(kReviewedObject)).denial);
}

}  // namespace
}  // namespace lastout::simulator
