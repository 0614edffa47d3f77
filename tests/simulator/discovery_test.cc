// Discovery, held against recorded documents.
#include "simulator/discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kube/builtin_types.h"
#include "kube/names.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const TypeRegistry& typesOf126() {
  static const TypeRegistry kTypes(kube::KubernetesVersion::V1_26);
  return kTypes;
}

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
  expectSameResources(*resourceList(typesOf126(), "", "v1"), "004-discovery-core-v1",
                      {// Nothing runs, so there is nothing to attach to, to schedule or to look into.
                       "bindings", "componentstatuses", "nodes/proxy", "pods/attach", "pods/binding",
                       "pods/ephemeralcontainers", "pods/exec", "pods/log", "pods/portforward", "pods/proxy",
                       "services/proxy", "serviceaccounts/token",
                       // Nothing evicts pods: no nodes are drained.
                       "pods/eviction"});
}

TEST(Discovery, OfAppsIsTheRecordedOne) {
  expectSameResources(*resourceList(typesOf126(), "apps", "v1"), "005-discovery-apps-v1", {});
}

TEST(Discovery, OfTheGroupsThatDefineAndReviewIsTheRecordedOne) {
  const TypeRegistry& types = typesOf126();
  expectSameResources(*resourceList(types, "apiextensions.k8s.io", "v1"), "006-discovery-apiextensions-v1",
                      {});
  // Beside those of 1.26, the policies of later versions.
  Json registration = *resourceList(types, "admissionregistration.k8s.io", "v1");
  std::set<std::string> later;
  for (auto item = registration["resources"].begin(); item != registration["resources"].end();) {
    const std::string name = (*item)["name"];
    const bool isLater = name.find("admissionpolic") != std::string::npos;
    if (isLater) later.insert(name);
    item = isLater ? registration["resources"].erase(item) : item + 1;
  }
  EXPECT_EQ(later, (std::set<std::string>{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
                                          "validatingadmissionpolicies", "validatingadmissionpolicies/status",
                                          "validatingadmissionpolicybindings"}));
  expectSameResources(registration, "007-discovery-admissionregistration-v1", {});
}

TEST(Discovery, OfACrdsGroupIsTheRecordedOne) {
  TypeRegistry types;
  ASSERT_TRUE(types.put(recordedRequest("010-create-crd")));
  EXPECT_EQ(*resourceList(types, "my.crd.group", "v1"), recordedAnswer("012-discovery-crd-group"));
}

TEST(Discovery, NamesTheGroupsInTheRecordedOrder) {
  const Json ours = groupList(typesOf126());
  Json recorded = recordedAnswer("003-discovery-apis");
  EXPECT_EQ(withoutList(ours, "groups"), withoutList(recorded, "groups"));
  // Betas that are gone by 1.36 are left out, and what is stable by then is there.
  const std::map<std::string, std::vector<std::string>> otherVersions = {
      {"autoscaling", {"v2", "v1"}},
      {"flowcontrol.apiserver.k8s.io", {"v1", "v1beta3"}},
      {"storage.k8s.io", {"v1"}}};
  const auto group = [](const std::string& name, const std::vector<std::string>& versions) {
    Json entry = {{"name", name}, {"versions", Json::array()}};
    for (const std::string& version : versions)
      entry["versions"].push_back({{"groupVersion", name + "/" + version}, {"version", version}});
    entry["preferredVersion"] = entry["versions"][0];
    return entry;
  };
  Json wanted = Json::array();
  for (Json& entry : recorded["groups"]) {
    const std::string name = entry["name"];
    if (name == "flowcontrol.apiserver.k8s.io") wanted.push_back(group("resource.k8s.io", {"v1"}));
    const auto other = otherVersions.find(name);
    wanted.push_back(other == otherVersions.end() ? entry : group(name, other->second));
  }
  EXPECT_EQ(ours["groups"], wanted);
}

// The table of built-in types, row by row, held against what Kubernetes 1.36 says of itself.
TEST(BuiltInTypes, AreThoseOfTheRecordedDiscoveryOf136) {
  std::map<std::string, Json> recorded;  // by "<group>/<resource>"
  for (const char* name : {"004-discovery-core-v1", "005-discovery-apps-v1", "006-discovery-apiextensions-v1",
                           "007-discovery-admissionregistration-v1"}) {
    const Json list = answerOf136(name);
    const std::string version = list["groupVersion"];
    const std::string group = version == "v1" ? "" : version.substr(0, version.find('/'));
    for (const Json& one : list["resources"]) {
      if (std::string(one["name"]).find('/') == std::string::npos)
        recorded[group + "/" + std::string(one["name"])] = one;
    }
  }
  std::set<std::string> groups;  // of all of which there are documents
  for (const auto& [name, one] : recorded) groups.insert(name.substr(0, name.find('/')));
  size_t compared = 0;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    const std::string name = std::string(known.group) + "/" + std::string(known.resource);
    if (!groups.contains(std::string(known.group))) continue;
    ASSERT_TRUE(recorded.contains(name)) << name;
    const Json& one = recorded[name];
    EXPECT_EQ(known.kind, one["kind"]) << name;
    EXPECT_EQ(kube::lowerCase(known.kind), one["singularName"]) << name;
    EXPECT_EQ(known.namespaced, one["namespaced"]) << name;
    Json shortNames = Json::array();
    for (const std::string_view word : known.shortNames) {
      if (!word.empty()) shortNames.push_back(word);
    }
    EXPECT_EQ(shortNames, one.value("shortNames", Json::array())) << name;
    const Json categories = one.value("categories", Json::array());
    EXPECT_EQ((known.traits & kube::InAll) != 0, categories == Json::array({"all"})) << name;
    EXPECT_EQ((known.traits & kube::InApiExtensions) != 0, categories == Json::array({"api-extensions"}))
        << name;
    ++compared;
  }
  EXPECT_EQ(compared, recorded.size()) << "a type of 1.36 is missing";
}

