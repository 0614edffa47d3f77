#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "criticalservice/critical_service.h"
#include "criticalservice/understanding.h"
#include "kube/well_known.h"
#include "tests/support/examples.h"
#include "tests/support/manifests.h"

namespace lastout::criticalservice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kHead =
    "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: x}\n";
constexpr std::string_view kProvider =
    "spec:\n  provider: {group: apps, resource: deployments, namespace: n, name: d}\n";
constexpr std::string_view kFinalizer =
    "  - {type: Finalizer, finalizer: {group: my.crd.group, resource: coolresources, finalizerName: a/b}}\n";

tl::expected<CriticalService, kube::Errors> parseText(const std::string& text) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const kube::Object object = testing::object(text, types);
  return parse(object, types);
}

// The messages that a manifest earns; empty when it is right.
std::string complaints(const std::string& text) {
  const auto parsed = parseText(text);
  return parsed ? "" : testing::lines(parsed.error());
}

// The same for one whose provider is right.
std::string complaintsOfCriteria(const std::string& criteria) {
  return complaints(std::string(kHead) + std::string(kProvider) + "  criteria:\n" + criteria);
}

std::string complaintsOfProvider(const std::string& provider) {
  return complaints(std::string(kHead) + "spec:\n  provider: " + provider + "\n  criteria:\n" +
                    std::string(kFinalizer));
}

TEST(ParseCriticalService, ReadsTheDocumentsOwnExample) {
  const auto parsed = parseText(testing::kCriticalServiceExample);
  ASSERT_TRUE(parsed) << testing::lines(parsed.error());
  EXPECT_EQ(kube::toString(parsed->provider), "deployments.apps/finalizer-namespace/finalizer-deployment");
  EXPECT_THAT(
      parsed->criteria,
      ElementsAre(
          Criterion{FinalizerCriterion{{"my.crd.group", "coolresources"}, "my.crd.group/super-important"}},
          Criterion{SpecificResourceCriterion{
              {{"apiextensions.k8s.io", "customresourcedefinitions"}, "", "coolresources.my.crd.group"}}}));
  EXPECT_EQ(parsed->intent, DeletionIntent::Ordered);
  EXPECT_EQ(parsed->providerUid, "");
}

TEST(ParseCriticalService, WhatItWritesItReadsAgain) {
  CriticalService service;
  service.meta.name = "x";
  service.meta.uid = "00000000-0000-4000-8000-000000000001";
  service.provider = {{"apps", "deployments"}, "n", "d"};
  FinalizerCriterion excepting{{"", "secrets"}, "a.b/c"};
  excepting.scope = kube::NamespaceScope::outside("n");
  FinalizerCriterion scoped{{"", "secrets"}, "a.b/c"};
  scoped.scope = kube::NamespaceScope::within({"n", "other"});
  FinalizerCriterion selecting = scoped;
  selecting.scope = kube::NamespaceScope::selectedBy("!b,a,c in (,e),f notin (g)");
  service.criteria = {
      FinalizerCriterion{{"", "configmaps"}, "a.b/c"},
      excepting,
      scoped,
      selecting,
      SpecificResourceCriterion{{{"", "secrets"}, "other", "s"}},
      SpecificResourceCriterion{{{"", "nodes"}, "", "n1"}},
      ReferenceCriterion{
          {"a.b", "cs"},
          {{*kube::parseFieldPath("spec.a.b"), std::nullopt, std::nullopt}, service.provider, ""},
          true},
      ReferenceCriterion{
          {"a.b", "cs"},
          {{*kube::parseFieldPath("spec.a"), kube::parseFieldPath("spec.b"), kube::parseFieldPath("spec.c")},
           service.provider,
           ""}}};
  service.providerUid = "00000000-0000-4000-8000-000000000002";
  for (const DeletionIntent intent :
       {DeletionIntent::Ordered, DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources}) {
    service.intent = intent;
    service.guardsScaling = intent == DeletionIntent::Ordered;
    service.enforcement = intent == DeletionIntent::Ordered ? EnforcementMode::Hold : EnforcementMode::Deny;
    const kube::ResourceMap& types = kube::ResourceMap::builtIn();
    const auto object = kube::parseObject(toManifest(service), "", types);
    ASSERT_TRUE(object) << kube::toString(object.error());
    const auto again = parse(*object, types);
    ASSERT_TRUE(again) << testing::lines(again.error());
    EXPECT_EQ(again->meta.name, service.meta.name);
    EXPECT_EQ(again->meta.uid, service.meta.uid);
    EXPECT_EQ(again->provider, service.provider);
    EXPECT_EQ(again->criteria, service.criteria);
    EXPECT_EQ(again->intent, intent);
    EXPECT_EQ(again->guardsScaling, service.guardsScaling);
    EXPECT_EQ(again->enforcement, service.enforcement);
    EXPECT_EQ(again->providerUid, service.providerUid);
  }
}

constexpr std::string_view kExcept = ", finalizerName: a/b, exceptProviderNamespace: ";

std::string excepting(const std::string& type, const std::string& value = "true") {
  return "  - {type: Finalizer, finalizer: {" + type + std::string(kExcept) + value + "}}\n";
}

