// Why: the verdict, what blocks, where that ends, and all of it through JSON and back.
#include "admission/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/known_cluster.h"
#include "kube/reference.h"
#include "tests/admission/world.h"

namespace lastout::admission {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kWhyStory = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  scope: Cluster
  names: {plural: coolresources, kind: CoolResource}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: my.crd.group/v1
kind: CoolResource
metadata: {name: some-instance, finalizers: [my.crd.group/super-important]}
---
apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: web}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: s}
spec:
  provider: {group: apps, resource: deployments, namespace: web, name: operator}
  criteria:
  - type: SpecificResource
    specificResource:
      {group: apiextensions.k8s.io, resource: customresourcedefinitions, name: coolresources.my.crd.group}
)";
constexpr const char* kWhyCrd = "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group";

Why ask(const World& world, std::string_view reference) {
  return why(world.graph, world.index, kube::parseReference(reference, world.types).value());
}

std::vector<std::string> messages(const std::vector<WhyBlocker>& blockers) {
  std::vector<std::string> all;
  all.reserve(blockers.size());
  for (const WhyBlocker& blocker : blockers) all.push_back(blocker.message);
  return all;
}

TEST(WhyTest, FollowsTheChainToItsEnd) {
  World world(kWhyStory);
  world.terminate(kWhyCrd);
  world.terminate("coolresources/some-instance");
  const Why told = ask(world, "deployments/web/operator");
  EXPECT_TRUE(told.isBlocked());
  EXPECT_EQ(told.message, world.explain("deployments/web/operator").message);
  EXPECT_THAT(messages(told.blockers), ElementsAre(HasSubstr("coolresources.my.crd.group")));
  ASSERT_EQ(told.roots.size(), 1U);
  EXPECT_EQ(told.roots[0].message,
            "coolresources.my.crd.group/some-instance (being deleted, keeps finalizer "
            "my.crd.group/super-important)");
  EXPECT_THAT(told.roots[0].path,
              ElementsAre("deployments.apps/web/operator", "existence of " + std::string(kWhyCrd), kWhyCrd,
                          "coolresources.my.crd.group/some-instance"));
  EXPECT_TRUE(told.complete);
}

TEST(WhyTest, OfWhatIsBeingDeletedItSaysWhatThatWaitsFor) {
  World world(kWhyStory);
  EXPECT_FALSE(ask(world, kWhyCrd).isBlocked());
  EXPECT_THAT(ask(world, kWhyCrd).roots, IsEmpty()) << "nobody has asked for it to be gone";
  world.terminate(kWhyCrd);
  const Why crd = ask(world, kWhyCrd);
  EXPECT_TRUE(crd.isBlocked());
  EXPECT_TRUE(crd.allowed);
  ASSERT_EQ(crd.blockers.size(), 1U);
  EXPECT_EQ(crd.blockers[0].reason, "Instance");
  EXPECT_EQ(crd.blockers[0].message, "coolresources.my.crd.group/some-instance");
  world.terminate("coolresources/some-instance");
  const Why instance = ask(world, "coolresources/some-instance");
  EXPECT_TRUE(instance.isBlocked());
  EXPECT_THAT(toText(instance),
              HasSubstr("it is being deleted already, and keeps finalizer my.crd.group/super-important\n"));
}

// A provider that is held, as kubectl's DELETE finds it.
TEST(WhyTest, OfAHeldProviderItSaysWhatItWaitsForOnceItIsDeleted) {
  std::string story(kWhyStory);
  story.insert(story.find("  provider:"), "  enforcement: Hold\n");
  story.insert(story.find("metadata: {name: operator") + std::string_view("metadata: {").size(),
               "finalizers: [lastout.dev/criteria], ");
  World world(story);
  const Why told = ask(world, "deployments/web/operator");
  EXPECT_TRUE(told.allowed);
  EXPECT_EQ(told.reason, "Held");
  EXPECT_EQ(told.message,
            "deployments.apps/web/operator may be deleted, but waits to be finalized until it may go: " +
                std::string(kWhyCrd) + " exists");
  EXPECT_TRUE(told.isBlocked()) << "it would not be gone";
  EXPECT_THAT(messages(told.blockers), ElementsAre(std::string(kWhyCrd) + " exists"));
  ASSERT_EQ(told.roots.size(), 1U);
  EXPECT_EQ(told.roots[0].path.back(), "coolresources.my.crd.group/some-instance") << "the CRD waits";
  world.terminate("deployments/web/operator");
  EXPECT_THAT(toText(ask(world, "deployments/web/operator")),
              AllOf(HasSubstr("ALLOW (Held)\n"),
                    HasSubstr("it is being deleted already, and keeps finalizer lastout.dev/criteria\n"),
                    HasSubstr("Root blockers:\n- coolresources.my.crd.group/some-instance\n")));
  world.remove(kWhyCrd);
  world.remove("coolresources/some-instance");
  EXPECT_THAT(ask(world, "deployments/web/operator").message,
              HasSubstr("waits to be finalized until it is confirmed that it may go"));
  EXPECT_THAT(ask(world, "deployments/web/operator").blockers, IsEmpty());
}

