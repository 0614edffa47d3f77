// The profiles: each parses, and blocks and lets go as the document of its system says.
#include "protection/profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "kube/well_known.h"
#include "protection/implied.h"
#include "tests/protection/policies.h"
#include "tests/protection/requests.h"
#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

std::vector<DeletionPolicy> profile(std::string_view name) {
  auto policies = parseProfile(name);
  if (!policies) testing::stop("no profile: " + testing::lines(policies.error()));
  return std::move(*policies);
}

// The first denial of the profile's policies; nullopt: none denies.
std::optional<Denial> verdict(std::string_view name, const Asked& asked, const Facts& facts = ToldFacts()) {
  for (const DeletionPolicy& policy : profile(name)) {
    if (auto denial = judge(policy, asked.request, facts)) return denial;
  }
  return std::nullopt;
}

bool isDenied(std::string_view name, const Asked& asked, const Facts& facts = ToldFacts()) {
  return verdict(name, asked, facts).has_value();
}

std::string objectOf(std::string_view apiVersion, std::string_view kind, std::string_view labels,
                     std::string_view rest = "") {
  return "apiVersion: " + std::string(apiVersion) + "\nkind: " + std::string(kind) +
         "\nmetadata: {name: my-app, labels: {" + std::string(labels) + "}}\n" + std::string(rest);
}

// A custom resource, which no built-in type stands for.
void makeApp(Asked& asked) {
  asked.request.object.type = {"security.orkestra.io", "apps"};
  asked.request.kind = "App";
}

TEST(Profiles, EachParsesAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const Profile& one : profiles()) {
    names.emplace(one.name);
    const auto policies = parsePolicies(one.text, one.file);
    ASSERT_TRUE(policies) << testing::lines(policies.error());
    EXPECT_FALSE(policies->empty()) << one.name;
    EXPECT_GT(one.summary.size(), 20U) << one.name;
    for (const DeletionPolicy& policy : *policies)
      EXPECT_THAT(policy.meta.name, HasSubstr(std::string(one.name))) << one.name;
  }
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("protection/profiles"))
    files.insert(entry.path().stem().string());
  EXPECT_EQ(names, files) << "protection/CMakeLists.txt lists them";
  EXPECT_THAT(names,
              IsSupersetOf({"appcat", "dbops", "karmada", "karmada-objects", "kruise", "orkestra", "usage"}));
}

TEST(Profiles, AnUnknownNameGetsTheNearestOne) {
  EXPECT_THAT(findProfile("karmda").error().message, HasSubstr("did you mean \"karmada\"?"));
  EXPECT_THAT(parseProfile("zzzzzz").error().front().message, HasSubstr("there are appcat, "));
}

// No two profiles may fight over a name: they can all be applied at once.
TEST(Profiles, TheirPoliciesHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Profile& one : profiles()) {
    for (const DeletionPolicy& policy : profile(one.name))
      EXPECT_TRUE(names.insert(policy.meta.name).second) << policy.meta.name;
  }
}

// --- karmada ---

constexpr const char* kKarmadaKey = "resourcetemplate.karmada.io/deletion-protected";

TEST(KarmadaProfile, AlwaysProtectsObjectsOfAnyType) {
  for (const auto& [apiVersion, kind] : {std::pair{"v1", "Namespace"},
                                         {"apps/v1", "Deployment"},
                                         {"apps/v1", "StatefulSet"},
                                         {"v1", "Service"}}) {
    const Asked asked(objectOf(apiVersion, kind, std::string(kKarmadaKey) + ": Always"));
    const auto denial = verdict("karmada", asked);
    ASSERT_TRUE(denial) << kind;
    EXPECT_THAT(denial->message, AllOf(HasSubstr("is protected"), HasSubstr(kKarmadaKey), HasSubstr("my-app"),
                                       HasSubstr(kind)));
    EXPECT_EQ(denial->code, 403);
  }
  Asked custom(objectOf("v1", "ConfigMap", std::string(kKarmadaKey) + ": Always"));
  makeApp(custom);
  EXPECT_TRUE(isDenied("karmada", custom));
}

TEST(KarmadaProfile, NoOtherValueProtects) {
  for (const char* value : {"\"\"", "always", "ALWAYS", "\"true\"", "Never", "Always1"})
    EXPECT_FALSE(
        isDenied("karmada", Asked(objectOf("v1", "Service", std::string(kKarmadaKey) + ": " + value))))
        << value;
  EXPECT_FALSE(isDenied("karmada", Asked(objectOf("v1", "Service", ""))));
}

