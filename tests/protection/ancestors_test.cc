// What the index says of the ancestors that labels name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protection/fact_index.h"
#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = AncestorState::Kind;

const kube::GroupResource kComposites{"vshn.appcat.vshn.io", "xvshnpostgresqls"};

constexpr const char* kByComposite = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      groupLabel: appcat.vshn.io/ownergroup
      versionLabel: appcat.vshn.io/ownerapiversion
      kindLabel: appcat.vshn.io/ownerkind
      nameLabel: appcat.vshn.io/ownercomposite
      field: {path: spec.parameters.backup.deletionProtection, whenAbsent: Protected}
  overrides: [{label: appcat.vshn.io/webhook-allowdeletion, values: ["true"]}]
)";

constexpr const char* kOwnerLabels =
    "appcat.vshn.io/ownercomposite: pg, appcat.vshn.io/ownerkind: XVSHNPostgreSQL, "
    "appcat.vshn.io/ownergroup: vshn.appcat.vshn.io, appcat.vshn.io/ownerapiversion: v1";

std::string composite(std::string_view spec, std::string_view metadata = "") {
  return "apiVersion: vshn.appcat.vshn.io/v1\nkind: XVSHNPostgreSQL\nmetadata: {name: pg, uid: u-pg" +
         std::string(metadata) + "}\nspec: " + std::string(spec) + "\n";
}

std::string space(std::string_view labels) {
  return "apiVersion: v1\nkind: Namespace\nmetadata: {name: inst, uid: u-inst, labels: {" +
         std::string(labels) + "}}\n";
}

std::string claim(std::string_view labels) {
  return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: inst, labels: {" +
         std::string(labels) + "}}\nspec: {}\n";
}

class Ancestors : public ::testing::Test {
 public:
  Ancestors() {
    told.index.setPolicies({policy});
    told.tell(space(kOwnerLabels));  // names the type of the composite
    told.knowAll();
  }
  AncestorState of(const std::string& yaml) {
    const AskedAbout asked(testing::object(yaml, told.types));
    return told.index.ancestor(*policy.when[0].ancestor, asked.request);
  }

  const DeletionPolicy policy = policyOf(kByComposite, "appcat");
  ToldIndex told{definitionText("vshn.appcat.vshn.io", "xvshnpostgresqls", "XVSHNPostgreSQL", false) +
                 definitionText("example.com", "teams", "Team", true)};
};

TEST_F(Ancestors, TheTypeThatANamespaceNamesIsWantedWhole) {
  std::vector<std::pair<std::string, bool>> wanted;
  for (const WantedType& type : told.index.wanted())
    wanted.emplace_back(toString(type.type), type.withContent);
  EXPECT_THAT(wanted, ElementsAre(std::pair("namespaces", false),
                                  std::pair("xvshnpostgresqls.vshn.appcat.vshn.io", true)));
}

TEST_F(Ancestors, TheFieldOfTheCompositeDecides) {
  told.tell(composite("{parameters: {backup: {deletionProtection: true}}}"));
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Protects);
  EXPECT_EQ(of(claim(kOwnerLabels)).detail, "xvshnpostgresqls.vshn.appcat.vshn.io/pg");
  told.tell(composite("{parameters: {backup: {deletionProtection: false}}}"));
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Frees);
  told.tell(composite("{parameters: {}}"));
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Protects) << "an absent toggle protects";
}

TEST_F(Ancestors, ACompositeThatIsGoneOrTerminatesFrees) {
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Gone);
  told.tell(composite("{}", ", deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]"));
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Gone);
  told.tell(composite("{}"));
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Protects);
  told.remove({kComposites, "", "pg"}, "u-other");
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Protects) << "another one was removed";
  told.remove({kComposites, "", "pg"}, "u-pg");
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Gone);
}

