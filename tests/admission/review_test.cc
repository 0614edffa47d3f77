// AdmissionReviews as they were recorded, and bodies that are none.
#include "admission/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/recorded_reviews.h"

namespace lastout::admission {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::recordedReview;

json parsedOrNull(const std::string& text) { return text.empty() ? json() : json::parse(text); }

void expectSaysWhatItsBodySays(const Review& review, const json& request) {
  EXPECT_EQ(review.uid, request["uid"]);
  EXPECT_EQ(toString(review.operation), request["operation"]);
  EXPECT_EQ(review.object.type.group, request["resource"]["group"]);
  EXPECT_EQ(review.object.type.resource, request["resource"]["resource"]);
  EXPECT_EQ(review.subresource, request.value("subResource", ""));
  EXPECT_EQ(review.user, request["userInfo"]["username"]);
  EXPECT_EQ(review.dryRun, request["dryRun"]);
  const bool isDeletion = request["operation"] == "DELETE";
  EXPECT_EQ(parsedOrNull(review.userInfo), isDeletion ? json() : request["userInfo"]);
  EXPECT_EQ(parsedOrNull(review.newObject), isDeletion ? json() : request["object"]);
  EXPECT_EQ(parsedOrNull(review.oldObject), isDeletion ? json() : request["oldObject"]);
  if (isDeletion) {
    const json& metadata = request["oldObject"]["metadata"];
    EXPECT_EQ(review.deletion.uid, metadata["uid"]);
    EXPECT_EQ(review.deletion.isTerminating, metadata.contains("deletionTimestamp"));
    EXPECT_EQ(review.deletion.policy, request["options"].value("propagationPolicy", ""));
    std::vector<std::string> owners;
    for (const json& owner : metadata.value("ownerReferences", json::array())) owners.push_back(owner["uid"]);
    EXPECT_EQ(review.deletion.owners, owners);
  }
  const json& object = request["oldObject"].is_null() ? request["object"] : request["oldObject"];
  EXPECT_EQ(review.object.name, object["metadata"]["name"]);
  const bool isNamespace = request["resource"]["resource"] == "namespaces";
  EXPECT_EQ(review.object.namespaceName, isNamespace ? "" : request.value("namespace", ""));
}

TEST(Review, SaysWhatTheRecordedOnesSay) {
  size_t count = 0;
  for (const auto& [name, body] : testing::recordedReviews()) {
    SCOPED_TRACE(name);
    for (const int indent : {-1, 1}) {
      const std::string text = body.dump(indent);
      const auto review = parseReview(text);
      ASSERT_TRUE(review) << review.error().message;
      expectSaysWhatItsBodySays(*review, body["request"]);
    }
    ++count;
  }
  EXPECT_EQ(count, 46U);
}

TEST(Review, OfACollectionHasTheNameOfTheOldObject) {
  const json body = recordedReview("33-delete-deployments-collection-admin");
  ASSERT_FALSE(body["request"].contains("name"));
  const std::string text = body.dump();
  EXPECT_EQ(parseReview(text)->object.name, "finalizer-deployment");
}

TEST(Review, SaysHowItsObjectIsToBeDeleted) {
  json body = recordedReview("35-delete-deployments-admin");
  json& options = body["request"]["options"];
  const auto policy = [&] { return parseReview(body.dump())->deletion.policy; };
  EXPECT_EQ(policy(), "");
  options["orphanDependents"] = true;
  EXPECT_EQ(policy(), "Orphan") << "as it was said before there were policies";
  options["orphanDependents"] = false;
  EXPECT_EQ(policy(), "Background");
  options["propagationPolicy"] = "Foreground";
  EXPECT_EQ(policy(), "Foreground");
  options = {{"propagationPolicy", "Whatever"}};
  EXPECT_EQ(policy(), "") << "no API server lets that through";
  EXPECT_FALSE(parseReview(body.dump())->deletion.insistsOnVersion);
  options["preconditions"] = {{"uid", "u"}};
  EXPECT_FALSE(parseReview(body.dump())->deletion.insistsOnVersion);
  options["preconditions"]["resourceVersion"] = "7";
  EXPECT_TRUE(parseReview(body.dump())->deletion.insistsOnVersion);
  options = nullptr;
  EXPECT_EQ(policy(), "");
  body["request"]["oldObject"] = nullptr;
  EXPECT_EQ(parseReview(body.dump())->deletion.uid, "");
}

TEST(Review, SaysWhatKeepsItsObject) {
  json body = recordedReview("35-delete-deployments-admin");
  json& metadata = body["request"]["oldObject"]["metadata"];
  const auto read = [&] { return parseReview(body.dump())->deletion; };
  metadata.erase("finalizers");
  EXPECT_FALSE(read().isHeld || read().waitsForDependents);
  metadata["finalizers"] = {"example.com/f", "lastout.dev/criteria"};
  EXPECT_TRUE(read().isHeld);
  EXPECT_FALSE(read().waitsForDependents);
  metadata["finalizers"] = {"foregroundDeletion", "lastout.dev/criteria/x"};
  EXPECT_FALSE(read().isHeld);
  EXPECT_TRUE(read().waitsForDependents);
  metadata["finalizers"] = {"f", 1};
  EXPECT_THAT(parseReview(body.dump()).error().message, HasSubstr("metadata.finalizers must hold strings"));
  metadata["finalizers"] = "f";
  EXPECT_THAT(parseReview(body.dump()).error().message, HasSubstr("metadata.finalizers must be a list"));
}

TEST(Review, OfANamespaceIsInNone) {
  const std::string text = recordedReview("23-delete-namespaces-admin-background").dump();
  const auto review = parseReview(text);
  EXPECT_EQ(review->object, (kube::ObjectKey{{"", "namespaces"}, "", "demo"}));
}

// A DELETE by kubectl, to be spoilt.
json deletion() { return recordedReview("14-delete-deployments-admin-foreground"); }

ReviewError errorOf(const std::string& body) {
  const auto review = parseReview(body);
  return review ? ReviewError{0, "it is understood"} : review.error();
}

TEST(BadReview, IsSaidByWhatIsWrongWithIt) {
  const auto expectError = [](const std::string& body, const char* words) {
    const ReviewError error = errorOf(body);
    EXPECT_EQ(error.status, 400) << body.substr(0, 100);
    EXPECT_THAT(error.message, HasSubstr(words)) << body.substr(0, 100);
  };
  const auto spoilt = [](const std::function<void(json&)>& spoil) {
    json body = deletion();
    spoil(body);
    return body.dump();
  };
  expectError("", "it is empty");
  expectError(R"({"kind":"AdmissionReview)", "no JSON");
  expectError("GET / HTTP/1.1", "no JSON");
  expectError("[]", "it is no map");
  expectError("null", "it is no map");
  expectError("{}", "kind is missing");
  expectError(R"({"kind":"Pod","apiVersion":"v1"})", R"(kind is "Pod")");
  expectError(spoilt([](json& body) { body["apiVersion"] = "admission.k8s.io/v1beta1"; }), "v1beta1");
  expectError(spoilt([](json& body) { body.erase("request"); }), "has no request");
  expectError(spoilt([](json& body) { body["request"] = nullptr; }), "has no request");
  expectError(spoilt([](json& body) { body["request"] = 1; }), "request must be a map");
  expectError(spoilt([](json& body) { body["request"].erase("uid"); }), "no request.uid");
  expectError(spoilt([](json& body) { body["request"]["uid"] = ""; }), "no request.uid");
  expectError(spoilt([](json& body) { body["request"]["operation"] = "PATCH"; }), R"("PATCH" is not known)");
  expectError(spoilt([](json& body) { body["request"]["operation"] = 3; }), "request.operation must be");
  expectError(spoilt([](json& body) { body["request"]["dryRun"] = "true"; }), "request.dryRun must be");
  expectError(spoilt([](json& body) { body["request"].erase("resource"); }), "request.resource is missing");
  expectError(spoilt([](json& body) { body["request"]["resource"].erase("resource"); }),
              "request.resource.resource is missing");
  expectError(spoilt([](json& body) { body["request"].erase("userInfo"); }), "request.userInfo is missing");
  expectError(spoilt([](json& body) { body["request"]["userInfo"]["username"] = 1; }),
              "request.userInfo.username must be");
  expectError(spoilt([](json& body) { body["request"]["oldObject"] = "web"; }), "oldObject must be a map");
  expectError(spoilt([](json& body) { body["request"]["oldObject"]["metadata"] = {1}; }), "must be a map");
  expectError(spoilt([](json& body) { body["request"]["oldObject"]["metadata"]["name"] = 1; }),
              "request.oldObject.metadata.name must be a string");
  expectError(spoilt([](json& body) {
                body["request"].erase("name");
                body["request"]["oldObject"] = nullptr;
              }),
              "neither request.name nor");
}

json writeOfService() {
  json body = recordedReview("06-create-pods-replicaset-controller");
  json& request = body["request"];
  request["operation"] = "UPDATE";
  request["resource"] = {{"group", "lastout.dev"}, {"version", "v1alpha1"}, {"resource", "criticalservices"}};
  request["userInfo"] = {{"username", "jane"}, {"uid", "7"}, {"groups", {"ops"}}, {"extra", {{"a", {"b"}}}}};
  request["object"] = {{"metadata", {{"name", "s"}, {"labels", {{"odd \"key", "x"}}}}}, {"spec", {{"a", 1}}}};
  request["oldObject"] = request["object"];
  return body;
}

// However large what is left out is: it is not what a spec is judged by.
TEST(Review, OfACriticalServiceLeavesOutWhatOthersPutThere) {
  json body = writeOfService();
  const json bare = body["request"]["object"];
  const std::string large(100'000, 'x');
  for (const char* which : {"object", "oldObject"}) {
    json& object = body["request"][which];
    object["status"] = {{"unmetCriteria", large}};
    object["metadata"]["annotations"] = {{"a", large}};
    object["metadata"]["managedFields"] = {large};
    object["metadata"]["generation"] = 10;
  }
  const auto review = parseReview(body.dump());
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_EQ(json::parse(review->newObject), bare);
  EXPECT_EQ(json::parse(review->oldObject), bare);
  body["request"]["resource"]["resource"] = "others";
  EXPECT_EQ(json::parse(parseReview(body.dump())->newObject), body["request"]["object"]);
}

TEST(Review, HoldsAllThatIsKnownOfWhoWrites) {
  json body = writeOfService();
  EXPECT_EQ(json::parse(parseReview(body.dump())->userInfo), body["request"]["userInfo"]);
  body["request"]["userInfo"]["groups"] = {std::string(kMostUserBytes, 'g')};
  EXPECT_THAT(errorOf(body.dump()).message, HasSubstr("request.userInfo takes more than 262144 bytes"));
}

TEST(BadReview, IsOneThatIsCutOffAnywhere) {
  const std::string body = deletion().dump();
  for (size_t length = 0; length < body.size(); ++length)
    ASSERT_EQ(errorOf(body.substr(0, length)).status, 400) << length;
}

TEST(BadReview, HasAKeyTwiceWhereItCounts) {
  const std::string body = deletion().dump();
  const auto twice = [&body](const std::string& after, const std::string& member) {
    std::string text = body;
    return text.insert(text.find(after) + after.size(), member);
  };
  for (const std::string& text :
       {twice("{", R"("kind":"AdmissionReview",)"), twice("{", R"("request":null,)"),
        twice(R"("request":{)", R"("oldObject":null,)"), twice(R"("request":{)", R"("uid":"2",)"),
        twice(R"("request":{)", R"("u\u0069d":"2",)"), twice(R"("oldObject":{)", R"("metadata":{},)"),
        twice(R"("userInfo":{)", R"("groups":[],)"), twice(R"("metadata":{)", R"("name":"other",)"),
        twice(R"("metadata":{)", R"("n\u0061me":"other",)")})
    EXPECT_THAT(errorOf(text).message, HasSubstr("there twice")) << text.substr(0, 120);
}

TEST(BadReview, IsNestedTooDeep) {
  const auto nested = [](size_t depth) {
    json body = deletion();
    body["request"]["oldObject"]["spec"] = "HERE";
    std::string text = body.dump();
    text.replace(text.find("\"HERE\""), 6, std::string(depth, '[') + "1" + std::string(depth, ']'));
    return text;
  };
  EXPECT_EQ(errorOf(nested(61)).status, 0);  // in the body, request and oldObject
  EXPECT_THAT(errorOf(nested(62)).message, HasSubstr("nested more than 64 deep"));
  const size_t deep = 1'000'000;
  EXPECT_THAT(errorOf(std::string(deep, '[') + std::string(deep, ']')).message,
              HasSubstr("nested more than 64 deep"));
}

// A double, as Go writes it: a CRD may have it as the maximum of a number.
TEST(Review, MayHoldNumbersBeyond64Bits) {
  json body = recordedReview("14-delete-deployments-admin-foreground");
  body["request"]["oldObject"]["spec"] = "HERE";
  std::string text = body.dump();
  text.replace(text.find("\"HERE\""), 6, "18446744073709552000");
  EXPECT_EQ(errorOf(text).message, "it is understood");
}

TEST(BadReview, IsNotUtf8) {
  std::string body = deletion().dump();
  body.replace(body.find("admin"), 1, "\xff");
  EXPECT_THAT(errorOf(body).message, HasSubstr("not UTF-8"));
}

TEST(BadReview, IsTooLong) {
  const ReviewError error = errorOf(std::string(kMostReviewBytes + 1, ' '));
  EXPECT_EQ(error.status, 413);
  EXPECT_THAT(error.message, HasSubstr("8388608"));
}

TEST(Review, MayHaveFieldsThatAreNotKnown) {
  json body = deletion();
  body["request"]["new"] = {{"in", 1.37}};
  body["other"] = {1, 2};
  EXPECT_EQ(errorOf(body.dump()).status, 0);
}

TEST(Review, OfACreateMayHaveNoName) {
  json body = recordedReview("06-create-pods-replicaset-controller");
  body["request"].erase("name");
  body["request"]["object"]["metadata"].erase("name");
  const std::string text = body.dump();
  const auto review = parseReview(text);
  ASSERT_TRUE(review);
  EXPECT_THAT(review->object.name, IsEmpty());
}

}  // namespace
}  // namespace lastout::admission