TEST(KarmadaProfile, TheLabelMayBeTakenAwayOrChanged) {
  const std::string labelled = objectOf("v1", "Service", std::string(kKarmadaKey) + ": Always");
  EXPECT_FALSE(isDenied("karmada", Asked(labelled, objectOf("v1", "Service", ""))));
  EXPECT_FALSE(
      isDenied("karmada", Asked(labelled, objectOf("v1", "Service", std::string(kKarmadaKey) + ": \"\""))));
}

TEST(KarmadaProfile, ItsNamespaceRuleIsASwitch) {
  std::string text(findProfile("karmada")->text);
  const size_t at = text.find("\n  namespaces: Ignore\n");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 21, "\n  namespaces: Imply\n");
  EXPECT_EQ(parsePolicies(text, "")->front().namespaces, Implication::Imply);
}

// Karmada, OpenKruise, Orkestra and AppCat let a namespace go that has not the label itself; it waits for
// what has.
TEST(Profiles, ThoseThatGoByALabelLetANamespaceGoAndWait) {
  for (const char* name : {"appcat", "karmada", "kruise", "orkestra"}) {
    for (const DeletionPolicy& policy : profile(name))
      EXPECT_FALSE(implies(policy, kube::kNamespaces)) << policy.meta.name;
  }
  for (const char* name : {"karmada-objects", "usage"})
    EXPECT_TRUE(implies(profile(name).front(), kube::kNamespaces)) << name;
}

TEST(KarmadaObjectsProfile, ReadsTheFieldsOfResourceDeletionProtection) {
  const DeletionPolicy policy = profile("karmada-objects").front();
  ASSERT_TRUE(policy.listedBy);
  EXPECT_EQ(toString(policy.listedBy->type), "resourcedeletionprotections.policy.karmada.io");
  EXPECT_EQ(toString(policy.listedBy->entries), "spec.protectedResources");
  EXPECT_EQ(toString(policy.listedBy->selectors), "resourceSelector");
  EXPECT_EQ(toString(*policy.listedBy->names), "resourceNames");
  ToldFacts facts;
  const Asked asked(objectOf("apps/v1", "Deployment", ""));
  EXPECT_FALSE(isDenied("karmada-objects", asked, facts));
  facts.listersTold = {1,           "resourcedeletionprotections.policy.karmada.io/sample", "sample", "", "",
                       std::nullopt};
  EXPECT_THAT(verdict("karmada-objects", asked, facts)->message, HasSubstr("/sample lists it"));
}

// --- orkestra ---

constexpr const char* kStrictProtected = "orkestra.io/deletion-protection: \"true\"";
constexpr const char* kStrictExempt = "orkestra.io/strict-mode-exempt: \"true\"";

TEST(OrkestraProfile, TheLabelProtectsByItsPresence) {
  Asked app(objectOf("v1", "ConfigMap", kStrictProtected));
  makeApp(app);
  EXPECT_THAT(verdict("orkestra", app)->message,
              StartsWith("[App \"my-app\"] deletion is blocked by Orkestra deletion protection.\n"));
  for (const char* value : {"\"false\"", "\"\"", "anything"})
    EXPECT_TRUE(
        isDenied("orkestra",
                 Asked(objectOf("v1", "Secret", "orkestra.io/deletion-protection: " + std::string(value)))))
        << value;
  EXPECT_FALSE(isDenied("orkestra", Asked(objectOf("v1", "Secret", ""))));
}

TEST(OrkestraProfile, ADenialOfADeletionSaysHowToUnprotect) {
  EXPECT_THAT(verdict("orkestra", Asked(objectOf("apps/v1", "Deployment", kStrictProtected)))->message,
              AllOf(HasSubstr("in namespace \"default\""), HasSubstr("To unprotect this resource:"),
                    HasSubstr("kubectl label deployments.apps my-app orkestra.io/deletion-protection-")));
}

