// lastout serve: what its options refuse before any cluster is looked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;

Ran serve(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "serve");
  arguments.insert(arguments.end(), {"--kubeconfig", "/there-is-none"});
  return testing::lastout(arguments);
}

void expectServeRefuses(const std::vector<std::string>& arguments, const std::string& message) {
  const Ran ran = serve(arguments);
  EXPECT_EQ(ran.exitCode, 2) << ran.out;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(message));
}

TEST(ServeRolesTest, AnotherRoleThanTheTwoIsRefused) {
  const Ran ran = serve({"--roles", "webhok"});
  EXPECT_NE(ran.exitCode, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("--roles"), HasSubstr("webhook"), HasSubstr("controller")));
}

TEST(ServePolicyClusterTest, ANameAndAKubeconfigAreNeeded) {
  expectServeRefuses({"--policy-cluster", "control-plane"},
                     "--policy-cluster: write it as NAME=KUBECONFIG, not \"control-plane\"");
  expectServeRefuses({"--policy-cluster", "control-plane="}, "write it as NAME=KUBECONFIG");
  expectServeRefuses({"--policy-cluster", "Control.Plane=a"},
                     "\"Control.Plane\" is no name of a cluster: it must be a DNS label");
  expectServeRefuses({"--policy-cluster", "a=b", "--policy-cluster", "a=c"}, "two clusters are named a");
}

TEST(ServeReplayDeletionsTest, TypesAreNeeded) {
  for (const std::string type :
       {"ConfigMap", "configmaps.", ".apps", "apps/v1", "buckets.s3_example.com", "*"})
    expectServeRefuses({"--replay-deletions", "pods," + type},
                       "--replay-deletions: \"" + type + "\" is no type, such as configmaps or ");
}

TEST(ServeProfileTest, ThereHasToBeSuchAProfile) {
  expectServeRefuses({"--profile", "karmda"},
                     "--profile: there is no profile \"karmda\"; did you mean \"karmada\"?");
  expectServeRefuses({"--profile", "deploy/example"}, "--profile: there is no profile ");
}

TEST(ServeOwnLabelsTest, LabelsAreNeeded) {
  for (const std::string text : {"a", "=b", "a=b c", "a b=c", "example.com/=b"})
    expectServeRefuses({"--own-labels", "a=b," + text},
                       "--own-labels: write it as KEY=VALUE of a label, not \"" + text);
  expectServeRefuses({"--own-labels", "a=b", "--manage-webhook=false"},
                     "--own-labels: it makes neither a webhook configuration");
}

// What there is to complain about is the kubeconfig alone.
TEST(ServeRolesTest, BothRolesAreTheDefault) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--roles", "webhook,controller"}, {"--roles=controller,webhook"}}) {
    const Ran ran = serve(arguments);
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("/there-is-none"), Not(HasSubstr("--roles"))));
  }
}

TEST(ServeRolesTest, WhatARoleHasNoUseForIsRefused) {
  const std::vector<std::string> webhook{"--roles", "webhook", "--tls-secret", "a/b"};
  for (const std::string option :
       {"--webhook-scope=types", "--lease-namespace=a", "--lease-name=a", "--service=a/b", "--url=https://a",
        "--profile=karmada", "--own-labels=a=b"}) {
    std::vector<std::string> arguments = webhook;
    arguments.push_back(option);
    expectServeRefuses(arguments, option.substr(0, option.find('=')) + ": ");
  }
  const std::vector<std::string> controller{"--roles", "controller", "--tls-secret", "a/b"};
  for (const std::string option :
       {"--listen=127.0.0.1:0", "--deny-status=429", "--policy-cluster=control-plane=config"}) {
    std::vector<std::string> arguments = controller;
    arguments.push_back(option);
    expectServeRefuses(arguments, option.substr(0, option.find('=')) + ": ");
  }
}

TEST(ServeRolesTest, ByWhichCertificateARoleIsKnownHasToBeShared) {
  for (const std::string role : {"webhook", "controller"})
    expectServeRefuses({"--roles", role}, "--roles " + role + ": give --tls-secret");
}

}  // namespace
}  // namespace lastout
