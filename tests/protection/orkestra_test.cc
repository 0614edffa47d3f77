// Orkestra's settings: defaults, inheritance, the four combinations, and the policies that they become.
#include "protection/orkestra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kube/parse.h"
#include "kube/well_known.h"
#include "kube/yaml_text.h"
#include "protection/cel.h"
#include "tests/protection/policies.h"
#include "tests/protection/requests.h"

namespace lastout::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

tl::expected<OrkestraSettings, kube::Errors> parsed(const std::string& yaml) {
  const auto documents = kube::parseYaml(yaml, "katalog.yaml");
  if (!documents) testing::stop("no YAML: " + kube::toString(documents.error()));
  return parseOrkestra(documents->front(), "katalog.yaml");
}

OrkestraSettings settingsOf(const std::string& yaml) {
  auto settings = parsed(yaml);
  if (!settings) testing::stop("no settings: " + testing::lines(settings.error()));
  return std::move(*settings);
}

std::string mistakesIn(const std::string& yaml) {
  const auto settings = parsed(yaml);
  return settings ? "" : testing::lines(settings.error());
}

// A katalog with one CRD, whose deletionProtection this is.
std::string katalog(const std::string& security, const std::string& crd) {
  return "security:\n  deletionProtection: " + security +
         "\nspec:\n  crds:\n    app:\n      apiTypes: {group: security.orkestra.io, version: v1, kind: App, "
         "plural: "
         "apps}\n      deletionProtection: " +
         crd + "\n";
}

std::vector<DeletionPolicy> policies(const OrkestraSettings& settings) {
  std::vector<DeletionPolicy> all;
  for (const auto& manifest : policiesOf(settings)) {
    auto read = parsePolicies(kube::toYaml(manifest), "");
    if (!read) testing::stop("no policy: " + testing::lines(read.error()));
    all.push_back(std::move(read->front()));
  }
  return all;
}

std::vector<std::string> names(const std::vector<DeletionPolicy>& policies) {
  std::vector<std::string> all;
  all.reserve(policies.size());
  for (const DeletionPolicy& policy : policies) all.push_back(policy.meta.name);
  return all;
}

bool denies(const std::vector<DeletionPolicy>& policies, const Asked& asked) {
  return std::any_of(policies.begin(), policies.end(), [&](const DeletionPolicy& policy) {
    return judge(policy, asked.request, ToldFacts()).has_value();
  });
}

TEST(Orkestra, DefaultsAreTheDocuments) {
  const OrkestraSettings settings = settingsOf(katalog("{}", "{}"));
  EXPECT_TRUE(settings.isEnabled);
  EXPECT_FALSE(settings.isStrict);
  EXPECT_TRUE(settings.failsClosed);
  EXPECT_FALSE(settings.cleansUpOnShutdown);
  ASSERT_EQ(settings.crds.size(), 1U);
  EXPECT_TRUE(settings.crds[0].protectsCrd);
  EXPECT_TRUE(settings.crds[0].protectsInstances);
  EXPECT_FALSE(settings.crds[0].isStrict);
}

TEST(Orkestra, WithoutTheBlockNothingIsProtected) {
  EXPECT_FALSE(settingsOf("spec: {crds: {app: {}}}\n").isEnabled);
  EXPECT_FALSE(settingsOf("security: {}\nspec: {crds: {app: {}}}\n").isEnabled);
  EXPECT_THAT(policies(settingsOf(katalog("{enabled: false, strictMode: true}", "{}"))), IsEmpty());
}

TEST(Orkestra, StrictModeIsInheritedAndTheGlobalSwitchCountsFirst) {
  const auto isStrict = [](const char* global, const char* own) {
    return settingsOf(katalog(std::string("{strictMode: ") + global + "}", own)).crds[0].isStrict;
  };
  EXPECT_TRUE(isStrict("true", "{}"));
  EXPECT_TRUE(isStrict("true", "{strictMode: true}"));
  EXPECT_FALSE(isStrict("true", "{strictMode: false}"));
  EXPECT_FALSE(isStrict("false", "{}"));
  EXPECT_FALSE(isStrict("false", "{strictMode: true}"));
}

TEST(Orkestra, EachCombinationHasItsPosture) {
  const auto posture = [](const char* crd, const char* global = "{strictMode: true}") {
    const OrkestraSettings settings = settingsOf(katalog(global, crd));
    return postureOf(settings, settings.crds[0]);
  };
  EXPECT_EQ(posture("{}"), "fully protected");
  EXPECT_EQ(posture("{strictMode: false}"), "protected, strict mode exempt");
  EXPECT_EQ(posture("{protectCRs: false}"), "unprotected instances, protected CRD");
  EXPECT_THAT(posture("{protectCRD: false}"), AllOf(HasSubstr("fully protected"), HasSubstr("warning")));
  EXPECT_EQ(posture("{protectCRD: false, protectCRs: false}"), "unprotected");
  EXPECT_EQ(posture("{}", "{}"), "protected, without strict mode");
  EXPECT_EQ(posture("{}", "{enabled: false}"), "unprotected");
}

