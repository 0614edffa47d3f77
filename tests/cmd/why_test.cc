// lastout why, by running the program on files: what it says, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

constexpr const char* kWhyWorks = "scenarios/story-three-works.yaml";

TEST(WhyCommand, SaysWhatBlocksAndWhereThatEnds) {
  const Ran ran = testing::lastout({"why", "deployment/finalizer-deployment", kWhyWorks});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(StartsWith("deployments.apps/finalizer-namespace/finalizer-deployment: DENY"),
                             HasSubstr("; delete them first\n"), HasSubstr("spec.criteria[1]\n"),
                             HasSubstr("Root blockers:\n- coolresources.my.crd.group/some-instance\n")));
}

TEST(WhyCommand, WritesJson) {
  const Ran ran = testing::lastout(
      {"why", "deployment/finalizer-deployment", "-n", "finalizer-namespace", "-o", "json", kWhyWorks});
  EXPECT_EQ(ran.exitCode, 1);
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_EQ(json["blocked"], true);
  EXPECT_EQ(json["verdict"]["reason"], "CriterionUnmet");
  EXPECT_EQ(json["blockers"].size(), 2U);
}

TEST(WhyCommand, WhatMayGoIsNoFailure) {
  const Ran ran = testing::lastout({"why", "coolresources/some-instance", kWhyWorks});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(ran.out,
            "coolresources.my.crd.group/some-instance: ALLOW (NotGuarded)\n"
            "coolresources.my.crd.group/some-instance is not guarded\n");
}

// In the words of the criterion, as the blocker has them.
TEST(WhyCommand, ACriterionThatIsNotUnderstoodIsNamedAsTheRoot) {
  const Ran ran = testing::lastout(
      {{"why", "deployment/operator", "-"},
       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
       "widgets.example.com}\n"
       "spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: "
       "[{name: v1, "
       "served: true, storage: true}]}\n---\n"
       "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n---\n"
       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: operator, namespace: web}\n---\n"
       "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: s}\nspec:\n"
       "  provider: {group: apps, resource: deployments, namespace: web, name: operator}\n  criteria:\n"
       "  - {type: Finalizer, finalizer: {group: example.com, resource: widgts, finalizerName: "
       "example.com/f}}\n"});
  EXPECT_EQ(ran.exitCode, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Root blockers:\n- it is not understood what finalizer example.com/f on "
                                 "widgts.example.com asks for\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("notunderstood")));
}

TEST(WhyCommand, AWebhookThatNobodyAnswersRefuses) {
  const std::vector<std::string> why = {"why", "widgets/one", "scenarios/webhook-without-service.yaml"};
  const Ran ran = testing::lastout(why);
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.out, AllOf(StartsWith("widgets.example.com/one: DENY (WebhookFails)\n"),
                             HasSubstr("widgets.example.com of validatingwebhookconfigurations")));
  std::vector<std::string> asJson = why;
  asJson.insert(asJson.end(), {"-o", "json"});
  const auto json = nlohmann::json::parse(testing::lastout(asJson).out);
  EXPECT_EQ(json["verdict"]["reason"], "WebhookFails");
  EXPECT_EQ(json["verdict"]["allowed"], false);
  EXPECT_EQ(json["blockers"][0]["reason"], "WebhookFails");
}

TEST(WhyCommand, BadInputIsToldFromAnAnswer) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"deploy/finalizer-deploymnet", kWhyWorks}, "did you mean deployments.apps/"},
      {{"nothing", kWhyWorks}, "is no reference"},
      {{"manifestworks/*", kWhyWorks}, "names 3 objects"},
      {{"pod/x", kWhyWorks}, "there are no pods"},
      {{"ns/x", "nowhere.yaml"}, "nowhere.yaml: there is no such file"},
      {{"ns/x", "--server", "http://127.0.0.1:1", kWhyWorks}, "choose one"},
      {{"ns/x", "--server", "http://127.0.0.1:1", "--kubeconfig", "k"}, "choose one"},
      {{"ns/x", "--server", "what://x"}, "--server: "},
      {{"ns/x", "--server", "127.0.0.1:9090"},
       "neither https:// nor http://; write it as https://HOST:PORT, or on "
       "this machine as http://127.0.0.1:9090"},
      {{"deployment", "web", "--kubeconfig", "k"},
       "\"deployment\" is no reference; did you mean deployment/web?"},
      {{"deployment", "web"}, "did you mean deployment/web?"},
      {{"foo/bar", kWhyWorks},
       "no resource type \"foo\" is known; a type of your own is known once its "
       "CustomResourceDefinition is there"},
      {{"ns/x", "--server", "http://127.0.0.1:1"}, "Connection refused"},
      {{"ns/x", "--server", "http://example.com", "--token-file", "t"}, "use https://"},
      {{"ns/x", "--token-file", "t", kWhyWorks}, "--token-file is for a --server"},
      {{"ns/x", "--policy-cluster", "a=b", kWhyWorks}, "--policy-cluster is for a cluster that is asked"},
      {{"ns/x", "--kubeconfig", "nowhere.config"}, "nowhere.config"},
      {{"ns/x", "-o", "yaml", kWhyWorks}, "yaml"}};
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> all = {"why"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = testing::lastout(all);
    EXPECT_EQ(ran.exitCode, 2) << words;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(words));
  }
}

}  // namespace
}  // namespace lastout