TEST(ParseCriticalService, TheProvidersNamespaceMayBeLeftOut) {
  const auto exceptionOf = [](const std::string& criteria) {
    const auto parsed = parseText(std::string(kHead) + std::string(kProvider) + "  criteria:\n" + criteria);
    return parsed ? kube::inWords(std::get<FinalizerCriterion>(parsed->criteria[0]).scope, 9)
                  : testing::lines(parsed.error());
  };
  EXPECT_EQ(exceptionOf(excepting("resource: configmaps")), " outside namespace n");
  EXPECT_EQ(exceptionOf(excepting("resource: configmaps", "false")), "");
  EXPECT_EQ(exceptionOf(excepting("group: my.crd.group, resource: coolresources")), " outside namespace n")
      << "a type that is not installed may be namespaced";
  EXPECT_EQ(exceptionOf(excepting("resource: namespaces")), " outside namespace n")
      << "the Namespace itself can be left out";
  EXPECT_THAT(exceptionOf(excepting("resource: configmaps", "yes please")),
              HasSubstr("finalizer.exceptProviderNamespace must be true or false"));
}

TEST(ParseCriticalService, NothingIsLeftOutWhereThereIsNothingToLeaveOut) {
  EXPECT_THAT(complaintsOfCriteria(excepting("resource: nodes")),
              HasSubstr("spec.criteria[0].finalizer.exceptProviderNamespace must be left out: nodes are "
                        "cluster-scoped"));
  EXPECT_THAT(
      complaints(std::string(kHead) +
                 "spec:\n  provider: {group: my.crd.group, resource: engines, name: d}\n  criteria:\n" +
                 excepting("resource: configmaps")),
      HasSubstr("exceptProviderNamespace must be left out: the provider is in no namespace"));
  EXPECT_THAT(complaintsOfCriteria("  - {type: SpecificResource, specificResource: {resource: configmaps, "
                                   "namespace: n, name: c, exceptProviderNamespace: true}}\n"),
              HasSubstr("specificResource.exceptProviderNamespace must be left out: a SpecificResource names "
                        "one object, and has no others"));
}

std::string scoped(const std::string& type, const std::string& namespaces) {
  return "  - {type: Finalizer, finalizer: {" + type + ", finalizerName: a/b, namespaces: " + namespaces +
         "}}\n";
}

TEST(ParseCriticalService, ACriterionMayBeAboutSomeNamespaces) {
  const auto scopeOf = [](const std::string& namespaces) {
    const auto parsed = parseText(std::string(kHead) + std::string(kProvider) + "  criteria:\n" +
                                  scoped("resource: configmaps", namespaces));
    return parsed ? kube::inWords(std::get<FinalizerCriterion>(parsed->criteria[0]).scope, 2)
                  : testing::lines(parsed.error());
  };
  EXPECT_EQ(scopeOf("{names: [b, a]}"), " in namespaces a and b");
  EXPECT_EQ(scopeOf("{names: [d, c, b, a]}"), " in namespaces a, b and 2 more");
  EXPECT_EQ(scopeOf("{sameAsProvider: true}"), " in namespace n");
  EXPECT_EQ(scopeOf("{sameAsProvider: true, names: [a]}"), " in namespaces a and n");
  EXPECT_THAT(
      scopeOf("{}"),
      HasSubstr("finalizer.namespaces says no namespace: give names, sameAsProvider: true, or a selector"));
  EXPECT_THAT(scopeOf("{names: []}"), HasSubstr("says no namespace"));
  EXPECT_THAT(scopeOf("{sameAsProvider: false}"), HasSubstr("says no namespace"));
  EXPECT_THAT(scopeOf("{names: [A]}"), HasSubstr("finalizer.namespaces.names: \"A\" is no namespace's name"));
  EXPECT_THAT(scopeOf("{names: [a, a]}"), HasSubstr("finalizer.namespaces.names has a name twice"));
  EXPECT_THAT(scopeOf("[a]"), HasSubstr("finalizer.namespaces must be a map"));
  EXPECT_THAT(scopeOf("{labels: {}}"), HasSubstr("is no known field"));
  EXPECT_THAT(scopeOf("{names: [a]}, exceptProviderNamespace: true"),
              HasSubstr("exceptProviderNamespace does not go with spec.criteria[0].finalizer.namespaces"));
  std::string many = "a0";
  for (int i = 1; i < 64; ++i) many += ", a" + std::to_string(i);
  EXPECT_EQ(scopeOf("{sameAsProvider: true, names: [" + many + "]}"), " in namespaces a0, a1 and 63 more");
  EXPECT_THAT(scopeOf("{names: [" + many + ", a64]}"),
              HasSubstr("finalizer.namespaces.names has more than 64 namespaces"));
}

