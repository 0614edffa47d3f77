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
    in: OwnNamespace
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
    listers = told.index.listers(*policy.listedBy, asked.request);
    unknown = listers.unknown;
    return listers.first;
  }

  DeletionPolicy policy;
  std::optional<std::string> unknown;
  Listers listers;  // of the last question
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

// A Usage in namespace shop.
std::string usage(const std::string& name, const std::string& of, const std::string& rest = "",
                  const std::string& meta = "") {
  return "apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: " + name + ", namespace: shop, uid: u-" +
         name + meta + "}\nspec: {of: {apiVersion: v1, kind: Secret, " + of + "}" + rest + "}\n";
}

TEST_F(Listed, ByReferenceOrByLabelsInItsOwnNamespace) {
  follow(kUsages);
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

constexpr const char* kUsagesElsewhere = R"(  listedBy:
    group: example.com
    resource: usages
    selectors: spec.of
    apiVersion: apiVersion
    kind: kind
    namespace: resourceRef.namespace
    name: resourceRef.name
    matchLabels: resourceSelector.matchLabels
    matchNamespace: resourceSelector.namespace
    matchController: resourceSelector.matchControllerRef
    in: OwnUnlessNamed
    because:
    - by resource {spec.by.kind}/{spec.by.resourceRef.name}
    - 'with reason: "{spec.reason}"'
)";

TEST_F(Listed, InTheNamespaceThatTheSelectorNamesOrElseInItsOwn) {
  follow(kUsagesElsewhere);
  told.tell(usage("own", "resourceRef: {name: key}"));
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: shop"), "usages/shop/own");
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: blog"), "");
  EXPECT_EQ(lister("v1", "Secret", "key"), "") << "what is cluster-scoped is in no namespace";
  told.tell(usage("own", "resourceRef: {name: key, namespace: blog}"));
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: shop"), "");
  EXPECT_EQ(lister("v1", "Secret", "key", ", namespace: blog"), "usages/shop/own");
  told.tell(usage("own", "resourceSelector: {namespace: blog, matchLabels: {app: web}}"));
  EXPECT_EQ(lister("v1", "Secret", "x", ", namespace: shop, labels: {app: web}"), "");
  EXPECT_EQ(lister("v1", "Secret", "x", ", namespace: blog, labels: {app: web}"), "usages/shop/own");
}

std::string ownedBy(const std::string& uid, const std::string& controller = "true") {
  return ", ownerReferences: [{apiVersion: example.com/v1, kind: X, name: x, uid: " + uid +
         ", controller: " + controller + "}]";
}

TEST_F(Listed, ASelectorMayAskForTheListersController) {
  follow(kUsagesElsewhere);
  const std::string of = "resourceSelector: {matchControllerRef: true}";
  told.tell(usage("same", of, "", ownedBy("u-x")));
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop" + ownedBy("u-x")), "usages/shop/same");
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop" + ownedBy("u-y")), "") << "another controller";
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop" + ownedBy("u-x", "false")), "") << "an owner";
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop"), "") << "no controller";
  told.tell(usage("same", of));
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop"), "") << "neither has one";
  told.tell(usage("same", "resourceSelector: {matchControllerRef: true, matchLabels: {app: web}}", "",
                  ownedBy("u-x")));
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop, labels: {app: web}" + ownedBy("u-x")),
            "usages/shop/same");
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop, labels: {app: web}"), "");
  EXPECT_EQ(lister("v1", "Secret", "a", ", namespace: shop" + ownedBy("u-x")), "");
}

TEST_F(Listed, TheFirstIsNamedAndSaysWhyAndAllAreCounted) {
  follow(kUsagesElsewhere);
  const std::string of = "resourceRef: {name: key}";
  told.tell(usage("b", of, ", reason: \"in production\""));
  lister("v1", "Secret", "key", ", namespace: shop");
  EXPECT_EQ(listers.count, 1U);
  EXPECT_EQ(listers.name, "b");
  EXPECT_EQ(listers.namespaceName, "shop");
  EXPECT_EQ(listers.because, "with reason: \"in production\"");
  told.tell(usage("a", of, ", reason: r, by: {kind: App, resourceRef: {name: web}}"));
  told.tell(usage("c", "resourceSelector: {matchLabels: {app: web}}"));
  lister("v1", "Secret", "key", ", namespace: shop, labels: {app: web}");
  EXPECT_EQ(listers.count, 3U) << "by a reference and by labels";
  EXPECT_EQ(listers.name, "a");
  EXPECT_EQ(listers.because, "by resource App/web") << "before the reason";
  told.tell(usage("a", of, ", by: {kind: App, resourceSelector: {matchLabels: {app: web}}}"));
  lister("v1", "Secret", "key", ", namespace: shop");
  EXPECT_EQ(listers.because, "") << "no name, and no reason";
}