// What Orkestra installs carries the label, too.
TEST(OrkestraProfile, ItsOwnObjectsAreProtectedByTheSameLabel) {
  for (const auto& [apiVersion, kind] :
       {std::pair{"apps/v1", "Deployment"},
        {"v1", "Service"},
        {"v1", "ServiceAccount"},
        {"v1", "Secret"},
        {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
        {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"}})
    EXPECT_TRUE(isDenied("orkestra", Asked(objectOf(apiVersion, kind, kStrictProtected)))) << kind;
}

TEST(OrkestraProfile, StrictModeKeepsTheLabel) {
  Asked app(objectOf("v1", "ConfigMap", kStrictProtected), objectOf("v1", "ConfigMap", ""));
  makeApp(app);
  EXPECT_EQ(verdict("orkestra", app)->message,
            "[Orkestra Security] The App \"my-app\" in namespace \"default\" carries the deletion-protection "
            "label.\nRemoving this label is blocked because strictMode is enabled.\n\n"
            "To unprotect this resource:\n"
            "- Opt out in the katalog using: '<crd>.deletionProtection.strictMode: false'");
  EXPECT_TRUE(
      isDenied("orkestra", Asked(objectOf("v1", "Secret", kStrictProtected),
                                 objectOf("v1", "Secret", "orkestra.io/deletion-protection: \"no\""))))
      << "a changed value counts as removed";
  EXPECT_FALSE(
      isDenied("orkestra", Asked(objectOf("v1", "Secret", kStrictProtected),
                                 objectOf("v1", "Secret", std::string(kStrictProtected) + ", a: b"))));
}

TEST(OrkestraProfile, AnExemptionOfTheNewObjectLetsTheLabelGo) {
  const std::string both = std::string(kStrictProtected) + ", " + kStrictExempt;
  const auto update = [](std::string_view before, std::string_view after) {
    return isDenied("orkestra", Asked(objectOf("v1", "Secret", before), objectOf("v1", "Secret", after)));
  };
  EXPECT_FALSE(update(both, kStrictExempt));
  EXPECT_FALSE(update(kStrictProtected, kStrictExempt)) << "in the same UPDATE";
  EXPECT_FALSE(update(kStrictExempt, "")) << "the second phase of a removal";
  EXPECT_TRUE(update(both, "")) << "the old object does not count";
  EXPECT_TRUE(update(kStrictProtected, "orkestra.io/strict-mode-exempt: \"yes\""));
  EXPECT_TRUE(isDenied("orkestra", Asked(objectOf("v1", "Secret", both)))) << "a DELETE has no exemption";
}

TEST(OrkestraProfile, StrictModeIsAPolicyOfItsOwn) {
  const std::vector<DeletionPolicy> policies = profile("orkestra");
  ASSERT_EQ(policies.size(), 2U);
  EXPECT_EQ(policies[0].webhookName, "delete-protection.orkestra.orkspace.io");
  EXPECT_EQ(policies[1].webhookName, "strict-mode.orkestra.orkspace.io");
  const Asked removal(objectOf("v1", "Secret", kStrictProtected), objectOf("v1", "Secret", ""));
  EXPECT_FALSE(judge(policies[0], removal.request, ToldFacts())) << "without strict mode it may be removed";
  EXPECT_TRUE(judge(policies[1], removal.request, ToldFacts()));
}

// --- appcat ---

TEST(AppcatProfile, TheTopmostCompositeDecides) {
  using Kind = AncestorState::Kind;
  ToldFacts facts;
  const Asked bucket(objectOf("v1", "Namespace", "appcat.vshn.io/ownercomposite: pg"));
  const auto denied = [&](Kind kind, std::string detail = "xvshnpostgresqls.vshn.appcat.vshn.io/pg") {
    facts.ancestorState = {kind, std::move(detail)};
    return verdict("appcat", bucket, facts);
  };
  EXPECT_THAT(denied(Kind::Protects)->message,
              AllOf(HasSubstr("part of a service"), HasSubstr("xvshnpostgresqls.vshn.appcat.vshn.io/pg"),
                    HasSubstr("appcat.vshn.io/webhook-allowdeletion: \"true\"")));
  EXPECT_THAT(denied(Kind::Incomplete, "appcat.vshn.io/ownergroup")->message,
              HasSubstr("its label appcat.vshn.io/ownergroup is missing or empty"));
  EXPECT_TRUE(denied(Kind::Unknown, "nobody answers"));
  EXPECT_FALSE(denied(Kind::Gone));
  EXPECT_FALSE(denied(Kind::Frees));
  EXPECT_FALSE(denied(Kind::NotManaged));
}

TEST(AppcatProfile, ItNamesTheLabelsAndTheField) {
  for (const DeletionPolicy& policy : profile("appcat")) {
    ASSERT_TRUE(policy.when.front().ancestor);
    const AncestorTest& test = *policy.when.front().ancestor;
    EXPECT_EQ(test.groupLabel, "appcat.vshn.io/ownergroup");
    EXPECT_EQ(test.versionLabel, "appcat.vshn.io/ownerapiversion");
    EXPECT_EQ(test.kindLabel, "appcat.vshn.io/ownerkind");
    EXPECT_EQ(test.nameLabel, "appcat.vshn.io/ownercomposite");
    EXPECT_EQ(toString(test.field), "spec.parameters.backup.deletionProtection: true");
    const auto says = [&test](std::string_view spec) {
      return test.field.holds(testing::object(objectOf("v1", "ConfigMap", "", spec)).content);
    };
    EXPECT_TRUE(says("spec: {parameters: {backup: {deletionProtection: true}}}"));
    EXPECT_FALSE(says("spec: {parameters: {backup: {deletionProtection: false}}}"));
    EXPECT_TRUE(says("spec: {parameters: {}}")) << "absent means protected";
  }
}

TEST(AppcatProfile, OnlyClaimsAreJudgedByTheirNamespace) {
  const std::vector<DeletionPolicy> policies = profile("appcat");
  ASSERT_EQ(policies.size(), 2U);
  EXPECT_FALSE(policies[0].when.front().ancestor->orOfNamespace);
  EXPECT_TRUE(policies[1].when.front().ancestor->orOfNamespace);
  EXPECT_FALSE(concerns(policies[1], {{"", "configmaps"}, "n", "a"}, {}));
  EXPECT_TRUE(concerns(policies[1], {{"", "persistentvolumeclaims"}, "n", "a"}, {}));
}

TEST(AppcatProfile, TheOverrideFreesWithTrueAlone) {
  ToldFacts facts;
  for (const AncestorState::Kind kind :
       {AncestorState::Kind::Protects, AncestorState::Kind::Incomplete, AncestorState::Kind::Unknown}) {
    facts.ancestorState = {kind, "x"};
    const auto denied = [&](const char* value) {
      return isDenied("appcat",
                      Asked(objectOf("v1", "PersistentVolumeClaim",
                                     "appcat.vshn.io/webhook-allowdeletion: " + std::string(value))),
                      facts);
    };
    EXPECT_FALSE(denied("\"true\""));
    for (const char* other : {"\"True\"", "\"yes\"", "\"false\"", "\"\"", "\"1\""})
      EXPECT_TRUE(denied(other)) << other;
  }
}

// --- kruise ---

std::string kruiseLabel(std::string_view value) {
  return "policy.kruise.io/delete-protection: " + std::string(value);
}

TEST(KruiseProfile, AlwaysProtectsItsKinds) {
  const std::string labelled = objectOf("v1", "Namespace", kruiseLabel("Always"));
  std::string terminating = labelled;
  terminating.replace(terminating.find("name: my-app"), 12,
                      "name: my-app, deletionTimestamp: \"2026-01-01T00:00:00Z\"");
  for (const kube::GroupResource& type :
       std::vector<kube::GroupResource>{{"", "namespaces"},
                                        kube::kCustomResourceDefinitions,
                                        {"apps", "deployments"},
                                        {"apps", "replicasets"},
                                        {"apps", "statefulsets"},
                                        {"apps.kruise.io", "clonesets"},
                                        {"apps.kruise.io", "statefulsets"},
                                        {"apps.kruise.io", "uniteddeployments"},
                                        {"", "services"},
                                        {"networking.k8s.io", "ingresses"}}) {
    Asked asked(labelled);
    Asked dying(terminating);
    asked.request.object.type = dying.request.object.type = type;
    EXPECT_TRUE(isDenied("kruise", asked)) << toString(type);
    EXPECT_FALSE(isDenied("kruise", dying)) << toString(type) << " that is being deleted";
  }
  EXPECT_FALSE(isDenied("kruise", Asked(objectOf("v1", "ConfigMap", kruiseLabel("Always")))));
}

// Not even while something is in use.
TEST(KruiseProfile, ServicesAndIngressesAreProtectedByNoOtherValue) {
  ToldFacts facts;
  for (const Activity one : {Activity::Pods, Activity::BoundClaims, Activity::Instances})
    facts.activities[one] = {1, "x", std::nullopt};
  for (const kube::GroupResource& type :
       std::vector<kube::GroupResource>{{"", "services"}, {"networking.k8s.io", "ingresses"}}) {
    for (const char* value : {"Cascading", "always", "Never"}) {
      Asked asked(objectOf("v1", "Namespace", kruiseLabel(value), "spec: {replicas: 2}\n"));
      asked.request.object.type = type;
      EXPECT_FALSE(isDenied("kruise", asked, facts)) << toString(type) << " " << value;
    }
  }
}

TEST(KruiseProfile, TheLabelMayBeTakenAway) {
  for (const DeletionPolicy& policy : profile("kruise")) EXPECT_FALSE(policy.blocksAny(Block::Unprotect));
  Asked asked(objectOf("v1", "Namespace", kruiseLabel("Always")));
  const kube::ObjectMeta unlabelled;
  asked.request.operation = PolicyOperation::Update;
  asked.request.newMeta = &unlabelled;
  EXPECT_FALSE(isDenied("kruise", asked));
}

TEST(KruiseProfile, CascadingProtectsANamespaceInUse) {
  ToldFacts facts;
  const Asked labelled(objectOf("v1", "Namespace", kruiseLabel("Cascading")));
  EXPECT_FALSE(isDenied("kruise", labelled, facts));
  facts.activities[Activity::Pods] = {2, "web-1", std::nullopt};
  EXPECT_THAT(
      verdict("kruise", labelled, facts)->message,
      AllOf(HasSubstr("label policy.kruise.io/delete-protection is Cascading"), HasSubstr("2 active Pods")));
  EXPECT_EQ(verdict("kruise", labelled, facts)->code, 403);
  EXPECT_FALSE(isDenied("kruise", Asked(objectOf("v1", "Namespace", "")), facts));
  facts.activities = {{Activity::BoundClaims, {1, "data", std::nullopt}}};
  EXPECT_THAT(verdict("kruise", labelled, facts)->message, HasSubstr("1 bound PersistentVolumeClaim in it"));
  facts.activities = {{Activity::BoundClaims, {0, "", "forbidden"}}};
  EXPECT_TRUE(isDenied("kruise", labelled, facts)) << "what cannot be counted protects";
  facts.activities = {{Activity::Instances, {1, "x", std::nullopt}}};
  EXPECT_FALSE(isDenied("kruise", labelled, facts));
}

TEST(KruiseProfile, CascadingProtectsACrdWithInstances) {
  ToldFacts facts;
  Asked crd(objectOf("v1", "Namespace", kruiseLabel("Cascading")));
  crd.request.object.type = kube::kCustomResourceDefinitions;
  EXPECT_FALSE(isDenied("kruise", crd, facts));
  facts.activities[Activity::Instances] = {1, "app/a", std::nullopt};
  EXPECT_THAT(verdict("kruise", crd, facts)->message, HasSubstr("1 instance of it"));
}

TEST(KruiseProfile, CascadingProtectsAWorkloadWithReplicas) {
  for (const kube::GroupResource& type :
       std::vector<kube::GroupResource>{{"apps", "deployments"},
                                        {"apps", "replicasets"},
                                        {"apps", "statefulsets"},
                                        {"apps.kruise.io", "clonesets"},
                                        {"apps.kruise.io", "statefulsets"},
                                        {"apps.kruise.io", "uniteddeployments"}}) {
    Asked two(objectOf("apps/v1", "Deployment", kruiseLabel("Cascading"), "spec: {replicas: 2}\n"));
    Asked none(objectOf("apps/v1", "Deployment", kruiseLabel("Cascading"), "spec: {replicas: 0}\n"));
    two.request.object.type = none.request.object.type = type;
    EXPECT_FALSE(isDenied("kruise", none)) << toString(type);
    EXPECT_TRUE(isDenied("kruise", two)) << toString(type);
  }
}

// --- usage ---

TEST(UsageProfile, WhatAUsageNamesIsInUse) {
  ToldFacts facts;
  const Asked asked(objectOf("apps/v1", "Deployment", ""));
  EXPECT_FALSE(isDenied("usage", asked, facts));
  facts.listersTold = {2, "usages/default/db", "db", "default", "by resource App/web", std::nullopt};
  const auto denial = verdict("usage", asked, facts);
  EXPECT_EQ(denial->message,
            "This resource is in-use by 2 usage(s), including the *v1beta1.Usage \"db\" (in namespace "
            "\"default\") by resource App/web.");
  EXPECT_EQ(denial->code, 409);
  facts.listersTold.because.clear();
  EXPECT_THAT(verdict("usage", asked, facts)->message, EndsWith("\"db\" (in namespace \"default\")."));
  facts.listersTold.unknown = "they have not been read yet";
  EXPECT_THAT(verdict("usage", asked, facts)->message, HasSubstr("they have not been read yet"));
}

// Crossplane's controller, which would write the reference, does not run.
TEST(UsageProfile, OfByWithASelectorTheKindIsSaid) {
  ToldIndex told(definitionText("protection.crossplane.io", "usages", "Usage", true) +
                 definitionText("protection.crossplane.io", "clusterusages", "ClusterUsage", false));
  const std::vector<DeletionPolicy> policies = profile("usage");
  told.index.setPolicies(policies);
  told.knowAll();
  const std::pair<std::string, std::string> cases[] = {
      {"by: {kind: App, resourceSelector: {matchLabels: {a: b}}}, reason: r",
       "by resources of kind App that its selector selects"},
      {"by: {kind: App, resourceSelector: {matchLabels: {a: b}}, resourceRef: {name: web}}",
       "by resource App/web"},
      {"reason: r", "with reason: \"r\""}};
  for (const auto& [by, because] : cases) {
    told.tell(
        "apiVersion: protection.crossplane.io/v1\nkind: Usage\nmetadata: {name: u, namespace: default, uid: "
        "u}\n"
        "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}, " +
        by +
        "}\n---\napiVersion: protection.crossplane.io/v1\nkind: ClusterUsage\nmetadata: {name: u, uid: c}\n"
        "spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: db}}, " +
        by + "}\n");
    const AskedAbout db(
        testing::object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n", told.types));
    for (const DeletionPolicy& policy : policies)
      EXPECT_EQ(told.index.listers(*policy.listedBy, db.request).because, because) << policy.meta.name;
  }
}

TEST(UsageProfile, AClusterUsageIsNamedWithoutANamespace) {
  ToldFacts facts;
  facts.listersTold = {1, "clusterusages/fn", "fn", "", "with reason: \"all functions\"", std::nullopt};
  const Asked asked(objectOf("v1", "Namespace", ""));
  const auto denial = judge(profile("usage").at(1), asked.request, facts);
  EXPECT_EQ(denial->message,
            "This resource is in-use by 1 usage(s), including the *v1beta1.ClusterUsage \"fn\" with reason: "
            "\"all functions\".");
  EXPECT_EQ(denial->code, 409);
}

TEST(UsageProfile, BothTypesOfUsageCount) {
  const std::vector<DeletionPolicy> policies = profile("usage");
  ASSERT_EQ(policies.size(), 2U);
  EXPECT_EQ(toString(policies[0].listedBy->type), "usages.protection.crossplane.io");
  EXPECT_EQ(policies[0].listedBy->in, ListedIn::OwnUnlessNamed);
  EXPECT_EQ(toString(*policies[0].listedBy->namespaceName), "resourceRef.namespace");
  EXPECT_EQ(toString(*policies[0].listedBy->matchNamespace), "resourceSelector.namespace");
  EXPECT_EQ(toString(policies[1].listedBy->type), "clusterusages.protection.crossplane.io");
  EXPECT_EQ(policies[1].listedBy->in, ListedIn::AnyNamespace);
  for (const DeletionPolicy& policy : policies) {
    EXPECT_EQ(toString(policy.listedBy->selectors), "spec.of");
    EXPECT_EQ(toString(*policy.listedBy->name), "resourceRef.name");
    EXPECT_EQ(toString(*policy.listedBy->matchLabels), "resourceSelector.matchLabels");
    EXPECT_EQ(toString(*policy.listedBy->matchController), "resourceSelector.matchControllerRef");
    EXPECT_EQ(toString(*policy.listedBy->replay), "spec.replayDeletion");
    EXPECT_EQ(policy.webhookName, "nousages.protection.crossplane.io");
  }
}

}  // namespace
}  // namespace lastout::protection