TEST(WhyTest, OfManyItNamesAFew) {
  World world(kWhyStory);
  for (int i = 0; i < 20; ++i) {
    world.apply("apiVersion: my.crd.group/v1\nkind: CoolResource\nmetadata: {name: more-" +
                std::to_string(i) + ", finalizers: [f]}\n");
  }
  world.terminate(kWhyCrd);
  const Why told = ask(world, kWhyCrd);
  EXPECT_THAT(messages(told.blockers), ElementsAre(HasSubstr(" and 18 more")));
  EXPECT_EQ(told.roots.size(), 10U);
  EXPECT_EQ(told.rootsLeftOut, 11U);
  EXPECT_THAT(toText(told), HasSubstr("- and 11 more\n"));
}

TEST(WhyTest, SaysThatItsDeletionIsDeferred) {
  std::string story(kWhyStory);
  story.insert(story.find("metadata: {name: operator") + std::string_view("metadata: {").size(), "uid: u1, ");
  const std::string status = R"(status:
  deferredDeletions:
  - {group: apps, resource: deployments, namespace: web, name: operator, uid: u1, requestedBy: agent,
     requestedAt: "2026-11-22T16:00:00Z"}
)";
  const Why answer = ask(World(story + status), "deployment/operator -n web");
  EXPECT_EQ(answer.deferredDeletion,
            "its deletion is deferred: agent asked for it at 2026-11-22T16:00:00Z, and lastout runs it "
            "once it may");
  EXPECT_THAT(toText(answer), HasSubstr("\n" + answer.deferredDeletion + "\n"));
  EXPECT_EQ(parseWhy(toJson(answer)).value().deferredDeletion, answer.deferredDeletion);
  story.replace(story.find("uid: u1"), 7, "uid: u2");
  EXPECT_EQ(ask(World(story + status), "deployment/operator -n web").deferredDeletion, "")
      << "of another one";
}

TEST(WhyTest, SaysWhatItsAnnotationAsksFor) {
  const World world(kWhyStory);
  KnownCluster cluster(world.graph.snapshot(), world.index, world.types);
  cluster.annotated[{{"apps", "deployments"}, "web", "operator"}] = {"u-1", "u-1 2026-11-23T02:00:00Z"};
  EXPECT_EQ(whyOf(cluster, "deployment/operator -n web")->deferredDeletion,
            "its annotation lastout.dev/delete-when-free asks lastout to delete it once it may go, until "
            "2026-11-23T02:00:00Z");
  cluster.now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 24);
  EXPECT_EQ(whyOf(cluster, "deployment/operator -n web")->deferredDeletion,
            "its annotation lastout.dev/delete-when-free means nothing: its time has passed");
}

TEST(WhyTest, WhatIsNotThereIsSaidToBe) {
  const World world(kWhyStory);
  const Why told = ask(world, "deployments/web/other");
  EXPECT_FALSE(told.present);
  EXPECT_FALSE(told.isBlocked());
  EXPECT_THAT(toText(told), AllOf(HasSubstr("ALLOW (NotGuarded)"), HasSubstr("it is not there")));
}

