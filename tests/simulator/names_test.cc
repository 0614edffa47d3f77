// What the API server says to metadata, in its words.
#include "simulator/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Names : public testing::Test {
 public:
  Names() { EXPECT_TRUE(types.put(recordedRequest("010-create-crd"))); }

  const ServedType& cool() const { return *types.find("my.crd.group", "v1", "coolresources"); }
  const ServedType& core(const char* resource) const { return *types.find("", "v1", resource); }
  std::vector<std::string> problems(const ServedType& type, const char* metadata, bool named = true) const {
    std::vector<std::string> words;
    for (const StatusCause& cause : metadataProblems(type, {{"metadata", Json::parse(metadata)}}, named))
      words.push_back(cause.field + ": " + cause.message);
    return words;
  }

  TypeRegistry types;
};

Json coolNamed(const char* name) {
  return {{"apiVersion", "my.crd.group/v1"}, {"kind", "CoolResource"}, {"metadata", {{"name", name}}}};
}

TEST_F(Names, ABadNameIsRefusedAsRecorded) {
  const Json object = recordedRequest("018-create-bad-name");
  EXPECT_EQ(statusOf(invalid("CoolResource", "my.crd.group", "Bad_Name", metadataProblems(cool(), object))),
            recordedAnswer("018-create-bad-name"));
}

// A body of legal size that names 100,000 of them would hold up everybody else.
TEST_F(Names, MoreFinalizersAndOwnersThanTheMachineHoldsAreRefusedAtOnce) {
  Json metadata = {{"name", "x"}, {"namespace", "app"}};
  for (int i = 0; i < 100'000; ++i) {
    metadata["finalizers"].push_back("e.com/" + std::to_string(i));
    metadata["ownerReferences"].push_back({{"uid", std::to_string(i)}});
  }
  EXPECT_THAT(problems(core("configmaps"), metadata.dump().c_str()),
              ElementsAre(": configmaps/app/x has more than 14 finalizers",
                          ": configmaps/app/x has more than 8 owners"));
}

TEST_F(Names, ABodyOfAnotherNamespaceIsRefusedAsRecorded) {
  Json object = recordedRequest("020-create-wrong-namespace-in-body");
  EXPECT_EQ(statusOf(matchTarget(cool(), {"app", ""}, object).error()),
            recordedAnswer("020-create-wrong-namespace-in-body"));
}

TEST_F(Names, ABodyWithoutThemGetsItsNamespaceAndABuiltInTypesKind) {
  Json object = coolNamed("x");
  ASSERT_TRUE(matchTarget(cool(), {"app", ""}, object));
  EXPECT_EQ(object["metadata"]["namespace"], "app");
  Json pod = Json::object();
  ASSERT_TRUE(matchTarget(core("pods"), {"app", ""}, pod));
  EXPECT_EQ(pod, Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "app"}})"));
  Json space = {{"metadata", {{"name", "app"}, {"namespace", "other"}}}};
  ASSERT_TRUE(matchTarget(core("namespaces"), {"", "app"}, space));
  EXPECT_FALSE(space["metadata"].contains("namespace"));
}

TEST_F(Names, ABodyOfAnotherTypeIsRefused) {
  Json object = coolNamed("foo");
  object["apiVersion"] = "my.crd.group/v2";
  EXPECT_EQ(matchTarget(cool(), {"app", ""}, object).error().message,
            "the API version in the data (my.crd.group/v2) does not match the expected API version "
            "(my.crd.group/v1)");
  object = coolNamed("foo");
  object["kind"] = "SomethingElse";
  const ApiError kind = matchTarget(cool(), {"app", ""}, object).error();
  EXPECT_EQ(kind.code, 422);
  EXPECT_EQ(kind.message,
            "SomethingElse.my.crd.group \"foo\" is invalid: kind: Invalid value: \"SomethingElse\": must be "
            "CoolResource");
  for (Json body : {Json(nullptr), Json("text"), Json::array(), Json::object(), Json{{"kind", 3}}}) {
    const auto refused = matchTarget(cool(), {"app", ""}, body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, 400);
    EXPECT_THAT(refused.error().message, HasSubstr("Object 'Kind' is missing"));
  }
}

TEST_F(Names, ABodyOfAnotherNameIsRefused) {
  Json object = coolNamed("x");
  EXPECT_EQ(matchTarget(cool(), {"app", "y"}, object).error().message,
            "the name of the object (x) does not match the name on the URL (y)");
  object["metadata"].erase("name");
  EXPECT_EQ(matchTarget(cool(), {"app", "y"}, object).error().message,
            "the name of the object (y based on URL) was undeterminable: name must be provided");
}

TEST_F(Names, MetadataOfTheWrongFormIsRefused) {
  for (const char* metadata :
       {R"([])", R"({"name": 3})", R"({"labels": []})", R"({"labels": {"a": 1}})", R"({"finalizers": "x"})",
        R"({"finalizers": [1]})", R"({"generation": "1"})", R"({"ownerReferences": {}})",
        R"({"ownerReferences": ["x"]})", R"({"ownerReferences": [{"uid": 1}]})",
        R"({"ownerReferences": [{"controller": "yes"}]})"}) {
    Json object = coolNamed("x");
    object["metadata"] = Json::parse(metadata);
    const auto refused = matchTarget(cool(), {"app", ""}, object);
    ASSERT_FALSE(refused) << metadata;
    EXPECT_EQ(refused.error().code, 400) << metadata;
    EXPECT_THAT(refused.error().message,
                HasSubstr("cannot be handled as a CoolResource: json: cannot unmarshal"));
  }
  Json nulls = coolNamed("x");
  nulls["metadata"]["labels"] = nullptr;
  nulls["metadata"]["creationTimestamp"] = nullptr;
  EXPECT_TRUE(matchTarget(cool(), {"app", ""}, nulls));
}