TEST(ParseCriticalService, ACriterionMaySelectNamespacesByTheirLabels) {
  const auto scopeOf = [](const std::string& namespaces) {
    const auto parsed = parseText(std::string(kHead) + std::string(kProvider) + "  criteria:\n" +
                                  scoped("resource: configmaps", namespaces));
    return parsed ? std::get<FinalizerCriterion>(parsed->criteria[0]).scope.selector
                  : testing::lines(parsed.error());
  };
  const auto expressions = [&](const std::string& list) {
    return scopeOf("{selector: {matchExpressions: [" + list + "]}}");
  };
  EXPECT_EQ(scopeOf("{selector: {matchLabels: {t: oil, b: c}}}"), "b in (c),t in (oil)");
  EXPECT_EQ(expressions("{key: t, operator: In, values: [oil]}, {key: b, operator: In, values: [c]}"),
            "b in (c),t in (oil)");
  EXPECT_EQ(expressions("{key: t, operator: NotIn, values: [b, a, b]}, {key: x, operator: DoesNotExist}, "
                        "{key: y, operator: Exists}, {key: y, operator: Exists}"),
            "!x,t notin (a,b),y");
  EXPECT_EQ(expressions("{key: t, operator: In, values: [oil, '']}"), "t in (,oil)");
  EXPECT_THAT(scopeOf("{selector: {}}"),
              HasSubstr("selector selects all namespaces: leave namespaces out, or name a label"));
  EXPECT_THAT(scopeOf("{names: [a], selector: {matchLabels: {t: oil}}}"),
              HasSubstr("selector does not go with names or sameAsProvider: write one of them"));
  EXPECT_THAT(scopeOf("{sameAsProvider: true, selector: {matchLabels: {t: oil}}}"),
              HasSubstr("selector does not go with names or sameAsProvider"));
  EXPECT_THAT(scopeOf("{selector: {matchLabel: {t: oil}}}"), HasSubstr("matchLabel"));
  EXPECT_THAT(scopeOf("{selector: {matchLabels: {t: 'not one'}}}"),
              HasSubstr("\"not one\" is no value of a label"));
  EXPECT_THAT(expressions("{key: t, operator: In}"), HasSubstr("needs at least one value"));
  std::string many = "v0";
  for (int i = 1; i < 63; ++i) many += ", v" + std::to_string(i);
  EXPECT_THAT(expressions("{key: t, operator: In, values: [" + many + "]}"), HasSubstr("t in (v0,v1,v10"));
  EXPECT_THAT(expressions("{key: t, operator: In, values: [" + many + ", v63]}"),
              HasSubstr("selector has more than 64 keys and values"));
}

TEST(ParseCriticalService, AGroupOfTypesIsOfCustomResources) {
  const auto complaint = [](const std::string& group) {
    return complaintsOfCriteria("  - {type: Finalizer, finalizer: {group: '" + group +
                                "', resource: '*', finalizerName: a/b}}\n");
  };
  EXPECT_EQ(complaint("example.com"), "");
  EXPECT_EQ(complaint("*.example.com"), "");
  for (const char* group : {"", "apps"})
    EXPECT_THAT(complaint(group), HasSubstr("has types of Kubernetes' own")) << group;
  EXPECT_THAT(complaint("*.com"),
              HasSubstr("\"*.com\" is too wide: the domain needs a dot, as in *.example.com"));
  EXPECT_THAT(complaint("*"), HasSubstr("is no name of an API group, nor \"*.\" and a domain"));
}

TEST(ParseCriticalService, OfWhatIsInNoNamespaceNoneCanBeNamed) {
  EXPECT_THAT(complaintsOfCriteria(scoped("resource: nodes", "{names: [a]}")),
              HasSubstr("spec.criteria[0].finalizer.namespaces must be left out: nodes are cluster-scoped"));
  EXPECT_EQ(complaintsOfCriteria(scoped("resource: namespaces", "{names: [a]}")), "");
  EXPECT_THAT(
      complaints(std::string(kHead) +
                 "spec:\n  provider: {group: my.crd.group, resource: engines, name: d}\n  criteria:\n" +
                 scoped("resource: configmaps", "{sameAsProvider: true}")),
      HasSubstr("sameAsProvider must be left out: the provider is in no namespace"));
}

// One with this spec.enforcement, and a provider of this type.
std::string enforced(const std::string& enforcement, const std::string& group, const std::string& resource) {
  return std::string(kHead) + "spec:\n  provider: {group: " + group + ", resource: " + resource +
         ", namespace: n, name: d}\n  enforcement: " + enforcement + "\n  criteria:\n" +
         std::string(kFinalizer);
}

TEST(ParseCriticalService, OnlyWhatOutlivesItsTerminationIsHeld) {
  EXPECT_EQ(parseText(enforced("Deny", "batch", "jobs"))->enforcement, EnforcementMode::Deny);
  for (const char* const resource : {"deployments", "statefulsets", "daemonsets"})
    EXPECT_EQ(parseText(enforced("Hold", "apps", resource))->enforcement, EnforcementMode::Hold) << resource;
  EXPECT_THAT(complaints(enforced("Hold", "batch", "jobs")),
              HasSubstr("spec.enforcement: Hold is for deployments.apps, statefulsets.apps and "
                        "daemonsets.apps, whose Pods outlive their termination; write Deny for a provider of "
                        "jobs.batch"));
  EXPECT_NE(complaints(enforced("Hold", "apps", "replicasets")), "");
  EXPECT_NE(complaints(enforced("Hold", "engines.example.com", "deployments")), "");
  EXPECT_THAT(complaints(enforced("Keep", "apps", "deployments")), HasSubstr("one of Deny, Hold"));
}

TEST(ParseCriticalService, OneThatStandsAndCannotBeHeldDenies) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const auto standing = [&](const char* group, const char* resource) {
    return parseStanding(testing::object(enforced("Hold", group, resource), types))->enforcement;
  };
  EXPECT_EQ(standing("apps", "deployments"), EnforcementMode::Hold);
  EXPECT_EQ(standing("batch", "jobs"), EnforcementMode::Deny);
}