TEST(WhyTest, WhoAsksByHimselfIsToldOfHisOwnRights) {
  World world(kWhyStory);
  world.remove(kWhyCrd);
  world.know("customresourcedefinitions.apiextensions.k8s.io", graph::Knowledge::Forbidden);
  const auto told = [&](std::string_view reference, ExplanationReader reader) {
    return why(world.graph, world.index, kube::parseReference(reference, world.types).value(), reader);
  };
  const std::string toLastout = toText(told("deployments/web/operator", ExplanationReader::OfLastout));
  EXPECT_THAT(toLastout,
              AllOf(HasSubstr("(lastout is not allowed to list customresourcedefinitions"),
                    HasSubstr("; grant lastout get, list and watch on customresourcedefinitions")));
  const std::string toYou = toText(told("deployments/web/operator", ExplanationReader::WhoAsked));
  EXPECT_THAT(toYou, AllOf(HasSubstr("(you are not allowed to list customresourcedefinitions"),
                           HasSubstr("; ask as somebody who may list customresourcedefinitions"),
                           Not(HasSubstr("lastout is")), Not(HasSubstr("grant lastout"))));
  world.know("criticalservices.lastout.dev", graph::Knowledge::Forbidden);
  EXPECT_THAT(told("ns/web", ExplanationReader::WhoAsked).message,
              HasSubstr(": you are not allowed to list criticalservices.lastout.dev; ask as somebody who may "
                        "list criticalservices.lastout.dev"));
}

TEST(WhyTest, ComesBackFromItsJsonAsItWas) {
  World world(kWhyStory);
  world.terminate(kWhyCrd);
  for (const char* reference : {"deployments/web/operator", "ns/web", kWhyCrd, "criticalservices/s"}) {
    const Why told = ask(world, reference);
    const auto read = parseWhy(toJson(told));
    ASSERT_TRUE(read) << reference;
    EXPECT_EQ(toJson(*read), toJson(told));
    EXPECT_EQ(toText(*read), toText(told));
  }
}

// It comes from whatever answers at an address, and goes to a terminal.
TEST(WhyTest, TakesNothingElseForAnAnswer) {
  World world(kWhyStory);
  const std::string good = toJson(ask(world, "deployments/web/operator"));
  EXPECT_FALSE(parseWhy(""));
  EXPECT_FALSE(parseWhy("[]"));
  EXPECT_FALSE(parseWhy("{}"));
  EXPECT_FALSE(parseWhy(good.substr(0, good.size() / 2)));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_TRUE(parseWhy(changed("CriterionUnmet", "x")));
  EXPECT_FALSE(parseWhy(changed("CriterionUnmet", "\\u001b[2J")));
  EXPECT_FALSE(parseWhy(changed("CriterionUnmet", "\\u009b2J"))) << "a terminal's CSI, in one character";
  EXPECT_TRUE(parseWhy(changed("CriterionUnmet", "\\u00a0\\u00e4")));
  EXPECT_FALSE(parseWhy(changed("\"complete\": true", "\"complete\": 1")));
  EXPECT_FALSE(parseWhy(changed("\"present\"", "\"presnt\"")));
  EXPECT_FALSE(parseWhy(changed("\"kind\": \"Object\"", "\"kind\": []")));
}

// A manager of namespaces, whose own namespace carries the finalizer, too.
constexpr std::string_view kOwnNamespace = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: access}
spec:
  provider: {group: apps, resource: deployments, namespace: system, name: access}
  criteria:
  - type: Finalizer
    finalizer: {resource: namespaces, finalizerName: example.com/access}
---
apiVersion: v1
kind: Namespace
metadata: {name: system, finalizers: [example.com/access]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: access, namespace: system}
)";

std::string namespaces(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a" + std::to_string(i) +
            ", finalizers: [example.com/access]}\n";
  }
  return text;
}

// Also where so many carry it that the one that matters is not among those that are named.
TEST(Why, SaysThatNoDeletionResolvesACriterionThatCoversItsOwnProvider) {
  const std::string why =
      "; no deletion resolves this: criticalservices.lastout.dev/access#spec.criteria[0] waits for "
      "namespaces/system, the namespace of its own provider: set finalizer.exceptProviderNamespace of "
      "that criterion to true, or change it otherwise (with spec.deletionIntent OrphanResources while it is "
      "not met), or take "
      "finalizer "
      "example.com/access off namespaces/system";
  for (const int others : {0, 1, 20}) {
    const World world(std::string(kOwnNamespace) + namespaces(others));
    for (const char* object : {"deployments.apps/system/access", "namespaces/system"}) {
      const Why answer = ask(world, object);
      EXPECT_FALSE(answer.allowed);
      EXPECT_TRUE(answer.message.ends_with(why)) << answer.message;
    }
  }
  World freed(std::string(kOwnNamespace) + namespaces(1));
  freed.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n");
  EXPECT_THAT(ask(freed, "deployments.apps/system/access").message, HasSubstr("; delete it first"));
  // While that namespace is being deleted the provider may still take the finalizer off.
  World ending{kOwnNamespace};
  ending.terminate("namespaces/system", {"example.com/access"});
  EXPECT_THAT(ask(ending, "deployments.apps/system/access").message, Not(HasSubstr("no deletion")));
}

