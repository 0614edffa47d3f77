#include "kube/reference.h"

#include <gtest/gtest.h>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

// Kubernetes' types, and the design document's coolresources, which are cluster-scoped there.
const ResourceMap& types() {
  static const ResourceMap kTypes = [] {
    ResourceMap map = ResourceMap::builtIn();
    map.add({.type = {"my.crd.group", "coolresources"},
             .kind = "CoolResource",
             .version = "v1",
             .singular = "coolresource",
             .shortNames = {"cool"},
             .namespaced = false});
    return map;
  }();
  return kTypes;
}

std::string refer(std::string_view text) {
  const auto key = parseReference(text, types());
  return key ? toString(*key) : toString(key.error());
}

TEST(Reference, IsReadInEveryFormThatPeopleWrite) {
  const std::string deployment = "deployments.apps/finalizer-namespace/finalizer-deployment";
  for (const std::string_view text : {
           "deployments.apps/finalizer-namespace/finalizer-deployment",
           "deployments/finalizer-namespace/finalizer-deployment",
           "deployment.apps/finalizer-namespace/finalizer-deployment",
           "deploy/finalizer-namespace/finalizer-deployment",
           "Deployment/finalizer-namespace/finalizer-deployment",
           "deployment/finalizer-deployment -n finalizer-namespace",
           "deploy/finalizer-deployment   --namespace finalizer-namespace ",
           "deployment/finalizer-deployment --namespace=finalizer-namespace",
           "deployment/finalizer-deployment -n=finalizer-namespace",
           "-n finalizer-namespace deployment/finalizer-deployment",
       }) {
    EXPECT_EQ(refer(text), deployment) << text;
  }
  EXPECT_EQ(refer("coolresources.my.crd.group/some-instance"), "coolresources.my.crd.group/some-instance");
  EXPECT_EQ(refer("cool/some-instance"), "coolresources.my.crd.group/some-instance");
  EXPECT_EQ(refer("namespace/finalizer-namespace"), "namespaces/finalizer-namespace");
  EXPECT_EQ(refer("ns/finalizer-namespace"), "namespaces/finalizer-namespace");
  EXPECT_EQ(refer("criticalservices/for-finalizer-deployment"),
            "criticalservices.lastout.dev/for-finalizer-deployment");
  EXPECT_EQ(refer("crd/coolresources.my.crd.group"),
            "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group");
  EXPECT_EQ(refer("clusterrole/system:node"), "clusterroles.rbac.authorization.k8s.io/system:node");
}

TEST(Reference, WhatItIsWrittenAsIsReadAsTheSame) {
  for (const ResourceType& type : types().types()) {
    const ObjectKey key{type.type, type.namespaced ? "some-namespace" : "", "some-name"};
    const auto again = parseReference(toString(key), types());
    ASSERT_TRUE(again) << toString(key);
    EXPECT_EQ(*again, key);
  }
}

TEST(Reference, SaysHowToWriteIt) {
  const std::pair<std::string_view, std::string_view> mistakes[] = {
      {"deployment/x",
       "\"deployment/x\" lacks the namespace; write deployments.apps/<namespace>/x or deployment/x -n "
       "<namespace>"},
      {"deplyoment/n/x",
       "\"deplyoment/n/x\": no resource type \"deplyoment\" is known; did you mean \"deployment\"?"},
      {"namespaces/n/x", "\"namespaces/n/x\": namespaces are in no namespace; write namespaces/x"},
      {"ns/x -n y", "\"ns/x -n y\": namespaces are in no namespace; write namespaces/x"},
      {"deployment/n/x -n y", "\"deployment/n/x -n y\" gives the namespace twice"},
      {"deployment/x -n y -n z", "\"deployment/x -n y -n z\" gives the namespace twice"},
      {"deployment/x -n", "\"deployment/x -n\": -n needs a namespace behind it"},
      {"deployment/x --all",
       "\"deployment/x --all\": \"--all\" is no part of a reference; only -n <namespace> is"},
      {"deployment x",
       "\"deployment x\" names more than one object; write type/name, as in deployment/web -n shop"},
      {"deployment",
       "\"deployment\" is no reference; write type/name or type/namespace/name, as in "
       "deployments.apps/shop/web"},
      {"a/b/c/d",
       "\"a/b/c/d\" is no reference; write type/name or type/namespace/name, as in "
       "deployments.apps/shop/web"},
      {"", "the reference is empty; write type/name, as in deployment/web -n shop"},
      {"   ", "the reference is empty; write type/name, as in deployment/web -n shop"},
      {"deployment/n/", "\"deployment/n/\": \"\" is empty"},
      {"deployment//x", "\"deployment//x\": \"\" is empty"},
      {"deployment/n/X",
       "\"deployment/n/X\": \"X\" is no object's name: that is lower case letters, digits, \"-\" and \".\", "
       "a "
       "letter or digit first and last"},
      {"deployment/n/*",
       "\"deployment/n/*\" is a pattern; here one object must be named, without \"*\" and \"?\""},
      {"*/n/x", "\"*/n/x\": the type of a reference may not have \"*\" or \"?\""},
  };
  for (const auto& [text, sentence] : mistakes) EXPECT_EQ(refer(text), sentence);
  EXPECT_EQ(refer("deployment/" + std::string(2000, 'x')), "a reference has at most 1000 bytes");
}