TEST(ParseCriticalService, NamesEveryMissingField) {
  EXPECT_THAT(complaints(std::string(kHead)), HasSubstr("spec is missing"));
  const std::string text = complaints(std::string(kHead) + "spec: {provider: {group: apps}}\n");
  EXPECT_THAT(text, HasSubstr("spec.provider.resource is missing"));
  EXPECT_THAT(text, HasSubstr("spec.provider.name is missing"));
  EXPECT_THAT(text, HasSubstr("spec.criteria is missing"));
  EXPECT_THAT(complaints(std::string(kHead) + std::string(kProvider) + "  criteria: []\n"),
              HasSubstr("spec.criteria is empty: name at least one thing"));
}

TEST(ParseCriticalService, AnUnknownFieldNamesTheNearestOne) {
  EXPECT_THAT(complaints(std::string(kHead) + std::string(kProvider) + "  criterias: []\n"),
              HasSubstr("\"criteria\""));
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deployments, nmespace: n, name: d}"),
              HasSubstr("\"namespace\""));
  EXPECT_THAT(complaintsOfCriteria(
                  "  - {type: Finalizer, finalizer: {group: a.b, resource: cs, finalizerNam: a/b}}\n"),
              HasSubstr("\"finalizerName\""));
}

TEST(ParseCriticalService, ACriterionHasExactlyTheMemberOfItsType) {
  EXPECT_THAT(complaintsOfCriteria("  - {finalizer: {group: a.b, resource: cs, finalizerName: a/b}}\n"),
              HasSubstr("spec.criteria[0].type is missing: Finalizer, SpecificResource or Reference"));
  EXPECT_THAT(
      complaintsOfCriteria("  - {type: Finaliser, finalizer: {resource: cs, finalizerName: a/b}}\n"),
      HasSubstr(
          "spec.criteria[0].type must be one of Finalizer, SpecificResource, Reference, not \"Finaliser\"; "
          "did you mean \"Finalizer\"?"));
  EXPECT_THAT(complaintsOfCriteria("  - {type: SpecificResource}\n"),
              HasSubstr("spec.criteria[0].specificResource is missing: type SpecificResource needs it"));
  EXPECT_THAT(complaintsOfCriteria("  - type: SpecificResource\n"
                                   "    specificResource: {resource: nodes, name: n1}\n"
                                   "    finalizer: {group: a.b, resource: cs, finalizerName: a/b}\n"),
              HasSubstr("spec.criteria[0].finalizer does not belong to type SpecificResource"));
}

// With these fields beside the type of the objects, and what stands below spec besides.
std::string reference(const std::string& fields) {
  return "  - {type: Reference, reference: {group: net.example.com, resource: subnets, " + fields + "}}\n";
}

std::string complaintsOfReference(const std::string& fields, const std::string& more = "") {
  return complaints(std::string(kHead) +
                    "spec:\n  provider: {group: net.example.com, resource: vpcs, namespace: n, name: d}\n" +
                    more + "  criteria:\n" + reference(fields));
}

TEST(ParseCriticalService, AReferenceNamesTheProviderOrWhatIsListed) {
  EXPECT_EQ(complaintsOfReference("field: spec.vpcRef.name"), "");
  EXPECT_EQ(complaintsOfReference("field: spec.a, namespaceField: spec.b, kindField: spec.c, kind: VPC"), "");
  const std::string target = "field: spec.a, target: {resource: configmaps, namespace: n, name: m}";
  EXPECT_THAT(
      complaintsOfReference(target),
      HasSubstr("spec.criteria[0].reference.target: configmaps/n/m must be the provider, or listed in "
                "spec.guard.dependencies"));
  EXPECT_EQ(complaintsOfReference(
                target, "  guard: {dependencies: [{resource: configmaps, namespace: n, name: m}]}\n"),
            "");
}

TEST(ParseCriticalService, AReferenceIsAFieldThatCanBeRead) {
  for (const char* wrong : {"spec..a", ".spec", "spec.a[0]", "spec.*", "spec.'a'", "spec.a b", "sp\\x01ec",
                            "$.spec.a", "/spec/a", "spec.0.a", "spec.x\\\\y"})
    EXPECT_THAT(complaintsOfReference("field: \"" + std::string(wrong) + "\""),
                HasSubstr("reference.field must be keys with dots between them"))
        << wrong;
  EXPECT_THAT(complaintsOfReference("namespaceField: spec.a"), HasSubstr("reference.field is missing"));
  EXPECT_THAT(complaintsOfReference("field: spec.a, kind: VPC"),
              HasSubstr("reference.kind must be left out without kindField"));
  EXPECT_THAT(complaintsOfCriteria("  - {type: Reference, reference: {resource: secrets, field: data.a}}\n"),
              HasSubstr("reference.resource: lastout does not read the fields of secrets"));
  EXPECT_THAT(complaintsOfCriteria("  - {type: Reference, reference: {group: lastout.dev, resource: "
                                   "criticalservices, field: spec.a}}\n"),
              HasSubstr("does not read the fields of criticalservices"));
  EXPECT_THAT(complaintsOfReference("field: spec.a, kindField: '', kind: VPC"),
              HasSubstr("left out without kindField"));
  EXPECT_THAT(complaintsOfReference("field: spec.a, kindField: spec.b, kind: \"V\\x03\""),
              HasSubstr("is no kind, such as Deployment"));
  EXPECT_THAT(complaintsOfCriteria("  - {type: Reference, reference: {group: apps, resource: deploymnts, "
                                   "field: spec.a}}\n"),
              HasSubstr("did you mean \"deployments\"?"));
  EXPECT_THAT(
      complaintsOfCriteria("  - {type: Reference, reference: {group: a.b, resource: '*', field: spec.a}}\n"),
      HasSubstr("reference.resource"));
}