TEST(BuiltInTypes, AreInTheGroupsAndVersionsOf136) {
  std::map<std::string, std::set<std::string>> recorded;
  const Json groups = answerOf136("003-discovery-apis");
  for (const Json& group : groups["groups"]) {
    for (const Json& version : group["versions"]) recorded[group["name"]].insert(version["version"]);
  }
  std::map<std::string, std::set<std::string>> ours;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    if (known.group.empty()) continue;
    std::set<std::string>& versions = ours[std::string(known.group)];
    versions.insert(std::string(known.version));
    if (!known.otherVersion.empty()) versions.insert(std::string(known.otherVersion));
  }
  ours["flowcontrol.apiserver.k8s.io"].erase("v1beta3");  // of 1.26
  EXPECT_EQ(ours, recorded);
}

// The groups of which no document was recorded: as api/discovery in Kubernetes' source has them.
TEST(BuiltInTypes, HaveTheNamesAndStoredVersionsOfKubernetesItself) {
  struct Expected {
    const char* group;
    const char* version;
    const char* resource;
    const char* shortName;
    bool isInAll;
    const char* hash;
  };
  const Expected all[] = {
      {"autoscaling", "v1", "horizontalpodautoscalers", "hpa", true, "qwQve8ut294="},
      {"autoscaling", "v2", "horizontalpodautoscalers", "hpa", true, "qwQve8ut294="},
      {"batch", "v1", "cronjobs", "cj", true, "sd5LIXh4Fjs="},
      {"batch", "v1", "jobs", "", true, "mudhfqk/qZY="},
      {"certificates.k8s.io", "v1", "certificatesigningrequests", "csr", false, "95fRKMXA+00="},
      {"networking.k8s.io", "v1", "ingressclasses", "", false, "l/iqIbDgFyQ="},
      {"networking.k8s.io", "v1", "ingresses", "ing", false, "39NQlfNR+bo="},
      {"networking.k8s.io", "v1", "networkpolicies", "netpol", false, "YpfwF18m1G8="},
      {"storage.k8s.io", "v1", "csidrivers", "", false, "hL6j/rwBV5w="},
      {"storage.k8s.io", "v1", "csinodes", "", false, "Pe62DkZtjuo="},
      {"storage.k8s.io", "v1", "csistoragecapacities", "", false, "xeVl+2Ly1kE="},
      {"storage.k8s.io", "v1", "storageclasses", "sc", false, "K+m6uJwbjGY="},
      {"storage.k8s.io", "v1", "volumeattachments", "", false, "tJx/ezt6UDU="},
  };
  const TypeRegistry types;
  for (const Expected& one : all) {
    const ServedTypePointer type = types.find(one.group, one.version, one.resource);
    ASSERT_NE(type, nullptr) << one.resource;
    EXPECT_EQ(type->shortNames,
              *one.shortName == 0 ? std::vector<std::string>() : std::vector<std::string>{one.shortName});
    EXPECT_EQ(type->categories, one.isInAll ? std::vector<std::string>{"all"} : std::vector<std::string>());
    EXPECT_EQ(type->storageVersionHash, one.hash) << one.resource;
  }
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

TEST(Version, HasEveryRecordedFieldAndIsOfTheKubernetesThatIsFollowed) {
  const auto expectVersion = [](const Json& ours, const Json& recorded, const std::string& minor) {
    for (const auto& [key, value] : recorded.items()) EXPECT_TRUE(ours.contains(key)) << key;
    EXPECT_EQ(ours.size(), recorded.size());
    EXPECT_EQ(ours["major"], "1");
    EXPECT_EQ(ours["minor"], minor);
    EXPECT_TRUE(std::string(ours["gitVersion"]).starts_with("v1." + minor + "."));
  };
  expectVersion(versionInfo(kube::KubernetesVersion::V1_26), recordedAnswer("001-version"), "26");
  const Json ours = versionInfo(kube::KubernetesVersion::V1_36);
  expectVersion(ours, answerOf136("001-version"), "36");
  for (const char* key :
       {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"})
    EXPECT_EQ(ours[key], answerOf136("001-version")[key]) << key;
}

TEST(Discovery, OfAppsIsThatOf136) {
  EXPECT_EQ(*resourceList(TypeRegistry(), "apps", "v1"), answerOf136("005-discovery-apps-v1"));
}

TEST(Discovery, NamesNoVersionThat136HasNot) {
  const Json ours = groupList(TypeRegistry());
  EXPECT_EQ(byName(ours["groups"])["flowcontrol.apiserver.k8s.io"],
            byName(answerOf136("003-discovery-apis")["groups"])["flowcontrol.apiserver.k8s.io"]);
}

}  // namespace
}  // namespace lastout::simulator