// The objects that a pattern matches, of a few.
std::string matched(std::string_view text) {
  const auto pattern = parsePattern(text, types());
  if (!pattern) return pattern.error().message;
  std::string names;
  for (const std::string_view object :
       {"manifestworks/cluster1/crd", "manifestworks/cluster1/cr", "manifestworks/cluster2/cr",
        "deployments/cluster1/cr", "namespaces/cluster1", "namespaces/cluster12"}) {
    if (pattern->matches(*parseReference(object, types())))
      names += (names.empty() ? "" : " ") + std::string(object);
  }
  return names;
}

TEST(Pattern, MatchesWithinOneSegment) {
  EXPECT_EQ(matched("manifestworks/cluster1/*"), "manifestworks/cluster1/crd manifestworks/cluster1/cr");
  EXPECT_EQ(matched("manifestworks/*/cr"), "manifestworks/cluster1/cr manifestworks/cluster2/cr");
  EXPECT_EQ(matched("manifestworks/*/c*d"), "manifestworks/cluster1/crd");
  EXPECT_EQ(matched("manifestworks/cluster?/c?"), "manifestworks/cluster1/cr manifestworks/cluster2/cr");
  EXPECT_EQ(matched("ns/cluster1*"), "namespaces/cluster1 namespaces/cluster12");
  EXPECT_EQ(matched("ns/cluster1?"), "namespaces/cluster12");
  EXPECT_EQ(matched("ns/*1"), "namespaces/cluster1");
  EXPECT_EQ(matched("ns/*1*2"), "namespaces/cluster12");
  EXPECT_EQ(matched("ns/?"), "");
  EXPECT_EQ(matched("ns/clu*uster1"), "");  // what stood before the star is not there once more behind it
  EXPECT_EQ(matched("manifestwork/* -n cluster2"), "manifestworks/cluster2/cr");
}

TEST(Pattern, WithoutANamespaceMatchesInEvery) {
  EXPECT_EQ(matched("manifestwork/cr"), "manifestworks/cluster1/cr manifestworks/cluster2/cr");
  EXPECT_TRUE(parsePattern("manifestwork/cr", types())->anyNamespace);
  EXPECT_FALSE(parsePattern("manifestwork/cr", types())->hasGlob());
  EXPECT_FALSE(parsePattern("ns/cr", types())->anyNamespace);
  EXPECT_TRUE(parsePattern("ns/c?", types())->hasGlob());
  EXPECT_TRUE(parsePattern("manifestwork/a*/x", types())->hasGlob());
}

TEST(Pattern, RefusesWhatCouldMatchNothing) {
  EXPECT_EQ(matched("manifestworks/A*/x"), "");
  EXPECT_EQ(matched("manifestworks/a%*/x"), "\"manifestworks/a%*/x\": \"a%*\" is no pattern of a name");
  EXPECT_EQ(matched("manifestworks/a/b/*"),
            "\"manifestworks/a/b/*\" is no reference; write type/name or type/namespace/name, as in "
            "deployments.apps/shop/web");
}

TEST(Pattern, TakesTimeInProportionEvenWhenItAlmostMatches) {
  ObjectPattern pattern;
  for (int i = 0; i < 100; ++i) pattern.key.name += "a*";
  pattern.key.name += "b";
  EXPECT_FALSE(pattern.matches({{}, "", std::string(253, 'a')}));
  EXPECT_TRUE(pattern.matches({{}, "", std::string(252, 'a') + "b"}));
}

}  // namespace
}  // namespace lastout::kube