TEST(Orkestra, TheInconsistentCombinationIsAWarningThatIsHonoured) {
  const OrkestraSettings settings = settingsOf(katalog("{}", "{protectCRD: false, protectCRs: true}"));
  EXPECT_THAT(
      testing::lines(warningsOf(settings, "katalog.yaml")),
      AllOf(HasSubstr("katalog.yaml:5:"), HasSubstr("spec.crds.app"), HasSubstr("protectCRD: false")));
  const std::vector<DeletionPolicy> all = policies(settings);
  ASSERT_THAT(names(all), ElementsAre("orkestra-delete-protection", "orkestra-protected-open-crd"));
  const kube::ObjectKey app{{"security.orkestra.io", "apps"}, "default", "a"};
  EXPECT_FALSE(concerns(all[0], app, {}));
  EXPECT_TRUE(concerns(all[1], app, {}));
  EXPECT_EQ(all[1].crds, Implication::Ignore) << "the CRD may go, with labelled instances, too";
  EXPECT_EQ(all[0].crds, Implication::Imply);
  for (const char* other : {"{}", "{protectCRs: false}", "{protectCRD: false, protectCRs: false}"})
    EXPECT_THAT(warningsOf(settingsOf(katalog("{}", other)), ""), IsEmpty()) << other;
}

