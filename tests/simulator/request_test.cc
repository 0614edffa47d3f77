#include "simulator/request.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lastout::simulator {
namespace {

std::string inWords(std::string_view path) {
  const std::optional<Target> target = parseTarget(path);
  if (!target) return "nothing";
  std::string words = target->group + "|" + target->version + "|" + target->resource + "|";
  return words + target->namespaceName + "|" + target->name + "|" + target->subresource;
}

TEST(Target, IsReadFromThePath) {
  EXPECT_EQ(inWords("/api/v1/pods"), "|v1|pods|||");
  EXPECT_EQ(inWords("/api/v1/namespaces"), "|v1|namespaces|||");
  EXPECT_EQ(inWords("/api/v1/namespaces/x"), "|v1|namespaces||x|");
  EXPECT_EQ(inWords("/api/v1/namespaces/x/finalize"), "|v1|namespaces||x|finalize");
  EXPECT_EQ(inWords("/api/v1/namespaces/x/pods/"), "|v1|pods|x||");
  EXPECT_EQ(inWords("/apis/apps/v1/namespaces/x/deployments/d/scale"), "apps|v1|deployments|x|d|scale");
  EXPECT_EQ(inWords("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin"),
            "rbac.authorization.k8s.io|v1|clusterroles||system:admin|");
  EXPECT_EQ(inWords("/api/v1/pods/a+b%2Bc%C3%a4"), "|v1|pods||a+b+c\xc3\xa4|")
      << "only in a query + is a space";
}

TEST(Target, IsNothingWhereThePathIsNoneOfAResource) {
  for (const char* path :
       {"", "/", "/api", "/api/v1", "/apis/apps/v1", "/healthz/x/y", "/api/v1//pods",
        "/api/v1/namespaces/x/pods/y/z/more", "/api/v1/pods/%zz", "/api/v1/pods/%4", "/api/v1/pods/%-1"}) {
    EXPECT_EQ(inWords(path), "nothing") << path;
  }
  EXPECT_EQ(inWords("/api/v1/pods/" + std::string(4000, 'x')), "nothing");
}

ApiResult<ListOptions> listOptionsOf(const Query& query) {
  return parseListOptions(query, kube::kNewestKubernetes);
}

TEST(ListOptions, AreReadFromTheQuery) {
  const auto options = listOptionsOf({{"labelSelector", "a=b"},
                                      {"resourceVersion", "7"},
                                      {"resourceVersionMatch", "Exact"},
                                      {"limit", "500"},
                                      {"timeoutSeconds", "9"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->labelSelector, "a=b");
  EXPECT_EQ(options->resourceVersion, 7U);
  EXPECT_EQ(options->match, VersionMatch::Exact);
  EXPECT_EQ(options->limit, 500U);
  EXPECT_EQ(options->timeout, std::chrono::seconds(9));
  EXPECT_FALSE(options->watch);
  for (const char* yes : {"1", "true", "True", "t", ""})
    EXPECT_TRUE(listOptionsOf({{"watch", yes}})->watch) << yes;
  for (const char* no : {"0", "false", "False"}) EXPECT_FALSE(listOptionsOf({{"watch", no}})->watch) << no;
}

TEST(ListOptions, AreRefusedAsTheApiServerDoes) {
  const auto codeOf = [](const Query& query) {
    const auto options = listOptionsOf(query);
    return options ? 200 : options.error().code;
  };
  EXPECT_EQ(codeOf({{"limit", "many"}}), 400);
  EXPECT_EQ(codeOf({{"limit", ""}}), 400);
  EXPECT_EQ(codeOf({{"limit", "+-1"}}), 400);
  EXPECT_EQ(codeOf({{"resourceVersion", "x"}}), 400);
  EXPECT_EQ(codeOf({{"resourceVersion", "99999999999999999999999"}}), 400);
  EXPECT_EQ(codeOf({{"timeoutSeconds", "1.5"}}), 400);
  EXPECT_EQ(codeOf({{"continue", "abc"}, {"resourceVersion", "3"}}), 400);
  EXPECT_EQ(codeOf({{"resourceVersionMatch", "Exact"}}), 422);
  EXPECT_EQ(codeOf({{"resourceVersionMatch", "Exact"}, {"resourceVersion", "0"}}), 422);
  EXPECT_EQ(codeOf({{"resourceVersionMatch", "Newer"}, {"resourceVersion", "5"}}), 422);
  EXPECT_EQ(codeOf({{"resourceVersionMatch", "Exact"}, {"resourceVersion", "5"}, {"watch", "1"}}), 422);
}

// As client-go's reflectors send them since 1.35; of 1.26 they are told what it allows, and list instead.
TEST(ListOptions, SayHowAWatchBeginsSince127) {
  const Query query = {
      {"watch", "1"}, {"sendInitialEvents", "true"}, {"resourceVersionMatch", "NotOlderThan"}};
  const auto options = listOptionsOf(query);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->initialEvents, true);
  const auto old = parseListOptions(query, kube::KubernetesVersion::V1_26);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, 422);
  EXPECT_FALSE(listOptionsOf({{"watch", "1"}, {"sendInitialEvents", "true"}}));
  EXPECT_FALSE(listOptionsOf({{"watch", "1"},
                              {"sendInitialEvents", "true"},
                              {"resourceVersionMatch", "Exact"},
                              {"resourceVersion", "5"}}));
}

// k8s.io/apimachinery, validation.ValidateListOptions(), of both versions.
TEST(ListOptions, AreRefusedInTheWordsOfTheirKubernetes) {
  constexpr auto k126 = kube::KubernetesVersion::V1_26;
  constexpr auto k136 = kube::KubernetesVersion::V1_36;
  const auto refusal = [](const Query& query, kube::KubernetesVersion version) {
    const auto options = parseListOptions(query, version);
    if (options) return std::string("none");
    return std::string(options.error().details["causes"][0]["field"]) + ": " +
           std::string(options.error().details["causes"][0]["message"]);
  };
  const Query matches = {{"watch", "1"}, {"resourceVersion", "5"}, {"resourceVersionMatch", "NotOlderThan"}};
  EXPECT_EQ(refusal(matches, k126),
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch");
  EXPECT_EQ(refusal(matches, k136),
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
            "sendInitialEvents is provided");
  for (const char* value : {"true", "false"}) {
    const Query lists = {
        {"sendInitialEvents", value}, {"resourceVersion", "5"}, {"resourceVersionMatch", "NotOlderThan"}};
    EXPECT_EQ(refusal(lists, k136), "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
    EXPECT_EQ(refusal(lists, k126), "none");
    EXPECT_EQ(refusal({{"sendInitialEvents", value}}, k136),
              "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  }
}

// As strconv.ParseInt takes them.
TEST(ListOptions, TakeNumbersWithTheirSigns) {
  EXPECT_EQ(listOptionsOf({{"limit", "+5"}})->limit, 5U);
  EXPECT_EQ(listOptionsOf({{"limit", "-1"}})->limit, 0U) << "no limit";
  EXPECT_EQ(listOptionsOf({{"timeoutSeconds", "0"}})->timeout, std::nullopt);
  EXPECT_EQ(listOptionsOf({{"timeoutSeconds", "-3"}})->timeout, std::chrono::seconds(0));
  EXPECT_EQ(listOptionsOf({{"resourceVersion", ""}})->resourceVersion, std::nullopt);
  EXPECT_EQ(listOptionsOf({{"limit", "many"}}).error().message,
            "strconv.ParseInt: parsing \"many\": invalid syntax");
  EXPECT_EQ(listOptionsOf({{"limit", "9223372036854775808"}}).error().message,
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range");
}

TEST(WriteOptions, KnowDryRunsAndFieldValidation) {
  const auto options = parseWriteOptions("CreateOptions", {{"dryRun", "All"}, {"fieldValidation", "Strict"}});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->dryRun);
  EXPECT_EQ(options->asGiven("CreateOptions"), Json({{"kind", "CreateOptions"},
                                                     {"apiVersion", "meta.k8s.io/v1"},
                                                     {"dryRun", {"All"}},
                                                     {"fieldValidation", "Strict"}}));
  EXPECT_EQ(parseWriteOptions("CreateOptions", {{"dryRun", "Some"}}).error().code, 422);
  EXPECT_EQ(parseWriteOptions("CreateOptions", {{"dryRun", ""}}).error().code, 422);
  EXPECT_EQ(parseWriteOptions("CreateOptions", {{"fieldValidation", "strict"}}).error().code, 422);
}

// Each recorded review of a DELETE carries the options of the request that caused it.
TEST(DeleteOptions, ComeBackAsReviewsCarryThem) {
  size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/recordings/kubernetes-1.26/admission")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const Json request = Json::parse(file)["body"]["request"];
    if (request["operation"] != "DELETE") continue;
    const auto options = parseDeleteOptions({}, request["options"]);
    ASSERT_TRUE(options) << entry.path();
    EXPECT_EQ(options->asGiven(), request["options"]) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 20U);
}

TEST(DeleteOptions, OfTheBodyCountBeforeThoseOfTheQuery) {
  const Query query = {{"propagationPolicy", "Foreground"}, {"gracePeriodSeconds", "5"}};
  EXPECT_EQ(parseDeleteOptions(query, nullptr)->policy, cluster::PropagationPolicy::Foreground);
  const auto both = parseDeleteOptions(query, {{"propagationPolicy", "Orphan"}});
  EXPECT_EQ(both->policy, cluster::PropagationPolicy::Orphan);
  EXPECT_EQ(both->gracePeriodSeconds, 5);
}

TEST(DeleteOptions, AreRefusedAsTheApiServerDoes) {
  const auto codeOf = [](const Json& body) {
    const auto options = parseDeleteOptions({}, body);
    return options ? 200 : options.error().code;
  };
  EXPECT_EQ(codeOf({{"propagationPolicy", "Sideways"}}), 422);
  EXPECT_EQ(codeOf({{"propagationPolicy", 3}}), 400);
  EXPECT_EQ(codeOf({{"gracePeriodSeconds", -1}}), 422);
  EXPECT_EQ(codeOf({{"gracePeriodSeconds", "soon"}}), 400);
  EXPECT_EQ(codeOf({{"preconditions", {{"uid", 7}}}}), 400);
  EXPECT_EQ(codeOf({{"dryRun", {"Sometimes"}}}), 422);
  EXPECT_EQ(codeOf({{"dryRun", {"All", "Sometimes"}}}), 422);
  EXPECT_EQ(codeOf({{"orphanDependents", true}, {"propagationPolicy", "Orphan"}}), 422);
}

// Otherwise a dry run, or a deletion under a condition, would become a real one.
TEST(DeleteOptions, AreRefusedWhenTheyAreMalformed) {
  const auto messageOf = [](const Json& body) {
    const auto options = parseDeleteOptions({}, body);
    return options ? "none" : std::to_string(options.error().code) + " " + options.error().message;
  };
  const std::string prefix =
      "400 DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: json: cannot unmarshal ";
  EXPECT_EQ(messageOf({{"dryRun", "All"}}),
            prefix + "string into Go struct field DeleteOptions.dryRun of type []string");
  EXPECT_EQ(messageOf({{"dryRun", {7}}}),
            prefix + "number into Go struct field DeleteOptions.dryRun of type string");
  EXPECT_EQ(messageOf({{"preconditions", "x"}}),
            prefix + "string into Go struct field DeleteOptions.preconditions of type v1.Preconditions");
  EXPECT_EQ(messageOf({{"preconditions", {{"uid", 7}}}}),
            prefix + "number into Go struct field DeleteOptions.preconditions.uid of type types.UID");
  EXPECT_EQ(messageOf({{"kind", "Pod"}, {"apiVersion", "v1"}}).substr(0, 7), "400 Pod");
  for (const char* query : {"dryRun", "propagationPolicy"})
    EXPECT_EQ(parseDeleteOptions({{query, ""}}, nullptr).error().code, 422) << query;
}

TEST(DeleteOptions, TakeNullForWhatIsAbsent) {
  const auto options = parseDeleteOptions({}, {{"preconditions", {{"uid", nullptr}}},
                                               {"propagationPolicy", nullptr},
                                               {"gracePeriodSeconds", nullptr},
                                               {"dryRun", nullptr}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->asGiven(), parseDeleteOptions({}, nullptr)->asGiven());
}

}  // namespace
}  // namespace lastout::simulator