TEST_F(Names, ANewObjectHasNoResourceVersion) {
  const ApiError error = refuseResourceVersion({{"metadata", {{"resourceVersion", "12"}}}}).error();
  EXPECT_EQ(error.code, 500);
  EXPECT_EQ(error.reason, "");
  EXPECT_EQ(error.message, "resourceVersion should not be set on objects to be created");
  EXPECT_TRUE(refuseResourceVersion(coolNamed("x")));
}

TEST_F(Names, SomeNameIsNeeded) {
  EXPECT_THAT(problems(cool(), "{}", false),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(problems(cool(), R"({"generateName": "gen-"})", false), IsEmpty());
  EXPECT_THAT(problems(cool(), R"({"generateName": "Gen-"})", false),
              ElementsAre(HasSubstr("metadata.generateName: Invalid value: \"Gen-\": a lowercase RFC 1123")));
}

TEST_F(Names, EachTypeHasItsRuleForNames) {
  EXPECT_THAT(problems(core("namespaces"), R"({"name": "a.b"})"),
              ElementsAre(HasSubstr("RFC 1123 label must")));
  const TypeRegistry former(kube::KubernetesVersion::V1_26);
  EXPECT_THAT(problems(*former.find("", "v1", "services"), R"({"name": "1a"})"),
              ElementsAre(HasSubstr("a DNS-1035 label must")));
  EXPECT_THAT(problems(core("services"), R"({"name": "1a"})"), IsEmpty()) << "validation/177";
  EXPECT_THAT(problems(core("services"), R"({"name": "a.b"})"),
              ElementsAre(HasSubstr("RFC 1123 label must")));
  EXPECT_THAT(problems(core("configmaps"), R"({"name": "1.a"})"), IsEmpty());
  const ServedType& role = *types.find("rbac.authorization.k8s.io", "v1", "clusterroles");
  for (const char* name : {"system:any Name", "x\\n1", "{{x}} y", "..."})
    EXPECT_THAT(problems(role, (R"({"name": ")" + std::string(name) + "\"}").c_str()), IsEmpty());
  EXPECT_THAT(problems(role, (R"({"name": ")" + std::string(300, 'a') + "\"}").c_str()), IsEmpty());
  EXPECT_THAT(problems(role, R"({"name": "a/b%"})"),
              ElementsAre("metadata.name: Invalid value: \"a/b%\": may not contain '/'",
                          "metadata.name: Invalid value: \"a/b%\": may not contain '%'"));
  const std::string longName = R"({"name": ")" + std::string(254, 'a') + R"("})";
  EXPECT_THAT(problems(cool(), longName.c_str()),
              ElementsAre(HasSubstr("must be no more than 253 characters")));
}

TEST_F(Names, LabelsAndAnnotationsAreQualifiedNames) {
  EXPECT_THAT(problems(cool(), R"({"name": "x", "labels": {"a/b/c": "v", "ok": "not ok", "x.io/": "v"}})"),
              ElementsAre(HasSubstr("\"a/b/c\": a qualified name must consist"),
                          HasSubstr("\"not ok\": a valid label must be an empty string"),
                          HasSubstr("\"x.io/\": name part must be non-empty"),
                          HasSubstr("\"x.io/\": name part must consist")));
  EXPECT_THAT(problems(cool(), R"({"name": "x", "annotations": {"Upper.io/Key": "any thing", "_": ""}})"),
              ElementsAre(HasSubstr("metadata.annotations: Invalid value: \"_\": name part must consist")));
  const std::string big = R"({"name": "x", "annotations": {"a": ")" + std::string(262144, 'a') + R"("}})";
  EXPECT_THAT(problems(cool(), big.c_str()),
              ElementsAre("metadata.annotations: Too long: must have at most 262144 bytes"));
}

TEST_F(Names, FinalizersAreQualifiedNamesAndBuiltInTypesWantADomain) {
  EXPECT_THAT(problems(cool(), R"({"name": "x", "finalizers": ["plain", "x.io/y"]})"), IsEmpty());
  EXPECT_THAT(problems(cool(), R"({"name": "x", "finalizers": ["a b"]})"),
              ElementsAre(HasSubstr("metadata.finalizers: ")));
  EXPECT_THAT(
      problems(core("pods"), R"({"name": "x", "finalizers": ["orphan", "plain"]})"),
      ElementsAre(
          "metadata.finalizers[1]: Invalid value: \"plain\": name is neither a standard finalizer name "
          "nor is it fully qualified"));
  EXPECT_THAT(problems(cool(), R"({"name": "x", "finalizers": ["orphan", "foregroundDeletion"]})"),
              ElementsAre(HasSubstr("finalizer orphan and foregroundDeletion cannot be both set")));
}

TEST_F(Names, OwnersAreCompleteAndAtMostOneControls) {
  EXPECT_THAT(
      problems(cool(), R"({"name": "x", "ownerReferences": [{"apiVersion": "apps/"}]})"),
      ElementsAre("metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version must not be empty",
                  "metadata.ownerReferences.kind: Invalid value: \"\": kind must not be empty",
                  "metadata.ownerReferences.name: Invalid value: \"\": name must not be empty",
                  "metadata.ownerReferences.uid: Invalid value: \"\": uid must not be empty"));
  const char* two = R"({"name": "x", "ownerReferences": [
      {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": true},
      {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "2", "controller": true}]})";
  EXPECT_THAT(problems(cool(), two), ElementsAre(HasSubstr("Found \"true\" in references for A/a and B/b")));
}

}  // namespace
}  // namespace lastout::simulator