TEST_F(Ancestors, TheFirstLabelThatIsMissingOrEmptyIsNamed) {
  const std::vector<std::pair<std::string, std::string>> labels{{"ownercomposite", "pg"},
                                                                {"ownerkind", "XVSHNPostgreSQL"},
                                                                {"ownerapiversion", "v1"},
                                                                {"ownergroup", "vshn.appcat.vshn.io"}};
  for (size_t missing = 0; missing < labels.size(); ++missing) {
    for (const bool isEmpty : {false, true}) {
      std::string text;
      for (size_t i = 0; i < labels.size(); ++i) {
        if (i < missing || (i == missing && isEmpty) || i + 1 == labels.size() ||
            missing + 1 == labels.size())
          if (i != missing || isEmpty)
            text += "appcat.vshn.io/" + labels[i].first + ": \"" + (i == missing ? "" : labels[i].second) +
                    "\", ";
      }
      const AncestorState state = of(claim(text));
      EXPECT_EQ(state.kind, Kind::Incomplete) << text;
      EXPECT_EQ(state.detail, "appcat.vshn.io/" + labels[missing].first) << text;
    }
  }
}

TEST_F(Ancestors, AnObjectWithoutLabelsIsJudgedByItsNamespace) {
  told.tell(composite("{}"));
  EXPECT_EQ(of(claim("")).kind, Kind::Protects);
  EXPECT_EQ(of(claim("app: web")).kind, Kind::Protects);
  told.tell(space("appcat.vshn.io/ownerkind: XVSHNPostgreSQL"));
  EXPECT_EQ(of(claim("")).kind, Kind::Incomplete);
  told.tell(space("app: web"));
  EXPECT_EQ(of(claim("")).kind, Kind::NotManaged);
  told.remove({{"", "namespaces"}, "", "inst"}, "u-inst");
  EXPECT_EQ(of(claim("")).kind, Kind::NotManaged) << "there is no such namespace";
}

TEST_F(Ancestors, ANamespaceIsJudgedByItsOwnLabelsAlone) {
  told.tell(composite("{}"));
  EXPECT_EQ(of(space(kOwnerLabels)).kind, Kind::Protects);
  EXPECT_EQ(of(space("app: web")).kind, Kind::NotManaged);
}

TEST_F(Ancestors, AKindThatNobodyServesOrThatIsNamespacedIsUnknown) {
  const auto labelled = [](const std::string& kind, const std::string& group) {
    return claim("appcat.vshn.io/ownercomposite: pg, appcat.vshn.io/ownerkind: " + kind +
                 ", appcat.vshn.io/ownergroup: " + group + ", appcat.vshn.io/ownerapiversion: v1");
  };
  EXPECT_EQ(of(labelled("XNothing", "vshn.appcat.vshn.io")).kind, Kind::Unknown);
  EXPECT_THAT(of(labelled("XNothing", "vshn.appcat.vshn.io")).detail, HasSubstr("no kind XNothing"));
  EXPECT_EQ(of(labelled("Team", "example.com")).kind, Kind::Unknown);
  EXPECT_THAT(of(labelled("Team", "example.com")).detail, HasSubstr("not cluster-scoped"));
}

TEST_F(Ancestors, WhatIsNotKnownWellEnoughIsNeverAnAbsence) {
  told.tell(composite("{parameters: {backup: {deletionProtection: false}}}"));
  told.doubt(kComposites, "forbidden");
  EXPECT_EQ(of(claim(kOwnerLabels)).kind, Kind::Unknown);
  EXPECT_THAT(of(claim(kOwnerLabels)).detail, HasSubstr("forbidden"));
  told.doubt({"", "namespaces"}, "broken");
  EXPECT_EQ(of(claim("")).kind, Kind::Unknown);
}

constexpr const char* kByCompositeElsewhere = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - ancestor:
      groupLabel: appcat.vshn.io/ownergroup
      versionLabel: appcat.vshn.io/ownerapiversion
      kindLabel: appcat.vshn.io/ownerkind
      nameLabel: appcat.vshn.io/ownercomposite
      cluster: control-plane
      field: {path: spec.parameters.backup.deletionProtection, whenAbsent: Protected}
)";

class AncestorsElsewhere : public Ancestors {
 public:
  AncestorsElsewhere() {
    told.index.setPolicies({elsewhere});
    told.tell(space(kOwnerLabels));
    told.knowAll();
  }
  AncestorState on(const std::string& yaml) {
    const AskedAbout asked(testing::object(yaml, told.types));
    return told.index.ancestor(*elsewhere.when[0].ancestor, asked.request);
  }