TEST(Why, SaysTheSameOfAFinalizerOnTheProviderItself) {
  const World world(R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: access}
spec:
  provider: {group: apps, resource: deployments, namespace: system, name: access}
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: other, name: absent}}
  - {type: Finalizer, finalizer: {group: apps, resource: deployments, finalizerName: example.com/access}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: access, namespace: system, finalizers: [example.com/access]}
)");
  EXPECT_THAT(ask(world, "deployments.apps/system/access").message,
              HasSubstr("#spec.criteria[1] waits for deployments.apps/system/access, its own provider: set "
                        "finalizer.exceptProviderNamespace of that criterion to true, or change it otherwise "
                        "(with spec.deletionIntent OrphanResources while it is not met), or take "
                        "finalizer example.com/access off deployments.apps/system/access"));
}

// The admission plugin NamespaceLifecycle has kube-node-lease not among them.
TEST(Why, SaysWhichNamespacesNoApiServerDeletes) {
  for (const char* name : {"default", "kube-public", "kube-system"}) {
    const World world(std::string("apiVersion: v1\nkind: Namespace\nmetadata: {name: ") + name + "}\n");
    const Why answer = ask(world, std::string("namespaces/") + name);
    EXPECT_FALSE(answer.allowed);
    EXPECT_TRUE(answer.isBlocked());
    EXPECT_EQ(answer.reason, "NeverDeleted");
    EXPECT_THAT(messages(answer.blockers),
                ElementsAre("no API server deletes the Namespaces default, kube-public and kube-system: it "
                            "answers with 403, whoever asks"));
    EXPECT_EQ(answer.message, answer.blockers[0].message);
  }
  const World world("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-node-lease}\n");
  EXPECT_TRUE(ask(world, "namespaces/kube-node-lease").allowed);
}

TEST(Why, SaysWhichPriorityClassesNoApiServerDeletes) {
  const auto asked = [](const std::string& name) {
    const World world(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nvalue: 1\nmetadata: {name: " + name + "}\n");
    return ask(world, "priorityclasses/" + name);
  };
  const Why answer = asked("system-node-critical");
  EXPECT_EQ(answer.reason, "NeverDeleted");
  EXPECT_THAT(messages(answer.blockers),
              ElementsAre("no API server deletes the PriorityClasses system-cluster-critical and "
                          "system-node-critical: it answers with 403, whoever asks"));
  EXPECT_TRUE(asked("of-ours").allowed);
}

// Since Kubernetes 1.33: docs/semantics.md, "Versions".
TEST(Why, PutsThePodsOfANamespaceFirst) {
  const auto content = [](const char* kind, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += std::string("---\napiVersion: v1\nkind: ") + kind + "\nmetadata: {name: a" + std::to_string(i) +
              ", namespace: shop}\n";
    return text;
  };
  const std::string shop = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
  const auto blockersOf = [&](const std::string& yaml) {
    World world(shop + yaml);
    world.terminate("namespaces/shop", {});
    return messages(ask(world, "namespaces/shop").blockers);
  };
  EXPECT_THAT(blockersOf(content("ConfigMap", 2) + content("Pod", 2)),
              ElementsAre("pods/shop/a0 and pods/shop/a1",
                          "after its Pods: configmaps/shop/a0 and configmaps/shop/a1"));
  EXPECT_THAT(
      blockersOf(content("ConfigMap", 12) + content("Pod", 12)),
      ElementsAre(AllOf(HasSubstr("pods/shop/a0, "), HasSubstr(" and 9 more"), Not(HasSubstr("configmaps"))),
                  AllOf(HasSubstr("after its Pods: configmaps/shop/a0, "), HasSubstr(" and 9 more"))));
  EXPECT_THAT(blockersOf(content("ConfigMap", 1)), ElementsAre("configmaps/shop/a0"));
  EXPECT_THAT(blockersOf(content("Pod", 1)), ElementsAre("pods/shop/a0"));
}

constexpr std::string_view kGoneProvider = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: cleaner}
spec:
  provider: {group: apps, resource: deployments, namespace: system, name: cleaner}
  criteria:
  - type: Finalizer
    finalizer: {resource: configmaps, finalizerName: example.com/clean}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: shop, finalizers: [example.com/clean, example.com/other]}
)";