// The kind decides which objects count, so one that is never written would let all of them pass.
TEST(ParseCriticalService, AKindThatItsResourceDoesNotTellIsWritten) {
  EXPECT_EQ(complaintsOfCriteria(reference("field: spec.a, kindField: spec.b")), "");
  EXPECT_THAT(
      complaintsOfCriteria(reference("field: spec.a, kindField: spec.b, kind: Vpc")),
      HasSubstr("reference.kind: the kind of deployments.apps is Deployment; write kind: Deployment"));
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"net.example.com", "cacti"}, "Cactus", "v1", "", {}, true, false});
  const kube::Object object = testing::object(
      std::string(kHead) +
          "spec:\n  provider: {group: net.example.com, resource: cacti, namespace: n, name: d}\n"
          "  criteria:\n" +
          reference("field: spec.a, kindField: spec.b"),
      types);
  const auto parsed = parse(object, types);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(testing::lines(parsed.error()), HasSubstr("write kind: Cactus"));
}

// The CRD may come after the CriticalService, and the webhook may have been away.
TEST(UnderstandCriticalService, AKindByWhichItIsNeverNamed) {
  const auto doubt = [](const std::string& kind, const std::string& called) {
    kube::ResourceMap types = kube::ResourceMap::builtIn();
    kube::Object object = testing::object(
        std::string(kHead) +
            "spec:\n  provider: {group: net.example.com, resource: cacti, namespace: n, name: d}\n"
            "  criteria:\n  - {type: Reference, reference: {resource: configmaps, field: spec.a, kindField: "
            "spec.b" +
            (kind.empty() ? "" : ", kind: " + kind) + "}}\n",
        types);
    auto service = parseStanding(object);
    if (!called.empty()) types.add({{"net.example.com", "cacti"}, called, "v1", "", {}, true, false});
    understand(*service, knownTypes(types));
    return std::string(doubtOf(service->criteria.at(0)));
  };
  EXPECT_THAT(doubt("", "Cactus"),
              HasSubstr("the kind of cacti.net.example.com is Cactus: write kind: Cactus"));
  EXPECT_THAT(doubt("Cacti", "Cactus"), HasSubstr("write kind: Cactus"));
  EXPECT_EQ(doubt("Cactus", "Cactus"), "");
  EXPECT_EQ(doubt("", ""), "");
}

// What nobody may ask about is not read because somebody wrote it while no webhook was there.
TEST(ParseCriticalService, AReferenceInSecretsThatStandsIsNotUnderstood) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const auto service = parseStanding(testing::object(
      std::string(kHead) + std::string(kProvider) +
          "  criteria:\n  - {type: Reference, reference: {resource: secrets, field: data.a}}\n",
      types));
  ASSERT_TRUE(service);
  EXPECT_FALSE(service->notUnderstood.empty());
  FieldsByType fields;
  addFields(*service, fields);
  EXPECT_TRUE(fields.empty());
}

// A provider that objects name need not run anything.
TEST(ParseCriticalService, WhatIsNamedMayBeAnyObject) {
  const auto complaint = [](const std::string& provider) {
    return complaints(std::string(kHead) + "spec:\n  provider: " + provider + "\n  criteria:\n" +
                      reference("field: spec.a"));
  };
  for (const char* provider :
       {"{resource: secrets, namespace: n, name: d}", "{resource: configmaps, namespace: n, name: d}",
        "{group: storage.k8s.io, resource: storageclasses, name: d}", "{resource: namespaces, name: d}"})
    EXPECT_EQ(complaint(provider), "") << provider;
  EXPECT_THAT(complaint("{resource: pods, namespace: n, name: d}"), HasSubstr("without a DELETE"));
  EXPECT_THAT(complaint("{group: coordination.k8s.io, resource: leases, namespace: n, name: d}"),
              HasSubstr("come and go by themselves"));
  EXPECT_THAT(complaint("{group: authorization.k8s.io, resource: subjectaccessreviews, name: d}"),
              HasSubstr("cannot be listed or deleted"));
  EXPECT_THAT(complaint("{group: lastout.dev, resource: criticalservices, name: d}"),
              HasSubstr("stay until their own provider is gone"));
}

TEST(ParseCriticalService, EmptyAndImpossibleNamesAreErrors) {
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deployments, namespace: n, name: ''}"),
              HasSubstr("spec.provider.name may not be empty"));
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deployments, namespace: n, name: A_B}"),
              HasSubstr("spec.provider.name: \"A_B\""));
  EXPECT_THAT(complaintsOfCriteria(
                  "  - {type: Finalizer, finalizer: {group: a.b, resource: cs, finalizerName: a/b/c}}\n"),
              HasSubstr("\"a/b/c\" is no finalizer's name, which looks like example.com/clean-up"));
  EXPECT_THAT(complaintsOfProvider("{group: apps/v1, resource: deployments, namespace: n, name: d}"),
              HasSubstr("spec.provider.group is written without a version: \"apps\", not \"apps/v1\""));
}

