// Reading from the embedded cluster while it changes: lists in pages and at a version, and watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class ReadingTest : public testing::ClusterTest {
 public:
  explicit ReadingTest(EmbeddedOptions options = {}) : ClusterTest(std::move(options)) {}

  void createConfigMap(const std::string& space, const std::string& name, const Json& labels = nullptr) {
    Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
    if (!labels.is_null()) object["metadata"]["labels"] = labels;
    expect(201, "POST", "/api/v1/namespaces/" + space + "/configmaps", object);
  }
  void createCrd() { expect(201, "POST", kCrds, crd); }
  void createWidget(const std::string& name) {
    expect(201, "POST", kWidgets,
           {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}});
  }
  void deleteCrd() {
    expect(200, "DELETE", std::string(kCrds) + "/widgets.example.com");
    pass(seconds(10));
    ASSERT_EQ(send("GET", kWidgets).status, 404);
  }

  Json crd = Json::parse(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
             "versions": [{"name": "v1", "served": true, "storage": true,
                           "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
};

std::vector<std::string> pathsIn(const Json& list) {
  std::vector<std::string> paths;
  for (const Json& item : list["items"]) {
    const Json& metadata = item["metadata"];
    paths.push_back(metadata["namespace"].get<std::string>() + "/" + metadata["name"].get<std::string>());
  }
  return paths;
}

// What a watch tells without waiting: "ADDED name".
std::vector<std::string> toldBy(WatchResponse& watch) {
  std::vector<std::string> told;
  for (auto piece = watch.next(milliseconds(0)); piece && !piece->empty();
       piece = watch.next(milliseconds(0))) {
    std::istringstream lines(*piece);
    for (std::string line; std::getline(lines, line);) {
      const Json event = Json::parse(line);
      told.push_back(std::string(stringAt(event, {"type"})) + " " +
                     std::string(stringAt(event, {"object", "metadata", "name"})));
    }
  }
  return told;
}

TEST_F(ReadingTest, PagesOverNamespacesLoseNothing) {
  for (const char* space : {"demo", "demo-2"}) {
    createNamespace(space);
    for (const char* name : {"a", "b", "c"}) createConfigMap(space, name, {{"ours", "yes"}});
  }
  for (const std::string selector : {"&labelSelector=ours", ""}) {
    const std::string path = "/api/v1/configmaps?limit=2" + selector;
    const std::vector<std::string> all = pathsIn(expect(200, "GET", "/api/v1/configmaps?" + selector));
    std::vector<std::string> paged;
    std::string token;
    do {
      const Json page = expect(200, "GET", path + (token.empty() ? "" : "&continue=" + token));
      for (const std::string& object : pathsIn(page)) paged.push_back(object);
      token = page["metadata"].value("continue", "");
    } while (!token.empty());
    EXPECT_EQ(paged, all);
    EXPECT_GE(paged.size(), 6U);
  }
}

// Only without a limit a version means: not older than that.
TEST_F(ReadingTest, APageAtAVersionIsOfExactlyThatOne) {
  createNamespace("demo");
  pass(seconds(5));
  createConfigMap("demo", "a");
  const std::string path = "/api/v1/namespaces/demo/configmaps?labelSelector=!x";
  const std::string then = expect(200, "GET", path)["metadata"]["resourceVersion"];
  createConfigMap("demo", "b");
  const Json page = expect(200, "GET", path + "&limit=5&resourceVersion=" + then);
  EXPECT_THAT(pathsIn(page), ElementsAre("demo/a", "demo/kube-root-ca.crt"));
  EXPECT_EQ(page["metadata"]["resourceVersion"], then);
  const Json list = expect(200, "GET", path + "&resourceVersion=" + then);
  EXPECT_THAT(pathsIn(list), ElementsAre("demo/a", "demo/b", "demo/kube-root-ca.crt"));
  EXPECT_THAT(pathsIn(expect(200, "GET",
                             path + "&limit=5&resourceVersionMatch=NotOlderThan&resourceVersion=" + then)),
              ElementsAre("demo/a", "demo/b", "demo/kube-root-ca.crt"));
}

TEST_F(ReadingTest, WhatLeavesASelectionIsToldAsItWasInIt) {
  createConfigMap("default", "m", {{"x", "y"}});
  const ExchangeResponse response = send("GET", std::string(kMaps) + "?watch=1&labelSelector=x=y");
  const auto next = [&] { return Json::parse(response.stream->next(milliseconds(0)).value_or("null")); };
  EXPECT_EQ(next()["type"], "ADDED");
  const Json after =
      expect(200, "PATCH", std::string(kMaps) + "/m", {{"metadata", {{"labels", {{"x", nullptr}}}}}}, kMerge);
  const Json event = next();
  EXPECT_EQ(event["type"], "DELETED");
  EXPECT_EQ(event["object"]["metadata"]["labels"], Json({{"x", "y"}}));
  EXPECT_EQ(event["object"]["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"]);
}

TEST_F(ReadingTest, AWatchOfZeroSecondsLastsAsLongAsAnyOther) {
  const ExchangeResponse response = send("GET", std::string(kMaps) + "?watch=1&timeoutSeconds=0");
  toldBy(*response.stream);
  createConfigMap("default", "late");
  EXPECT_THAT(toldBy(*response.stream), ElementsAre("ADDED late"));
}

TEST_F(ReadingTest, AWatchEndsWithItsType) {
  createCrd();
  createWidget("a");
  const ExchangeResponse response = send("GET", std::string(kWidgets) + "?watch=1");
  deleteCrd();
  createCrd();
  createWidget("another");
  EXPECT_THAT(toldBy(*response.stream), ElementsAre("ADDED a", "DELETED a"));
  EXPECT_EQ(response.stream->next(milliseconds(0)), std::nullopt);
}

TEST_F(ReadingTest, AWatchEndsWithItsVersion) {
  Json later = crd["spec"]["versions"][0];
  later["name"] = "v2";
  later["storage"] = false;
  crd["spec"]["versions"].push_back(later);
  createCrd();
  const ExchangeResponse first = send("GET", std::string(kWidgets) + "?watch=1");
  const ExchangeResponse second = send("GET", "/apis/example.com/v2/widgets?watch=1");
  crd["spec"]["versions"][1]["served"] = false;
  expect(200, "PATCH", std::string(kCrds) + "/widgets.example.com",
         {{"spec", {{"versions", crd["spec"]["versions"]}}}}, kMerge);
  createWidget("a");
  EXPECT_THAT(toldBy(*first.stream), ElementsAre("ADDED a"));
  toldBy(*second.stream);
  EXPECT_EQ(second.stream->next(milliseconds(0)), std::nullopt);
}

TEST_F(ReadingTest, NothingIsKnownOfATypeThatWentAndCameBack) {
  createCrd();
  for (const char* name : {"a", "b", "c"}) createWidget(name);
  const Json metadata = expect(200, "GET", std::string(kWidgets) + "?limit=1")["metadata"];
  const std::string then = metadata["resourceVersion"];
  deleteCrd();
  createCrd();
  createWidget("another");
  expect(410, "GET", std::string(kWidgets) + "?limit=1&continue=" + metadata["continue"].get<std::string>());
  expect(410, "GET", std::string(kWidgets) + "?resourceVersionMatch=Exact&resourceVersion=" + then);
  const ExchangeResponse watch = send("GET", std::string(kWidgets) + "?watch=1&resourceVersion=" + then);
  EXPECT_EQ(Json::parse(watch.stream->next(milliseconds(0)).value())["object"]["code"], 410);
}

// Its names are not accepted: the type is served all the same.
TEST_F(ReadingTest, AWatchOfABuiltInTypeOutlastsADefinitionOfItsName) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const ExchangeResponse response = send("GET", leases + "?watch=1");
  crd["metadata"] = {{"name", "leases.coordination.k8s.io"},
                     {"annotations", {{"api-approved.kubernetes.io", "unapproved"}}}};
  crd["spec"]["group"] = "coordination.k8s.io";
  crd["spec"]["names"] = {{"kind", "Lease"}, {"plural", "leases"}};
  createCrd();
  expect(200, "DELETE", std::string(kCrds) + "/leases.coordination.k8s.io");
  pass(seconds(10));
  expect(404, "GET", std::string(kCrds) + "/leases.coordination.k8s.io");
  toldBy(*response.stream);
  EXPECT_NE(response.stream->next(milliseconds(0)), std::nullopt);
}

class ReadingTestOf126 : public ReadingTest {
 public:
  static EmbeddedOptions of126() {
    EmbeddedOptions options;
    options.kubernetes = kube::KubernetesVersion::V1_26;
    return options;
  }
  ReadingTestOf126() : ReadingTest(of126()) {}
};

// It reads no sendInitialEvents, for which 1.36 wants a resourceVersionMatch.
TEST_F(ReadingTestOf126, AWatchThatSaysHowItBeginsIsAWatch) {
  EXPECT_NE(send("GET", kMaps + "?watch=1&sendInitialEvents=true").stream, nullptr);
  EXPECT_EQ(send("GET", kMaps + "?sendInitialEvents=true").status, 200);
}

TEST_F(ReadingTest, AWatchThatSaysHowItBeginsNamesAMatch) {
  const ExchangeResponse refused = send("GET", kMaps + "?watch=1&sendInitialEvents=true");
  EXPECT_EQ(refused.stream, nullptr);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(send("GET", kMaps + "?sendInitialEvents=true").status, 422);
}

}  // namespace
}  // namespace lastout::simulator
