// Discovery, held against recorded documents.
#include "simulator/discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

std::map<std::string, Json> byName(const Json& list) {
  std::map<std::string, Json> items;
  for (const Json& item : list) items[item["name"]] = item;
  return items;
}

// Every item of ours is the recorded one, and those that are only recorded are the ones we leave out
// knowingly.
void expectSame(const Json& ours, const Json& recorded, const std::set<std::string>& leftOut) {
  std::map<std::string, Json> theirs = byName(recorded);
  for (const auto& [name, item] : byName(ours)) {
    EXPECT_EQ(item, theirs[name]) << name;
    theirs.erase(name);
  }
  std::set<std::string> missing;
  for (const auto& [name, item] : theirs) missing.insert(name);
  EXPECT_EQ(missing, leftOut);
}

Json withoutList(Json document, const char* list) {
  document.erase(list);
  return document;
}

void expectSameResources(const Json& ours, const std::string& recording,
                         const std::set<std::string>& leftOut) {
  const Json recorded = recordedAnswer(recording);
  EXPECT_EQ(withoutList(ours, "resources"), withoutList(recorded, "resources"));
  expectSame(ours["resources"], recorded["resources"], leftOut);
}

TEST(Discovery, OfTheCoreGroupIsTheRecordedOne) {
  expectSameResources(
      *resourceList(TypeRegistry(), "", "v1"), "004-discovery-core-v1",
      {// Nothing runs, so there is nothing to attach to, to schedule or to look into.
       "bindings", "componentstatuses", "nodes/proxy", "pods/attach", "pods/binding",
       "pods/ephemeralcontainers", "pods/exec", "pods/log", "pods/portforward", "pods/proxy",
       "services/proxy", "serviceaccounts/token",
       // Nothing evicts pods: no nodes are drained.
       "pods/eviction",
       // Neither deletion nor its clients need them.
       "limitranges", "podtemplates", "replicationcontrollers", "replicationcontrollers/scale",
       "replicationcontrollers/status", "resourcequotas", "resourcequotas/status"});
}

TEST(Discovery, OfAppsLeavesOutControllerRevisionsBecauseNothingRollsBack) {
  expectSameResources(*resourceList(TypeRegistry(), "apps", "v1"), "005-discovery-apps-v1",
                      {"controllerrevisions"});
}

TEST(Discovery, OfTheGroupsThatDefineAndReviewIsTheRecordedOne) {
  const TypeRegistry types;
  expectSameResources(*resourceList(types, "apiextensions.k8s.io", "v1"), "006-discovery-apiextensions-v1",
                      {});
  // Beside those of 1.26, the policies of 1.30.
  Json registration = *resourceList(types, "admissionregistration.k8s.io", "v1");
  std::set<std::string> later;
  for (auto item = registration["resources"].begin(); item != registration["resources"].end();) {
    const std::string name = (*item)["name"];
    const bool isLater = name.starts_with("validatingadmissionpol");
    if (isLater) later.insert(name);
    item = isLater ? registration["resources"].erase(item) : item + 1;
  }
  EXPECT_EQ(later, (std::set<std::string>{"validatingadmissionpolicies", "validatingadmissionpolicies/status",
                                          "validatingadmissionpolicybindings"}));
  expectSameResources(registration, "007-discovery-admissionregistration-v1", {});
}

TEST(Discovery, OfACrdsGroupIsTheRecordedOne) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(recordedRequest("010-create-crd")));
  EXPECT_EQ(*resourceList(types, "my.crd.group", "v1"), recordedAnswer("012-discovery-crd-group"));
}

TEST(Discovery, NamesTheGroupsInTheRecordedOrder) {
  const Json ours = groupList(TypeRegistry());
  Json recorded = recordedAnswer("003-discovery-apis");
  EXPECT_EQ(withoutList(ours, "groups"), withoutList(recorded, "groups"));
  // Neither deletion nor its clients need these.
  const std::set<std::string> leftOut = {"autoscaling",   "batch",       "certificates.k8s.io",
                                         "events.k8s.io", "node.k8s.io", "scheduling.k8s.io",
                                         "storage.k8s.io"};
  Json wanted = Json::array();
  for (Json& group : recorded["groups"]) {
    if (leftOut.contains(group["name"])) continue;
    if (group["name"] == "flowcontrol.apiserver.k8s.io") {  // not the older betas, but what became of them
      const Json beta = group["versions"][0];
      group["preferredVersion"] = {{"groupVersion", "flowcontrol.apiserver.k8s.io/v1"}, {"version", "v1"}};
      group["versions"] = Json::array({group["preferredVersion"], beta});
    }
    wanted.push_back(group);
  }
  EXPECT_EQ(ours["groups"], wanted);
}

Json recordedGroups() { return recordedAnswer("003-discovery-apis"); }

TEST(Discovery, OfOneGroupIsItsEntryAsADocument) {
  Json wanted = byName(recordedGroups()["groups"])["apps"];
  wanted["kind"] = "APIGroup";
  wanted["apiVersion"] = "v1";
  EXPECT_EQ(groupOf(TypeRegistry(), "apps"), wanted);
  EXPECT_EQ(groupOf(TypeRegistry(), ""), std::nullopt);
  EXPECT_EQ(groupOf(TypeRegistry(), "my.crd.group"), std::nullopt);
  EXPECT_EQ(resourceList(TypeRegistry(), "my.crd.group", "v1"), std::nullopt);  // rest/008
}

TEST(Discovery, OfTheCoreVersionsIsTheRecordedOne) {
  EXPECT_EQ(coreVersions("192.0.2.2:16443"), recordedAnswer("002-discovery-api"));
}

TEST(Version, HasEveryRecordedFieldAndIsA126) {
  const Json ours = versionInfo();
  const Json recorded = recordedAnswer("001-version");
  for (const auto& [key, value] : recorded.items()) EXPECT_TRUE(ours.contains(key)) << key;
  EXPECT_EQ(ours["major"], "1");
  EXPECT_EQ(ours["minor"], "26");
  EXPECT_TRUE(std::string(ours["gitVersion"]).starts_with("v1.26."));
}

// As kubectl looks for it: a PATCH of the kind with the parameter fieldValidation.
TEST(OpenApi, SaysThatFieldsAreValidatedHere) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(recordedRequest("010-create-crd")));
  const std::string url = openApiIndex(types)["paths"]["apis/my.crd.group/v1"]["serverRelativeURL"];
  EXPECT_EQ(url, "/openapi/v3/apis/my.crd.group/v1");
  const Json document = *openApiOf(types, "my.crd.group", "v1");
  const Json& patch =
      document["paths"]["/apis/my.crd.group/v1/namespaces/{namespace}/coolresources/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"],
            Json::parse(R"({"group": "my.crd.group", "version": "v1", "kind": "CoolResource"})"));
  EXPECT_TRUE(std::ranges::any_of(patch["parameters"], [](const Json& one) {
    return one["name"] == "fieldValidation" && one["in"] == "query";
  }));
  EXPECT_TRUE((*openApiOf(types, "", "v1"))["paths"].contains("/api/v1/namespaces/{name}"));
  EXPECT_EQ(openApiOf(types, "no.such.group", "v1"), std::nullopt);
}

}  // namespace
}  // namespace lastout::simulator