TEST(ParseCriticalService, AFinalizerHasToSayThatSomethingWasCleanedUp) {
  const auto criterion = [](const std::string& finalizer) {
    return complaintsOfCriteria("  - {type: Finalizer, finalizer: {" + finalizer + "}}\n");
  };
  EXPECT_THAT(
      criterion("group: apps, resource: deployments, finalizerName: lastout.dev/criteria"),
      HasSubstr("spec.criteria[0].finalizer.finalizerName: \"lastout.dev/criteria\" is lastout's own"));
  EXPECT_THAT(criterion("resource: namespaces, finalizerName: kubernetes"),
              HasSubstr("\"kubernetes\" is in a Namespace's spec.finalizers, and criteria look at "
                        "metadata.finalizers: name the Namespace in a SpecificResource"));
  EXPECT_EQ(criterion("group: a.b, resource: cs, finalizerName: kubernetes"), "");
}

TEST(ParseCriticalService, TheNamespaceMustSuitTheType) {
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deployments, name: d}"),
              HasSubstr("spec.provider.namespace is missing: deployments.apps are namespaced"));
  EXPECT_THAT(
      complaintsOfCriteria(
          "  - {type: SpecificResource, specificResource: {resource: nodes, namespace: n, name: x}}\n"),
      HasSubstr("namespace must be left out: nodes are cluster-scoped"));
}

TEST(ParseCriticalService, ATypeIsWrittenAsResourceOrAsKind) {
  EXPECT_EQ(complaintsOfProvider("{group: apps, resource: Deployment, namespace: n, name: d}"), "");
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deployment, namespace: n, name: d}"),
              HasSubstr("there is no type \"deployment\" in group \"apps\"; write resource: deployments"));
  EXPECT_THAT(
      complaintsOfProvider("{resource: deployments, namespace: n, name: d}"),
      HasSubstr(
          "there is no type \"deployments\" in the core group; write resource: deployments and group: apps"));
  EXPECT_THAT(complaintsOfProvider("{group: apps, resource: deploymets, namespace: n, name: d}"),
              HasSubstr("did you mean \"deployments\"?"));
}

TEST(ParseCriticalService, ATypeThatACrdCouldStillBringIsTaken) {
  EXPECT_EQ(complaintsOfCriteria(std::string(kFinalizer)), "");
  EXPECT_THAT(complaintsOfCriteria("  - {type: Finalizer, finalizer: {group: my.crd.group, resource: "
                                   "CoolResource, finalizerName: a/b}}\n"),
              HasSubstr("a resource is the lower-case plural"));
}

// Its kind would mean something only while the CRD is there.
TEST(ParseCriticalService, TheKindOfACrdIsNoType) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"my.crd.group", "coolresources"}, "CoolResource", "v1", "coolresource", {}, true, false});
  const kube::Object object = testing::object(
      std::string(kHead) + std::string(kProvider) +
          "  criteria:\n  - {type: Finalizer, finalizer: {group: my.crd.group, resource: CoolResource, "
          "finalizerName: a/b}}\n",
      types);
  const auto parsed = parse(object, types);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(testing::lines(parsed.error()), HasSubstr("write resource: coolresources"));
}

// What was accepted once guards: also what nobody could write today.
TEST(ParseCriticalService, OneThatStandsIsReadWhateverTypesThereAre) {
  const auto standing = [](const std::string& provider, const std::string& criteria) {
    kube::ResourceMap types = kube::ResourceMap::builtIn();
    return parseStanding(testing::object(
        std::string(kHead) + "spec:\n  provider: " + provider + "\n  criteria:\n" + criteria, types));
  };
  const std::string provider = "{group: apps, resource: deployments, namespace: n, name: d}";
  const auto read = standing(provider,
                             "  - {type: SpecificResource, specificResource: {resource: pods, name: x}}\n"
                             "  - {type: SpecificResource, specificResource: {group: apps, resource: "
                             "deployments, namespace: n, name: d}}\n" +
                                 std::string(kFinalizer) + std::string(kFinalizer));
  ASSERT_TRUE(read) << testing::lines(read.error());
  EXPECT_EQ(kube::toString(read->provider), "deployments.apps/n/d");
  EXPECT_EQ(read->criteria.size(), 4U);
  const auto unserved = standing("{group: local, resource: engines, name: d}", std::string(kFinalizer));
  ASSERT_TRUE(unserved) << testing::lines(unserved.error());
  EXPECT_EQ(kube::toString(unserved->provider), "engines.local/d");
  EXPECT_FALSE(standing("{group: apps, resource: deployments, namespace: n}", std::string(kFinalizer)));
  EXPECT_FALSE(
      standing("{group: apps/v1, resource: deployments, namespace: n, name: d}", std::string(kFinalizer)));
}