TEST_F(Listed, ItIsSaidThatANamespacedListerDoesNotProtectWhatIsClusterScoped) {
  follow(kUsagesElsewhere);
  const auto inVain = [&](const std::string& text) {
    return told.index.listedInVain(testing::object(text, told.types));
  };
  EXPECT_THAT(inVain(usage("u", "resourceRef: {name: key}")), ::testing::IsEmpty());
  EXPECT_THAT(inVain("apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: u, namespace: shop, uid: u}\n"
                     "spec: {of: {apiVersion: v1, kind: Namespace, resourceRef: {name: shop}}}\n"),
              ::testing::ElementsAre("Namespace"));
  follow(kProtections);
  EXPECT_THAT(inVain(kSample), ::testing::IsEmpty()) << "cluster-scoped itself";
}

std::string manyNames() {
  std::string names = "[";
  for (int i = 0; i <= 10'000; ++i) names += "s" + std::to_string(i) + ",";
  return names + "]";
}

TEST_F(Listed, AnObjectThatListsTooMuchMakesItUnknown) {
  follow(kProtections);
  told.tell(
      "apiVersion: example.com/v1\nkind: ResourceDeletionProtection\nmetadata: {name: huge, uid: u}\nspec:\n"
      "  protectedResources: [{resourceSelector: [{apiVersion: v1, kind: Secret}], resourceNames: " +
      manyNames() + "}]\n");
  lister("v1", "Service", "any", ", namespace: shop");
  ASSERT_TRUE(unknown);
  EXPECT_THAT(*unknown, HasSubstr("resourcedeletionprotections/huge lists more than 10000"));
}

constexpr const char* kKeepers = R"(  listedBy:
    group: example.com
    resource: usages
    selectors: spec
    apiVersion: apiVersion
    kind: kind
    namespace: namespace
    names: names
    in: )";

std::string keeper(const std::string& spec) {
  return "apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: huge, namespace: infra, uid: u}\nspec: " +
         spec + "\n";
}

// Whoever may write in one namespace does not block what is in others.
TEST_F(Listed, AConfinedObjectThatListsTooMuchMakesUnknownOnlyWhereItMayProtect) {
  const auto isUnknownIn = [&](const std::string& space) {
    lister("v1", "Secret", "s1", space.empty() ? "" : ", namespace: " + space);
    return unknown.has_value();
  };
  const std::string tooMuch = keeper("[{apiVersion: v1, kind: Secret, names: " + manyNames() +
                                     "}, {apiVersion: v1, kind: Secret, namespace: blog, names: [a]}]");
  follow((kKeepers + std::string("OwnNamespace\n")).c_str());
  told.tell(tooMuch);
  EXPECT_TRUE(isUnknownIn("infra"));
  EXPECT_FALSE(isUnknownIn("blog"));
  EXPECT_FALSE(isUnknownIn("shop"));
  EXPECT_FALSE(isUnknownIn("")) << "what is cluster-scoped";
  EXPECT_TRUE(told.index.listedKinds(*policy.listedBy).isAll);

  follow((kKeepers + std::string("OwnUnlessNamed\n")).c_str());
  told.tell(tooMuch);
  EXPECT_TRUE(isUnknownIn("infra"));
  EXPECT_TRUE(isUnknownIn("blog")) << "it names that";
  EXPECT_FALSE(isUnknownIn("shop"));

  told.remove({{"example.com", "usages"}, "infra", "huge"}, "u");
  EXPECT_FALSE(isUnknownIn("infra"));

  follow((kKeepers + std::string("AnyNamespace\n")).c_str());
  told.tell(tooMuch);
  EXPECT_TRUE(isUnknownIn("shop"));
  EXPECT_TRUE(isUnknownIn(""));
}

TEST_F(Listed, AnObjectThatListsTooManyKindsIsAskedAboutAllOfItsNamespace) {
  follow((kKeepers + std::string("OwnNamespace\n")).c_str());
  std::string kinds = "[";
  for (int i = 0; i <= 1'000; ++i) kinds += "{apiVersion: v1, kind: K" + std::to_string(i) + "}, ";
  told.tell(keeper(kinds + "{apiVersion: v1, kind: Secret}]"));
  const ListedKinds listed = told.index.listedKinds(*policy.listedBy);
  EXPECT_TRUE(listed.isAll);
  EXPECT_THAT(listed.kinds, ::testing::ElementsAre(ListedKind{std::nullopt, "", "infra"}));
  lister("v1", "Secret", "s", ", namespace: infra");
  EXPECT_TRUE(unknown);
}

}  // namespace
}  // namespace lastout::protection