TEST(Why, SaysWhoIsToTakeAFinalizerOffThatIsGone) {
  World world{kGoneProvider};
  world.terminate("configmaps/shop/one", {"example.com/clean", "example.com/other"});
  const Why answer = ask(world, "configmaps/shop/one");
  ASSERT_EQ(answer.unservedFinalizers.size(), 1U);
  const UnservedFinalizer& one = answer.unservedFinalizers[0];
  EXPECT_EQ(one.finalizer, "example.com/clean");
  EXPECT_EQ(one.message,
            "finalizer example.com/clean is served by deployments.apps/system/cleaner, which is gone: bring "
            "that back; "
            "or, if nothing is left to clean up, take the finalizer off by hand, which skips what "
            "deployments.apps/system/cleaner would do first");
  EXPECT_EQ(
      one.command,
      R"(kubectl patch configmaps one -n shop --type=merge -p '{"metadata":{"finalizers":["example.com/other"]}}')");
  EXPECT_EQ(one.field, "criticalservices.lastout.dev/cleaner#spec.criteria[0]");
  EXPECT_THAT(toText(answer),
              HasSubstr("Finalizers that nobody takes off:\n- finalizer example.com/clean is served by"));
  const auto again = parseWhy(toJson(answer));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->unservedFinalizers.at(0).command, one.command);
}

TEST(Why, SaysNothingOfAFinalizerThatTheCriterionLeavesOut) {
  std::string yaml(kGoneProvider);
  const std::string field = "finalizerName: example.com/clean";
  yaml.insert(yaml.find(field) + field.size(), ", exceptProviderNamespace: true");
  for (const auto& [space, unserved] : {std::pair("shop", size_t{1}), std::pair("system", size_t{0})}) {
    std::string placed = yaml;
    placed.replace(placed.find("namespace: shop"), 15, std::string("namespace: ") + space);
    World world{placed};
    const std::string reference = std::string("configmaps/") + space + "/one";
    world.terminate(reference, {"example.com/clean"});
    EXPECT_THAT(ask(world, reference).unservedFinalizers, ::testing::SizeIs(unserved)) << space;
  }
}

TEST(Why, SaysNothingOfAFinalizerWhoseProviderIsThereOrNotKnown) {
  World world{kGoneProvider};
  world.apply("apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: system, name: cleaner}\n");
  EXPECT_THAT(ask(world, "configmaps/shop/one").unservedFinalizers, IsEmpty());
  world.remove("deployments.apps/system/cleaner");
  EXPECT_EQ(ask(world, "configmaps/shop/one").unservedFinalizers.size(), 1U);
  world.know("deployments.apps", graph::Knowledge::Stale);
  EXPECT_THAT(ask(world, "configmaps/shop/one").unservedFinalizers, IsEmpty());
}

// docs/verdicts.md decides a DELETE of what is there; API servers answer any other with 404.
TEST(Why, AllowsWhatIsKnownNotToBeThere) {
  World world{kGoneProvider};
  const Why answer = ask(world, "deployments.apps/system/cleaner");
  EXPECT_TRUE(answer.allowed);
  EXPECT_FALSE(answer.isBlocked());
  EXPECT_EQ(answer.reason, "NotFound");
  EXPECT_THAT(
      answer.message,
      HasSubstr(
          "deployments.apps/system/cleaner is not there: a DELETE of it is answered with NotFound; were "
          "it there: deployments.apps/system/cleaner is the provider of"));
  EXPECT_THAT(answer.blockers, IsEmpty());
  EXPECT_THAT(answer.roots, IsEmpty());
  world.know("deployments.apps", graph::Knowledge::Unknown);
  EXPECT_FALSE(ask(world, "deployments.apps/system/cleaner").allowed) << "it may be there";
}

}  // namespace
}  // namespace lastout::admission