// Provider and intent are read by themselves: what nobody understands guards, and its owner can give it up.
TEST(ParseCriticalService, OneThatStandsAndIsNotUnderstoodIsNeverMet) {
  const auto standing = [](const std::string& rest) {
    return parseStanding(testing::object(std::string(kHead) + std::string(kProvider) + rest));
  };
  for (const std::string& rest :
       {std::string("  criteria:\n  - {type: SpecificResource}\n"), std::string("  criteria: many\n"),
        std::string("  retries: 3\n  criteria:\n") + std::string(kFinalizer),
        std::string("  deletionIntent: Sometime\n  criteria:\n") + std::string(kFinalizer)}) {
    const auto read = standing(rest);
    ASSERT_TRUE(read) << rest << testing::lines(read.error());
    EXPECT_EQ(kube::toString(read->provider), "deployments.apps/n/d");
    EXPECT_EQ(read->intent, DeletionIntent::Ordered);
    ASSERT_FALSE(read->notUnderstood.empty()) << rest;
    ASSERT_EQ(read->criteria.size(), 1U) << rest;
    EXPECT_THAT(std::string(doubtOf(read->criteria[0])), StartsWith(read->notUnderstood[0].message));
    EXPECT_EQ(conditionOf(read->criteria[0]).type, graph::notUnderstoodType());
    EXPECT_EQ(fieldOf(*read, 0), "spec");
    EXPECT_TRUE(writtenCriteria(*read).empty());
  }
  const auto givenUp = standing("  criteria: many\n  deletionIntent: OrphanResources\n  enforcement: Hold\n");
  ASSERT_TRUE(givenUp);
  EXPECT_EQ(givenUp->intent, DeletionIntent::OrphanResources);
  EXPECT_EQ(givenUp->enforcement, EnforcementMode::Hold);
  const auto understood = standing("  criteria:\n" + std::string(kFinalizer));
  ASSERT_TRUE(understood);
  EXPECT_TRUE(understood->notUnderstood.empty());
  EXPECT_EQ(doubtOf(understood->criteria[0]), "");
}

TEST(ParseCriticalService, WhatIsMetWhereNothingWasInstalledIsSaidOfEachCriterion) {
  const auto parsed = parseText(
      std::string(kHead) + std::string(kProvider) +
      "  criteria:\n"
      "  - {type: Finalizer, ifNotInstalled: Met, finalizer: {group: a.b, resource: cs, finalizerName: "
      "a/b}}\n"
      "  - {type: SpecificResource, ifNotInstalled: Unknown, specificResource: {group: a.b, resource: cs, "
      "name: x}}\n"
      "status: {seenTypes: [cs.a.b, things.example.com, [], \"?\"]}\n");
  ASSERT_TRUE(parsed) << testing::lines(parsed.error());
  EXPECT_TRUE(std::get<FinalizerCriterion>(parsed->criteria[0]).metIfNotInstalled);
  EXPECT_FALSE(std::get<SpecificResourceCriterion>(parsed->criteria[1]).metIfNotInstalled);
  EXPECT_THAT(parsed->seenTypes,
              ElementsAre(kube::GroupResource{"a.b", "cs"}, kube::GroupResource{"example.com", "things"}));
  kube::Object again;
  again.apiVersion = kube::kLastoutApiVersion;
  again.meta.name = "x";
  again.content = toManifest(*parsed);
  const auto read = parse(again, kube::ResourceMap::builtIn());
  ASSERT_TRUE(read) << testing::lines(read.error());
  EXPECT_EQ(read->criteria, parsed->criteria);
  EXPECT_EQ(read->seenTypes, parsed->seenTypes);
  EXPECT_THAT(complaintsOfCriteria("  - {type: Finalizer, ifNotInstalled: Maybe, finalizer: {group: a.b, "
                                   "resource: cs, finalizerName: a/b}}\n"),
              HasSubstr("spec.criteria[0].ifNotInstalled must be one of Unknown, Met, not \"Maybe\""));
}

TEST(ParseCriticalService, ARepeatedCriterionNamesTheFirst) {
  EXPECT_THAT(complaintsOfCriteria(std::string(kFinalizer) + std::string(kFinalizer)),
              HasSubstr("spec.criteria[1] repeats spec.criteria[0]"));
}

TEST(ParseCriticalService, ACriterionThatWaitsForTheProviderItselfIsAnError) {
  const auto specific = [](const std::string& fields) {
    return complaintsOfCriteria("  - {type: SpecificResource, specificResource: {" + fields + "}}\n");
  };
  EXPECT_THAT(specific("group: apps, resource: deployments, namespace: n, name: d"),
              HasSubstr("is the provider itself"));
  EXPECT_THAT(specific("resource: namespaces, name: n"), HasSubstr("is the namespace of the provider"));
  EXPECT_THAT(specific("group: lastout.dev, resource: criticalservices, name: x"),
              HasSubstr("is this CriticalService"));
  EXPECT_THAT(specific("group: apiextensions.k8s.io, resource: customresourcedefinitions, name: "
                       "criticalservices.lastout.dev"),
              HasSubstr("is the CRD of CriticalServices"));
  EXPECT_EQ(specific("resource: namespaces, name: other"), "");
}

TEST(ParseCriticalService, OtherVersionsAndIntentsAreErrors) {
  EXPECT_THAT(complaints("apiVersion: lastout.dev/v1\nkind: CriticalService\nmetadata: {name: x}\n" +
                         std::string(kProvider) + "  criteria:\n" + std::string(kFinalizer)),
              HasSubstr("apiVersion must be lastout.dev/v1alpha1"));
  EXPECT_THAT(complaints(std::string(kHead) + std::string(kProvider) +
                         "  deletionIntent: Orphan\n  criteria:\n" + std::string(kFinalizer)),
              HasSubstr("spec.deletionIntent must be one of Ordered, BestEffortDeletion, OrphanResources"));
}