  const DeletionPolicy elsewhere = policyOf(kByCompositeElsewhere, "appcat");
};

TEST_F(AncestorsElsewhere, ItsTypeIsWantedThereAndTheNamespaceHere) {
  std::vector<std::string> wanted;
  for (const WantedType& type : told.index.wanted())
    wanted.push_back(toString(ClusterType(type.cluster, type.type)));
  EXPECT_THAT(wanted,
              ElementsAre("namespaces", "xvshnpostgresqls.vshn.appcat.vshn.io on cluster control-plane"));
}

TEST_F(AncestorsElsewhere, TheCompositeThereDecides) {
  told.tell(composite("{}"));
  EXPECT_EQ(on(claim(kOwnerLabels)).kind, Kind::Gone) << "one of that name here does not count";
  told.tellOn("control-plane", composite("{}"));
  for (const std::string& object : {claim(kOwnerLabels), claim(""), space(kOwnerLabels)}) {
    EXPECT_EQ(on(object).kind, Kind::Protects);
    EXPECT_EQ(on(object).detail, "xvshnpostgresqls.vshn.appcat.vshn.io/pg on cluster control-plane");
  }
  told.tellOn("control-plane", composite("{parameters: {backup: {deletionProtection: false}}}"));
  EXPECT_EQ(on(claim(kOwnerLabels)).kind, Kind::Frees);
  told.index.remove({kComposites, "", "pg"}, "u-pg", *told.generationOf(kComposites, "control-plane"),
                    "control-plane");
  EXPECT_EQ(on(claim(kOwnerLabels)).kind, Kind::Gone);
}

TEST_F(AncestorsElsewhere, WhatCannotBeReadThereProtects) {
  told.tellOn("control-plane", composite("{parameters: {backup: {deletionProtection: false}}}"));
  told.doubt(kComposites, "what is known of them is too old", "control-plane");
  EXPECT_EQ(on(claim(kOwnerLabels)).kind, Kind::Unknown);
  EXPECT_THAT(on(claim(kOwnerLabels)).detail,
              HasSubstr("on cluster control-plane: what is known of them is too old"));
  told.unreachable["control-plane"] = "cluster control-plane cannot be read: refused";
  EXPECT_EQ(on(claim(kOwnerLabels)).kind, Kind::Unknown);
  EXPECT_EQ(on(claim(kOwnerLabels)).detail, "cluster control-plane cannot be read: refused");
}

TEST_F(Ancestors, KindsThatNobodyServesDoNotKeepOthersFromBeingFollowed) {
  const auto nameIn = [&](const std::string& namespaceName, const std::string& kind) {
    told.tell("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespaceName + ", uid: u-" +
              namespaceName + ", labels: {appcat.vshn.io/ownerkind: " + kind +
              ", appcat.vshn.io/ownergroup: example.com}}\n");
  };
  for (size_t i = 0; i < kMostAncestorTypes; ++i)
    nameIn("n" + std::to_string(i), "Bogus" + std::to_string(i));
  testing::objects(definitionText("example.com", "gizmos", "Gizmo", false), told.types);
  nameIn("real", "Gizmo");
  EXPECT_TRUE(told.generationOf({"example.com", "gizmos"}));
}

TEST_F(Ancestors, ATypeThatNoNamespaceNamesIsFollowedWhenItIsAskedFor) {
  const std::string gizmo = definitionText("example.com", "gizmos", "Gizmo", false);
  testing::objects(gizmo, told.types);
  const std::string owned = claim(
      "appcat.vshn.io/ownercomposite: g, appcat.vshn.io/ownerkind: Gizmo, "
      "appcat.vshn.io/ownergroup: example.com, appcat.vshn.io/ownerapiversion: v1");
  EXPECT_THAT(of(owned).detail, HasSubstr("gizmos.example.com is not followed"));
  told.index.wantAncestors(kube::GroupResource{"example.com", "gizmos"});
  EXPECT_THAT(of(owned).detail, HasSubstr("has not been read yet"));
  told.knowAll();
  EXPECT_EQ(of(owned).kind, Kind::Gone);
}

}  // namespace
}  // namespace lastout::protection