TEST(Orkestra, AProtectedCrdNeedsNoLabel) {
  const std::vector<DeletionPolicy> all = policies(settingsOf(katalog("{}", "{protectCRs: false}")));
  ASSERT_THAT(names(all), ElementsAre("orkestra-delete-protection", "orkestra-unprotected", "orkestra-crds"));
  const auto asked = [](const char* name) {
    auto made = std::make_unique<Asked>("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
    made->request.object = {kube::kCustomResourceDefinitions, "", name};
    made->request.kind = "CustomResourceDefinition";
    return made;
  };
  EXPECT_TRUE(denies(all, *asked("apps.security.orkestra.io")));
  EXPECT_FALSE(denies(all, *asked("others.example.com"))) << "of another operator";
  EXPECT_THAT(
      messageFor(all[2], *asked("apps.security.orkestra.io")),
      HasSubstr("[CustomResourceDefinition \"apps.security.orkestra.io\"] deletion is blocked by Orkestra "
                "deletion protection."));
}

TEST(Orkestra, ALabelledInstanceStaysProtectedUntilItsLabelIsGone) {
  const std::vector<DeletionPolicy> all = policies(settingsOf(katalog("{}", "{protectCRs: false}")));
  const auto app = [](const char* labels) {
    auto made = std::make_unique<Asked>("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {" +
                                        std::string(labels) + "}}\n");
    made->request.object.type = {"security.orkestra.io", "apps"};
    return made;
  };
  EXPECT_TRUE(denies(all, *app("orkestra.io/deletion-protection: \"true\"")));
  EXPECT_FALSE(denies(all, *app("")));
}

// The table of the document, which labels the instances of a CRD have.
TEST(Orkestra, EachCombinationHasItsLabels) {
  const auto upkeep = [](const char* crd, const char* global = "{strictMode: true}") {
    const std::vector<DeletionPolicy> all = policies(settingsOf(katalog(global, crd)));
    for (const DeletionPolicy& policy : all) {
      if (policy.labels) return *policy.labels;
    }
    return LabelUpkeep();
  };
  const LabelUpkeep full = upkeep("{}");
  EXPECT_EQ(full.protection, (Label{"orkestra.io/deletion-protection", "true"}));
  EXPECT_EQ(full.exemption, (Label{"orkestra.io/strict-mode-exempt", "true"}));
  EXPECT_TRUE(full.isProtected);
  EXPECT_FALSE(full.isExempt);
  EXPECT_TRUE(upkeep("{strictMode: false}").isProtected);
  EXPECT_TRUE(upkeep("{strictMode: false}").isExempt);
  EXPECT_FALSE(upkeep("{protectCRs: false}").isProtected);
  EXPECT_FALSE(upkeep("{protectCRs: false}").isExempt);
  EXPECT_TRUE(upkeep("{protectCRD: false}").isProtected);
  EXPECT_FALSE(upkeep("{strictMode: false}", "{strictMode: false}").isExempt)
      << "where nothing is strict nobody needs to be exempt";
}

TEST(Orkestra, StrictModeIsAPolicyThatTheGlobalSwitchGives) {
  EXPECT_THAT(names(policies(settingsOf("security: {deletionProtection: {strictMode: true}}\n"))),
              ElementsAre("orkestra-delete-protection", "orkestra-strict-mode"));
  EXPECT_THAT(names(policies(settingsOf("security: {deletionProtection: {enabled: true}}\n"))),
              ElementsAre("orkestra-delete-protection"));
}

TEST(Orkestra, FailurePolicyIsHonoured) {
  for (const char* word : {"Ignore", "Fail"}) {
    const std::string settings = std::string("{failurePolicy: ") + word + ", strictMode: true}";
    for (const DeletionPolicy& policy : policies(settingsOf(katalog(settings, "{}")))) {
      EXPECT_EQ(policy.failsClosed, word == std::string("Fail")) << policy.meta.name;
      EXPECT_EQ(admissionPoliciesOf(policy).at(0)["spec"]["failurePolicy"], word) << policy.meta.name;
    }
  }
}

TEST(Orkestra, WhatIsMissingIsSaid) {
  const OrkestraSettings settings = settingsOf(
      "security: {deletionProtection: {}}\nspec:\n  crds:\n    app: {}\n    other:\n  "
      "    "
      "deletionProtection: {protectCRD: false, protectCRs: false}\n");
  const std::string warnings = testing::lines(warningsOf(settings, "k.yaml"));
  EXPECT_THAT(warnings,
              AllOf(HasSubstr("spec.crds.app does not say its type"),
                    HasSubstr("apiTypes.group and apiTypes.plural"), HasSubstr("--crd app=PLURAL.GROUP"),
                    HasSubstr("protectCRs: false and protectCRD: false cannot be honoured")));
}

// None of what it says can be done: nobody knows which objects are meant.
TEST(Orkestra, WithoutATypeThePostureIsTheOneInForce) {
  const auto of = [](const std::string& global, const std::string& crd) {
    return settingsOf("security: {deletionProtection: " + global +
                      "}\nspec: {crds: {gizmo: {apiTypes: {group: a.b}, deletionProtection: " + crd +
                      "}}}\n");
  };
  for (const char* crd : {"{}", "{strictMode: false}", "{protectCRs: false}", "{protectCRD: false}"}) {
    const OrkestraSettings strict = of("{strictMode: true}", crd);
    EXPECT_EQ(postureOf(strict, strict.crds[0]),
              "protected where labelled, with strict mode; warning: its type is not known")
        << crd;
    const OrkestraSettings lax = of("{}", crd);
    EXPECT_EQ(postureOf(lax, lax.crds[0]),
              "protected where labelled, without strict mode; warning: its type is not known")
        << crd;
  }
  const auto warned = [&](const char* crd) {
    return testing::lines(warningsOf(of("{strictMode: true}", crd), "k.yaml"));
  };
  EXPECT_THAT(warned("{}"),
              AllOf(HasSubstr("does not say its type"), HasSubstr("its instances get no label"),
                    HasSubstr("only while it has a labelled instance"), Not(HasSubstr("honoured"))));
  EXPECT_THAT(warned("{strictMode: false}"), HasSubstr("; strictMode: false cannot be honoured"));
  EXPECT_THAT(warned("{protectCRs: false, strictMode: false}"),
              HasSubstr("; protectCRs: false and strictMode: false cannot be honoured"));
  EXPECT_THAT(warned("{protectCRD: false}"), AllOf(HasSubstr("; protectCRD: false cannot be honoured"),
                                                   Not(HasSubstr("this is done as it stands"))));
}

// By this label the policies of a former state of the katalog are found.
TEST(Orkestra, PoliciesSayThatTheyAreImported) {
  for (const DeletionPolicy& policy : policies(settingsOf(katalog("{strictMode: true}", "{}"))))
    EXPECT_EQ(policy.meta.labels, (kube::Labels{{"lastout.dev/imported-from", "orkestra"}}))
        << policy.meta.name;
}

// Who may take the label away has time to delete the object.
TEST(Orkestra, WithoutStrictModeALabelIsRepairedLater) {
  const auto repairAfter = [](const char* global, const char* crd) {
    const auto all = policies(settingsOf(katalog(global, crd)));
    return all.at(1).labels.value().repairAfter;
  };
  EXPECT_EQ(repairAfter("{strictMode: true}", "{}"), std::chrono::seconds(0));
  EXPECT_EQ(repairAfter("{strictMode: true}", "{strictMode: false}"), std::chrono::seconds(30));
  EXPECT_EQ(repairAfter("{}", "{}"), std::chrono::seconds(30));
}

TEST(Orkestra, CleanupOnShutdownIsHonouredByEachPolicy) {
  const auto all = policies(settingsOf(katalog("{cleanupOnShutdown: true, strictMode: true}", "{}")));
  EXPECT_THAT(names(all), ElementsAre("orkestra-delete-protection", "orkestra-protected", "orkestra-crds",
                                      "orkestra-strict-mode"));
  for (const DeletionPolicy& policy : all) EXPECT_TRUE(policy.cleansUpOnShutdown) << policy.meta.name;
  for (const DeletionPolicy& policy : policies(settingsOf(katalog("{}", "{}"))))
    EXPECT_FALSE(policy.cleansUpOnShutdown) << policy.meta.name;
}

TEST(Orkestra, TheTypeIsWhatApiTypesOrTheEntrySay) {
  const auto crd = [](const std::string& entry) {
    return settingsOf("security: {deletionProtection: {}}\nspec: {crds: {app: " + entry + "}}\n").crds[0];
  };
  const kube::GroupResource apps{"a.example.com", "apps"};
  EXPECT_EQ(crd("{apiTypes: {group: a.example.com, version: v1, kind: App, plural: apps}}").type, apps);
  EXPECT_EQ(crd("{group: a.example.com, plural: apps}").type, apps);
  EXPECT_EQ(crd("{apiVersion: a.example.com/v1, kind: App, plural: apps}").type, apps);
  EXPECT_EQ(crd("{apiTypes: {group: a.example.com, kind: App}}").missing, "apiTypes.plural");
  EXPECT_EQ(crd("{plural: apps}").missing, "apiTypes.group");
}

TEST(Orkestra, TheTypeMayComeFromTheCommandLine) {
  const auto documents = kube::parseYaml("security: {deletionProtection: {}}\nspec: {crds: {app: {}}}\n", "");
  const auto settings = parseOrkestra(documents->front(), "", {{"app", {"security.orkestra.io", "apps"}}});
  ASSERT_TRUE(settings);
  EXPECT_THAT(names(policies(*settings)),
              ElementsAre("orkestra-delete-protection", "orkestra-protected", "orkestra-crds"));
  const auto wrong = parseOrkestra(documents->front(), "", {{"ap", {"security.orkestra.io", "apps"}}});
  EXPECT_THAT(testing::lines(wrong.error()), HasSubstr("spec.crds has no \"ap\""));
}

TEST(Orkestra, MistakesAreToldWithTheirPlace) {
  EXPECT_THAT(mistakesIn(katalog("{enable: true}", "{}")),
              AllOf(HasSubstr("katalog.yaml:2:"), HasSubstr("security.deletionProtection.\"enable\""),
                    HasSubstr("enabled")));
  EXPECT_THAT(mistakesIn(katalog("{}", "{protectCr: true}")),
              HasSubstr("spec.crds.app.deletionProtection.\"protectCr\""));
  EXPECT_THAT(mistakesIn(katalog("{failurePolicy: fail}", "{}")), HasSubstr("failurePolicy"));
  EXPECT_THAT(mistakesIn("security: {deletionprotection: {}}\n"),
              HasSubstr("did you mean \"deletionProtection\"?"));
  EXPECT_THAT(mistakesIn("spec: {crds: {app: {deletionProtections: {}}}}\n"), HasSubstr("spec.crds.app"));
  EXPECT_THAT(mistakesIn("spec: {crds: []}\n"), HasSubstr("spec.crds must be a map"));
  EXPECT_THAT(mistakesIn("operatorBox: {runtime: {security: {}}}\n"), HasSubstr("operatorBox.runtime"));
  EXPECT_THAT(mistakesIn("security: {}\nspec: {security: {}}\n"), HasSubstr("keep one"));
  EXPECT_EQ(mistakesIn("security: {deletionProtection: {}, tls: {}}\nspec: {crds: {app: {workers: 3}}}\n"),
            "")
      << "other settings of a katalog are none of ours";
}

TEST(Orkestra, ManyCrdsFitIntoPolicies) {
  std::string text = "security: {deletionProtection: {}}\nspec:\n  crds:\n";
  for (int i = 0; i < 200; ++i)
    text += "    c" + std::to_string(i) + ": {apiTypes: {group: example.com, plural: p" + std::to_string(i) +
            "}, deletionProtection: {protectCRD: " + (i % 2 == 0 ? "true" : "false") + "}}\n";
  EXPECT_EQ(policies(settingsOf(text)).size(), 4U);
  EXPECT_THAT(mistakesIn(text), Not(HasSubstr("entries")));
}

}  // namespace
}  // namespace lastout::protection