TEST(ParseCriticalService, TheFormerNameOfAFieldCountsWhereTheFieldIsNotGiven) {
  const auto read = [](const std::string& fields) {
    return parseText(std::string(kHead) + std::string(kProvider) + fields + "  criteria:\n" +
                     std::string(kFinalizer));
  };
  EXPECT_EQ(read("")->deferral, DeferralMode::Controllers);
  EXPECT_FALSE(read("  deferredDeletions: Never\n")->hasFormerReplay);
  EXPECT_EQ(read("  replay: Always\n")->deferral, DeferralMode::Always);
  EXPECT_TRUE(read("  replay: Always\n")->hasFormerReplay);
  EXPECT_EQ(read("  replay: Always\n  deferredDeletions: Never\n")->deferral, DeferralMode::Never);
  EXPECT_THAT(complaints(std::string(kHead) + std::string(kProvider) + "  replay: Sometimes\n  criteria:\n" +
                         std::string(kFinalizer)),
              HasSubstr("spec.replay must be one of Controllers, Always, Never"));
}

TEST(ParseCriticalService, OfTheStatusOnlyTheProvidersUidIsRead) {
  const auto parsed =
      parseText(std::string(kHead) + std::string(kProvider) + "  criteria:\n" + std::string(kFinalizer) +
                "status: {provider: {uid: u1, ready: 2}, conditions: [], newer: {}}\n");
  ASSERT_TRUE(parsed) << testing::lines(parsed.error());
  EXPECT_EQ(parsed->providerUid, "u1");
}

// --- spec.guard.dependencies

std::string withDependencies(const std::string& dependencies) {
  return std::string(kHead) + std::string(kProvider) +
         "  criteria: [{type: SpecificResource, specificResource: {resource: secrets, namespace: n, name: "
         "awaited}}]\n  guard: {dependencies: " +
         dependencies + "}\n";
}

TEST(ParseCriticalService, ReadsDependencies) {
  const auto read = [](const std::string& dependencies) {
    return parseText(withDependencies(dependencies))->dependencies;
  };
  EXPECT_EQ(read("Auto"), DependencySpec{});
  EXPECT_EQ(read("None"), (DependencySpec{DependencyMode::None, {}}));
  EXPECT_EQ(read("[{resource: secrets, namespace: n, name: a}]"),
            (DependencySpec{DependencyMode::Listed, {{{"", "secrets"}, "n", "a"}}}));
  EXPECT_EQ(read("[]"), (DependencySpec{DependencyMode::Listed, {}}));
}

TEST(ParseCriticalService, WritesDependenciesAsItReadsThem) {
  for (const char* dependencies : {"Auto", "None", "[]", "[{resource: secrets, namespace: n, name: a}]"}) {
    const auto service = parseText(withDependencies(dependencies));
    ASSERT_TRUE(service) << dependencies;
    const kube::ResourceMap& types = kube::ResourceMap::builtIn();
    const auto object = kube::parseObject(toManifest(*service), "", types);
    ASSERT_TRUE(object);
    const auto again = parse(*object, types);
    ASSERT_TRUE(again) << testing::lines(again.error());
    EXPECT_EQ(again->dependencies, service->dependencies) << dependencies;
  }
}

// It goes after the provider unless it carries that finalizer.
TEST(ParseCriticalService, ADependencyMayBeOfACriterionsType) {
  EXPECT_EQ(
      complaints(std::string(kHead) + std::string(kProvider) +
                 "  criteria: [{type: Finalizer, finalizer: {resource: secrets, finalizerName: f.x/y}}]\n"
                 "  guard: {dependencies: [{resource: secrets, namespace: n, name: a}]}\n"),
      "");
}

TEST(ParseCriticalService, RefusesDependenciesThatCannotBe) {
  EXPECT_THAT(complaints(withDependencies("auto")), HasSubstr("spec.guard.dependencies"));
  EXPECT_THAT(complaints(withDependencies("7")),
              HasSubstr("spec.guard.dependencies must be Auto, None, or a list"));
  EXPECT_THAT(complaints(withDependencies("[{resource: secrets, name: a}]")),
              HasSubstr("spec.guard.dependencies[0].namespace is missing"));
  EXPECT_THAT(complaints(withDependencies("[{group: apps, resource: deployments, namespace: n, name: d}]")),
              HasSubstr("is the provider itself"));
  EXPECT_THAT(complaints(withDependencies("[{resource: secrets, namespace: n, name: awaited}]")),
              HasSubstr("cannot go after the provider"));
  EXPECT_THAT(complaints(withDependencies("[{resource: namespaces, name: n}]")),
              HasSubstr("is guarded anyway"));
  EXPECT_THAT(complaints(withDependencies("[{group: admissionregistration.k8s.io, resource: "
                                          "validatingwebhookconfigurations, name: w}]")),
              HasSubstr("asks no webhook"));
  EXPECT_THAT(complaints(withDependencies("[{resource: pods, namespace: n, name: a}]")),
              HasSubstr("spec.guard.dependencies[0]: pods/n/a cannot be listed"));
  std::string many;
  for (int i = 0; i < 65; ++i)
    many += "{resource: secrets, namespace: n, name: s" + std::to_string(i) + "}, ";
  EXPECT_THAT(complaints(withDependencies("[" + many + "]")), HasSubstr("more than 64 entries"));
}

// What was written before its type was refused guards as it did.
TEST(ParseCriticalService, DependenciesThatStandAreKept) {
  const auto standing =
      parseStanding(testing::object(withDependencies("[{resource: pods, namespace: n, name: a}]")));
  ASSERT_TRUE(standing);
  EXPECT_TRUE(standing->notUnderstood.empty());
  EXPECT_EQ(standing->dependencies.listed, (std::vector<kube::ObjectKey>{{{"", "pods"}, "n", "a"}}));
}

}  // namespace
}  // namespace lastout::criticalservice
