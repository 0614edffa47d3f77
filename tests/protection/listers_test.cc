// What the index says of the objects that list others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protection/fact_index.h"
#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

using ::testing::HasSubstr;

constexpr const char* kProtections = R"(  listedBy:
    group: example.com
    resource: resourcedeletionprotections
    entries: spec.protectedResources
    selectors: resourceSelector
    apiVersion: apiVersion
    kind: kind
    namespace: namespace
    name: name
    names: resourceNames
)";

constexpr const char* kUsages = R"(  listedBy:
    group: example.com
    resource: usages
    selectors: spec.of
    apiVersion: apiVersion
    kind: kind
    name: resourceRef.name
    matchLabels: resourceSelector.matchLabels
    inOwnNamespace: true
)";

class Listed : public ::testing::Test {
 public:
  void follow(const char* spec) {
    policy = policyOf(spec);
    told.index.setPolicies({policy});
    told.knowAll();
  }
  std::string lister(std::string_view apiVersion, std::string_view kind, std::string_view name,
                     std::string_view rest = "") {
    const AskedAbout asked(
        testing::object("apiVersion: " + std::string(apiVersion) + "\nkind: " + std::string(kind) +
                            "\nmetadata: {name: " + std::string(name) + std::string(rest) + "}\n",
                        told.types));
    unknown.reset();
    return told.index.lister(*policy.listedBy, asked.request, unknown);
  }

  DeletionPolicy policy;
  std::optional<std::string> unknown;
  ToldIndex told{
      definitionText("example.com", "resourcedeletionprotections", "ResourceDeletionProtection", false) +
      definitionText("example.com", "usages", "Usage", true)};
};

constexpr const char* kSample = R"(apiVersion: example.com/v1
kind: ResourceDeletionProtection
metadata: {name: sample, uid: u-sample}
spec:
  protectedResources:
  - resourceSelector:
    - apiVersion: "apps/v1"
      kind: "Deployment"
      namespace: "sample"
    resourceNames:
    - "deployment-1"
    - "deployment-2"
  - resourceSelector:
    - apiVersion: "v1"
      kind: "Service"
      name: "service-1"
      namespace: "sample"
    resourceNames:
    - "service-2"
)";

TEST_F(Listed, BothEntriesOfTheDocument) {
  follow(kProtections);
  told.tell(kSample);
  for (const char* name : {"deployment-1", "deployment-2"})
    EXPECT_EQ(lister("apps/v1", "Deployment", name, ", namespace: sample"),
              "resourcedeletionprotections/sample");
  for (const char* name : {"service-1", "service-2"})
    EXPECT_EQ(lister("v1", "Service", name, ", namespace: sample"), "resourcedeletionprotections/sample");
  EXPECT_EQ(lister("apps/v1", "Deployment", "deployment-3", ", namespace: sample"), "");
  EXPECT_EQ(lister("apps/v1", "Deployment", "deployment-1", ", namespace: other"), "");
  EXPECT_EQ(lister("apps/v1", "StatefulSet", "deployment-1", ", namespace: sample"), "");
  EXPECT_EQ(lister("v1", "Service", "deployment-1", ", namespace: sample"), "");
}

TEST_F(Listed, NoNameIsAllOfThatKindAndNoNamespaceAny) {
  follow(kProtections);
  told.tell(R"(apiVersion: example.com/v1
kind: ResourceDeletionProtection
metadata: {name: all, uid: u-all}
spec:
  protectedResources:
  - resourceSelector: [{apiVersion: v1, kind: Service, namespace: sample}, {apiVersion: v1, kind: Secret}]
  - resourceSelector: [{apiVersion: v1, kind: ConfigMap, resourceNames: [inside]}]
)");
  EXPECT_EQ(lister("v1", "Service", "any", ", namespace: sample"), "resourcedeletionprotections/all");
  EXPECT_EQ(lister("v1", "Service", "any", ", namespace: other"), "");
  EXPECT_EQ(lister("v1", "Secret", "any", ", namespace: other"), "resourcedeletionprotections/all");
  EXPECT_EQ(lister("v1", "ConfigMap", "inside", ", namespace: other"), "resourcedeletionprotections/all");
  EXPECT_EQ(lister("v1", "ConfigMap", "outside", ", namespace: other"), "");
}

TEST_F(Listed, AsListersComeAndGo) {
  follow(kProtections);
  EXPECT_EQ(lister("apps/v1", "Deployment", "deployment-1", ", namespace: sample"), "");
  EXPECT_FALSE(unknown);
  told.tell(kSample);
  EXPECT_NE(lister("apps/v1", "Deployment", "deployment-1", ", namespace: sample"), "");
  told.remove({{"example.com", "resourcedeletionprotections"}, "", "sample"}, "u-sample");
  EXPECT_EQ(lister("apps/v1", "Deployment", "deployment-1", ", namespace: sample"), "");
  told.doubt({"example.com", "resourcedeletionprotections"}, "broken");
  lister("apps/v1", "Deployment", "deployment-1", ", namespace: sample");
  EXPECT_TRUE(unknown);
}

TEST_F(Listed, ByReferenceOrByLabelsInItsOwnNamespace) {
  follow(kUsages);
  const auto usage = [](const std::string& name, const std::string& of) {
    return "apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: " + name +
           ", namespace: shop, uid: u-" + name + "}\nspec: {of: {apiVersion: v1, kind: Secret, " + of +
           "}}\n";
  };
  told.tell(usage("by-name", "resourceRef: {name: key}"));
  told.tell(usage("by-labels", "resourceSelector: {matchLabels: {app: web, tier: front}}"));
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: shop"), "usages/shop/by-name");
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: blog"), "") << "in another namespace";
  EXPECT_EQ(
      lister("v1", "Secret", "x", ", namespace: shop, labels: {app: web, tier: front, more: yes-please}"),
      "usages/shop/by-labels");
  EXPECT_EQ(lister("v1", "Secret", "x", ", namespace: shop, labels: {app: web}"), "");
  told.tell(usage("by-labels", "resourceRef: {name: other}, resourceSelector: {matchLabels: {app: web}}"));
  EXPECT_EQ(lister("v1", "Secret", "x", ", namespace: shop, labels: {app: web}"), "")
      << "a reference is what the selector came to";
}

TEST_F(Listed, AnObjectThatListsTooMuchMakesItUnknown) {
  follow(kProtections);
  std::string text =
      "apiVersion: example.com/v1\nkind: ResourceDeletionProtection\nmetadata: {name: huge, uid: u}\nspec:\n"
      "  protectedResources: [{resourceSelector: [{apiVersion: v1, kind: Secret}], resourceNames: [";
  for (int i = 0; i <= 10'000; ++i) text += "s" + std::to_string(i) + ",";
  told.tell(text + "]}]\n");
  lister("v1", "Service", "any", ", namespace: shop");
  ASSERT_TRUE(unknown);
  EXPECT_THAT(*unknown, HasSubstr("resourcedeletionprotections/huge lists more than 10000"));
}

}  // namespace
}  // namespace lastout::protection
