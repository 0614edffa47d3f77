// How well types are known: what is believed, for how long, and of what it is never said that it is gone.
#include "server/watch/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "client/metadata_stream.h"
#include "criticalservice/critical_service.h"
#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using Told = client::SyncStatus;
using Known = graph::Knowledge;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const kube::GroupResource kServices{"lastout.dev", "criticalservices"};
const kube::GroupResource kThings{"example.com", "things"};
const kube::GroupResource kDeployments{"apps", "deployments"};

class LiveViewTest : public ::testing::Test {
 public:
  LiveViewTest() { know(kube::kCustomResourceDefinitions, Told::State::Synced); }

  void know(const kube::GroupResource& type, Told::State state) {
    view.know(type, {state, true, now, ""}, now);
  }
  // These types are served, and the groups of `gaps` could not be asked.
  void discover(std::initializer_list<kube::GroupResource> types,
                std::initializer_list<const char*> gaps = {}, bool isNotFound = false) {
    client::Discovery found;
    found.types = kube::ResourceMap::builtIn();
    for (const kube::GroupResource& type : types) {
      client::DiscoveredType served;
      served.type.type = type;
      served.canGet = served.canList = served.canWatch = true;
      if (found.types.find(type) == nullptr) found.types.add(served.type);
      found.served.emplace(type, served);
    }
    for (const char* group : gaps) found.gaps.push_back({group, "", "it is away", isNotFound});
    view.discovered(std::move(found), now);
  }
  void define(const kube::GroupResource& type) {
    client::StreamedObject definition;
    definition.meta.name = kube::crdName(type);
    definition.meta.uid = "u";
    view.upsert({kube::kCustomResourceDefinitions, "CustomResourceDefinition", "v1", "", {}, false, true},
                definition, now);
  }
  void undefine(const kube::GroupResource& type) {
    view.remove(kube::kCustomResourceDefinitions, {"", kube::crdName(type), "u"});
  }
  Known standing(const kube::GroupResource& type) {
    view.tick(now);
    return view.knowledge(type);
  }

  LiveView view{{.ownNamespace = "", .allowedAge = seconds(30)}};
  TimePoint now = TimePoint(seconds(1'000));
};

TEST_F(LiveViewTest, ABrokenWatchIsBelievedForAWhile) {
  know(kServices, Told::State::Stale);
  EXPECT_EQ(standing(kServices), Known::Synced);
  now += seconds(30);
  EXPECT_EQ(standing(kServices), Known::Synced);
  now += seconds(1);
  EXPECT_EQ(standing(kServices), Known::Stale);
}

// Nobody has to wait for the clock to be looked at.
TEST_F(LiveViewTest, AVerdictIsOfItsOwnMoment) {
  know(kServices, Told::State::Stale);
  EXPECT_TRUE(view.judge({kDeployments, "default", "d"}, now).verdict.allowed);
  now += seconds(31);
  const admission::PreliminaryVerdict judged = view.judge({kDeployments, "default", "d"}, now);
  EXPECT_FALSE(judged.verdict.allowed);
  EXPECT_EQ(judged.verdict.reason, admission::Reason::ServicesUnknown);
}

TEST_F(LiveViewTest, WhatWasNeverListedIsNotKnown) {
  view.know(kServices, {Told::State::Stale, false, now, "cut off"}, now);
  EXPECT_EQ(standing(kServices), Known::Unknown);
  know(kServices, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Forbidden);
}

TEST_F(LiveViewTest, ATypeWithoutItsCrdIsAbsent) {
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Unknown) << "nobody has asked what is served";
  discover({});
  EXPECT_EQ(standing(kServices), Known::Absent);
  define(kServices);
  EXPECT_EQ(standing(kServices), Known::Unserved);
  EXPECT_THAT(view.awaited(), Contains(kServices));
  undefine(kServices);
  EXPECT_EQ(standing(kServices), Known::Absent);
  EXPECT_THAT(view.awaited(), Not(Contains(kServices)));
  know(kube::kCustomResourceDefinitions, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Unserved);
}

// API servers answer 403 before 404, so a role that goes with the CRD hides that the type is gone.
TEST_F(LiveViewTest, ATypeWhoseCrdIsGoneIsAbsentWhateverReadingItAnswers) {
  define(kServices);
  discover({kServices});
  know(kServices, Told::State::Synced);
  know(kServices, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Forbidden);
  undefine(kServices);
  EXPECT_EQ(standing(kServices), Known::Forbidden) << "discovery names it: it may be served in another way";
  EXPECT_THAT(view.awaited(), Contains(kServices)) << "soon discovery does not";
  discover({});
  EXPECT_THAT(view.awaited(), Not(Contains(kServices)));
  for (const Told::State state : {Told::State::Forbidden, Told::State::Stale, Told::State::NeverSynced}) {
    know(kServices, state);
    EXPECT_EQ(standing(kServices), Known::Absent);
  }
  discover({}, {"lastout.dev"});
  know(kServices, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Forbidden) << "what its group serves is not known";
  discover({}, {"lastout.dev"}, true);
  EXPECT_EQ(standing(kServices), Known::Absent) << "its group is named for a moment, and nobody serves it";
  EXPECT_TRUE(view.wasDefined(kServices));
}

TEST_F(LiveViewTest, ATypeThatNeverHadACrdMayBeAwayWhereItsPathAnswers404) {
  discover({kServices});
  know(kServices, Told::State::Synced);
  know(kServices, Told::State::NotServed);
  discover({}, {"lastout.dev"}, true);
  EXPECT_EQ(standing(kServices), Known::Unserved);
  EXPECT_FALSE(view.wasDefined(kServices));
}

TEST_F(LiveViewTest, ATypeThatNeverHadACrdStaysForbidden) {
  discover({});
  know(kServices, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Forbidden);
  EXPECT_THAT(view.awaited(), Not(Contains(kServices)));
}

TEST_F(LiveViewTest, AnUnreadableCrdListProvesNothing) {
  define(kServices);
  discover({});
  know(kServices, Told::State::Forbidden);
  undefine(kServices);
  EXPECT_EQ(standing(kServices), Known::Absent);
  know(kube::kCustomResourceDefinitions, Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Forbidden);
}

// For about a second after its CRD's end discovery still names a type, and its path answers 404.
TEST_F(LiveViewTest, ATypeThatIsNotServedWithoutItsCrdIsAbsentBeforeDiscoverySaysSo) {
  define(kServices);
  discover({kServices});
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Unknown) << "its CRD is there";
  undefine(kServices);
  EXPECT_EQ(standing(kServices), Known::Absent);
  EXPECT_THAT(view.awaited(), Contains(kServices)) << "what discovery names is found out again soon";
  define(kServices);
  EXPECT_EQ(standing(kServices), Known::Unknown) << "it was created once more";
}

// An API server behind the API server may serve it instead.
TEST_F(LiveViewTest, ATypeThatCanBeReadIsThereWithoutItsCrd) {
  define(kServices);
  discover({kServices});
  know(kServices, Told::State::Synced);
  undefine(kServices);
  EXPECT_EQ(standing(kServices), Known::Synced);
  EXPECT_THAT(view.awaited(), Not(Contains(kServices)));
}

TEST_F(LiveViewTest, AGroupThatCannotBeAskedProvesNothing) {
  know(kServices, Told::State::NotServed);
  discover({}, {"lastout.dev"});
  EXPECT_EQ(standing(kServices), Known::Unserved);
  EXPECT_THAT(view.awaited(), Contains(kServices)) << "it is asked for again soon";
}

TEST_F(LiveViewTest, WhatIsServedWaitsForItsList) {
  discover({kServices});
  EXPECT_EQ(standing(kServices), Known::Unknown);
  know(kServices, Told::State::Synced);
  EXPECT_EQ(standing(kServices), Known::Synced);
}

// As a lastout that has just started is told of it: what guards is not what was once understood.
TEST(LiveViewNotUnderstood, WhatCannotBeUnderstoodGuardsItsProvider) {
  std::string logged;
  LiveView view({.ownNamespace = "", .log = [&](Level, const std::string& line) { logged += line + "\n"; }});
  const TimePoint now = TimePoint(seconds(1'000));
  view.know(kServices, {Told::State::Synced, true, now, ""}, now);
  view.know(kDeployments, {Told::State::Synced, true, now, ""}, now);
  const kube::ObjectKey provider{kDeployments, "n", "d"};
  const auto tell = [&](const std::string& rest) {
    auto object =
        client::decodeObject(R"({"metadata":{"name":"s","uid":"s"},"spec":{"provider":)"
                             R"({"group":"apps","resource":"deployments","namespace":"n","name":"d"},)" +
                                 rest + "}}",
                             client::Content::Whole);
    ASSERT_TRUE(object) << object.error().message;
    view.upsert(*kube::ResourceMap::builtIn().find(kServices), std::move(*object), now);
  };
  client::StreamedObject deployment;
  deployment.meta.namespaceName = "n";
  deployment.meta.name = "d";
  deployment.meta.uid = "d";
  view.upsert(*kube::ResourceMap::builtIn().find(kDeployments), std::move(deployment), now);
  tell(R"("criteria":[{"type":"Unheard"}])");
  EXPECT_THAT(logged, HasSubstr("criticalservices.lastout.dev/s cannot be understood, and its provider stays "
                                "until it can be: spec.criteria[0].type must be one of"));
  const std::string saidOnce = logged;
  tell(R"("criteria":[{"type":"Unheard"}])");
  EXPECT_EQ(logged, saidOnce) << "its status has changed, and nothing else";
  admission::PreliminaryVerdict judged = view.judge(provider, now);
  EXPECT_FALSE(judged.verdict.allowed);
  EXPECT_EQ(judged.verdict.reason, admission::Reason::CriterionUnknown);
  EXPECT_THAT(
      judged.explanation.message,
      HasSubstr("it is not understood what criticalservices.lastout.dev/s asks for (spec.criteria[0].type "
                "must be one of Finalizer, SpecificResource, Reference, not \"Unheard\")"));
  EXPECT_THAT(judged.explanation.message, HasSubstr("set spec.deletionIntent of the CriticalService to "
                                                    "OrphanResources"));
  EXPECT_FALSE(view.judge({{"", "namespaces"}, "", "n"}, now).verdict.allowed);
  tell(R"("deletionIntent":"OrphanResources","criteria":[{"type":"Unheard"}])");
  EXPECT_TRUE(view.judge(provider, now).verdict.allowed) << "its owner can always give it up";
  tell(R"("deletionIntent":"BestEffortDeletion","criteria":[{"type":"Unheard"}])");
  EXPECT_FALSE(view.judge(provider, now).verdict.allowed);
  EXPECT_TRUE(view.judge({kServices, "", "s"}, now).verdict.allowed);
}

// A CriticalService that was accepted before anything of what it names was there.
class UnderstoodTest : public LiveViewTest {
 public:
  UnderstoodTest() {
    know(kServices, Told::State::Synced);
    know(kDeployments, Told::State::Synced);
    know({"", "namespaces"}, Told::State::Synced);
  }
  static std::string onThings(const std::string& resource, const std::string& group = "example.com",
                              const std::string& more = "") {
    return R"({"type":"Finalizer",)" + more + R"("finalizer":{"group":")" + group + R"(","resource":")" +
           resource + R"(","finalizerName":"example.com/f"}})";
  }
  static std::string onObject(const std::string& fields) {
    return R"({"type":"SpecificResource","specificResource":{)" + fields + "}}";
  }
  static std::string onCrd(const std::string& name) {
    return onObject(R"("group":"apiextensions.k8s.io","resource":"CustomResourceDefinition","name":")" +
                    name + "\"");
  }
  void tell(const std::string& criteria, const std::string& status = "{}") { tellTo(view, criteria, status); }
  void tellTo(LiveView& told, const std::string& criteria, const std::string& status) const {
    auto object = client::decodeObject(
        R"({"metadata":{"name":"s","uid":"s"},"spec":{"provider":{"group":"apps","resource":"deployments",)"
        R"("namespace":"n","name":"d"},"guard":{"dependencies":"None"},"criteria":[)" +
            criteria + R"(]},"status":)" + status + "}",
        client::Content::Whole);
    ASSERT_TRUE(object) << object.error().message;
    told.upsert(*kube::ResourceMap::builtIn().find(kServices), std::move(*object), now);
  }
  // The words of the denial; empty: it may go.
  std::string denial() {
    view.tick(now);
    return view.judge({kDeployments, "n", "d"}, now).explanation.message;
  }
  std::set<kube::GroupResource> seen() {
    std::set<kube::GroupResource> seen;
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      seen = cluster.service("s")->seenTypes;
    });
    return seen;
  }
};

TEST_F(UnderstoodTest, AResourceThatItsGroupDoesNotHave) {
  discover({kDeployments});
  tell(onThings("thing"));
  define(kThings);
  EXPECT_THAT(denial(),
              HasSubstr("it is not understood what finalizer example.com/f on thing.example.com asks "
                        "for (there is no type \"thing\" in group \"example.com\"; did you mean "
                        "\"things.example.com\"?)"));
  discover({kDeployments, kThings});
  EXPECT_THAT(denial(), HasSubstr("did you mean \"things.example.com\"?"));
  tell(onThings("thing", "example.com", R"("ifNotInstalled":"Met",)"));
  EXPECT_THAT(denial(), HasSubstr("there is no type \"thing\"")) << "that is not what Met is for";
  tell(onThings("things"));
  EXPECT_THAT(denial(), HasSubstr("things.example.com have not been listed yet"));
  know(kThings, Told::State::Synced);
  EXPECT_EQ(denial(), "");
}

TEST_F(UnderstoodTest, ATypeThatWasNeverThere) {
  discover({kDeployments, {"example.com", "others"}});
  tell(onThings("others", "exmaple.com"));
  EXPECT_THAT(denial(), HasSubstr("never seen: others.exmaple.com are not installed; did you mean "
                                  "\"others.example.com\"?"));
  tell(onThings("others", "exmaple.com", R"("ifNotInstalled":"Met",)"));
  EXPECT_EQ(denial(), "");
  tell(onThings("others", "exmaple.com", R"("ifNotInstalled":"Unknown",)"));
  EXPECT_NE(denial(), "");
}

// Each type is known or unknown by itself, and one that is not keeps the criterion unmet.
TEST_F(UnderstoodTest, AGroupIsKnownOnceEachOfItsTypesIs) {
  const kube::GroupResource others{"example.com", "others"};
  tell(onThings("*"));
  EXPECT_THAT(denial(),
              HasSubstr("it is not known whether any *.example.com has finalizer example.com/f (not all "
                        "types of the group are known yet)"));
  discover({kDeployments, kThings, others});
  EXPECT_THAT(denial(), HasSubstr("others.example.com have not been listed yet"));
  know(others, Told::State::Synced);
  EXPECT_THAT(denial(), HasSubstr("things.example.com have not been listed yet"));
  know(kThings, Told::State::Forbidden);
  EXPECT_THAT(denial(), HasSubstr("lastout is not allowed to list things.example.com"));
  know(kThings, Told::State::Synced);
  EXPECT_EQ(denial(), "");
  EXPECT_THAT(view.wanted(), ::testing::IsSupersetOf({kThings, others}));
  EXPECT_THAT(view.wanted(), Not(Contains(kube::GroupResource{"example.com", "*"})));
  discover({kDeployments, kThings, others}, {"example.com"});
  EXPECT_THAT(denial(), HasSubstr("not all types of the group are known yet"));
}

TEST_F(UnderstoodTest, ATypeThatAppearsInAGroupIsUnknownAtOnce) {
  discover({kDeployments, kThings});
  know(kThings, Told::State::Synced);
  tell(onThings("*"));
  EXPECT_EQ(denial(), "");
  const kube::GroupResource late{"example.com", "late"};
  define({"example.org", "late"});
  EXPECT_EQ(denial(), "") << "it is of another group";
  define(late);
  EXPECT_THAT(denial(),
              HasSubstr("the API server does not serve late.example.com, although their CRD is there"));
  EXPECT_THAT(view.wanted(), Contains(late));
  discover({kDeployments, kThings, late});
  EXPECT_THAT(denial(), HasSubstr("late.example.com have not been listed yet, although their CRD is there"));
  know(late, Told::State::Synced);
  EXPECT_EQ(denial(), "");
  know(late, Told::State::NotServed);
  undefine(late);
  discover({kDeployments, kThings});
  EXPECT_EQ(denial(), "") << "nothing of it is left";
  view.forget(late, now);
  EXPECT_EQ(denial(), "");
  EXPECT_THAT(view.wanted(), Not(Contains(late)));
}

TEST_F(UnderstoodTest, AGroupMayBeAllBelowADomain) {
  const kube::GroupResource below{"sub.example.com", "parts"};
  discover({kDeployments, kThings, below});
  tell(onThings("*", "*.example.com"));
  EXPECT_THAT(denial(), HasSubstr("parts.sub.example.com have not been listed yet"));
  know(below, Told::State::Synced);
  EXPECT_EQ(denial(), "") << "example.com itself is not meant";
  discover({kDeployments, kThings, below}, {"other.example.com"});
  EXPECT_THAT(denial(), HasSubstr("not all types of the group are known yet"));
  discover({kDeployments, kThings, below}, {"example.com"});
  EXPECT_EQ(denial(), "");
}

TEST_F(UnderstoodTest, AGroupOfWhichNothingWasEverThere) {
  discover({kDeployments, kThings});
  tell(onThings("*", "exmaple.com"));
  EXPECT_THAT(denial(),
              HasSubstr("never seen: *.exmaple.com are not installed; did you mean \"example.com\"?"));
  tell(onThings("*", "exmaple.com", R"("ifNotInstalled":"Met",)"));
  EXPECT_EQ(denial(), "");
  tell(onThings("*", "exmaple.com"), R"({"seenTypes":["*.exmaple.com"]})");
  EXPECT_EQ(denial(), "") << "it was, once";
}

// A process that starts in the second in which discovery still names a type whose CRD is gone.
TEST_F(UnderstoodTest, ATypeOfAGroupThatAStatusRemembersIsNotTakenForAnAggregatedOne) {
  define(kThings);
  discover({kDeployments, kThings});
  tell(onThings("*"));
  EXPECT_EQ(seen(), (std::set{kThings, kube::GroupResource{"example.com", "*"}}));
  LiveView next{{.ownNamespace = "", .allowedAge = seconds(30)}};
  for (const kube::GroupResource& type :
       {kube::kCustomResourceDefinitions, kServices, kDeployments, kube::kNamespaces})
    next.know(type, {Told::State::Synced, true, now, ""}, now);
  tellTo(next, onThings("*"), R"({"seenTypes":["*.example.com","things.example.com"]})");
  client::Discovery late;
  late.types = kube::ResourceMap::builtIn();
  client::DiscoveredType served;
  served.type.type = kThings;
  served.canGet = served.canList = served.canWatch = true;
  late.types.add(served.type);
  late.served.emplace(kThings, served);
  next.discovered(late, now);
  next.know(kThings, {Told::State::NotServed, true, now, ""}, now);
  late.served.clear();
  late.types = kube::ResourceMap::builtIn();
  next.discovered(late, now);
  EXPECT_EQ(next.judge({kDeployments, "n", "d"}, now).explanation.message, "");
}

TEST_F(UnderstoodTest, ATypeOfAGroupThatHasNoObjectsIsPassedOver) {
  client::Discovery found;
  found.types = kube::ResourceMap::builtIn();
  client::DiscoveredType reviews;
  reviews.type.type = {"example.com", "reviews"};
  found.types.add(reviews.type);
  found.served.emplace(reviews.type.type, reviews);
  view.discovered(std::move(found), now);
  tell(onThings("*"));
  EXPECT_EQ(denial(), "");
}

TEST_F(UnderstoodTest, ATypeThatWasThereIsAbsentWithoutItsCrd) {
  discover({kDeployments});
  tell(onThings("things"));
  EXPECT_NE(denial(), "");
  EXPECT_TRUE(seen().empty());
  define(kThings);
  EXPECT_NE(denial(), "") << "its CRD is there, and nobody has listed it";
  EXPECT_EQ(seen(), std::set{kThings});
  define({"example.com", "others"});
  undefine(kThings);
  EXPECT_EQ(denial(), "") << "of the same group another is there still";
  EXPECT_EQ(seen(), std::set{kThings}) << "to be remembered";
}

TEST_F(UnderstoodTest, WhatTheStatusRemembersWasThere) {
  discover({kDeployments, {"example.com", "others"}});
  tell(onThings("things"));
  EXPECT_NE(denial(), "");
  tell(onThings("things"), R"({"seenTypes":["things.example.com",7,"No/Name"]})");
  EXPECT_EQ(denial(), "");
  EXPECT_EQ(seen(), std::set{kThings});
  define({"example.com", "others"});
  tell(onThings("others"), R"({"seenTypes":["things.example.com"]})");
  EXPECT_EQ(seen(), (std::set<kube::GroupResource>{{"example.com", "others"}})) << "no criterion names it";
}

// A lastout that has just started.
class RestartedView : public UnderstoodTest {
  void TestBody() override {}
};

// An API server behind the API server has served it. What it holds is there while its APIService is not.
TEST_F(UnderstoodTest, ATypeThatWasServedWithoutACrdIsNotTakenForGone) {
  discover({kDeployments, kThings});
  tell(onThings("things"));
  know(kThings, Told::State::Synced);
  EXPECT_EQ(denial(), "");
  EXPECT_TRUE(seen().empty()) << "nothing is to be remembered of it";
  know(kThings, Told::State::NotServed);
  discover({kDeployments});
  EXPECT_THAT(denial(), HasSubstr("the API server does not serve things.example.com"));

  RestartedView restarted;
  restarted.discover({kDeployments});
  restarted.tell(onThings("things"), R"({"seenTypes":[]})");
  restarted.know(kThings, Told::State::NotServed);
  EXPECT_THAT(restarted.denial(), HasSubstr("things.example.com are not installed"));
  restarted.discover({kDeployments, kThings});
  restarted.know(kThings, Told::State::Synced);
  EXPECT_EQ(restarted.denial(), "");
}

// For about a second discovery still names it: who starts then must not take it for one without a CRD.
TEST_F(UnderstoodTest, ATypeThatAStatusRemembersIsAbsentAlthoughDiscoveryNamesItStill) {
  discover({kDeployments, kThings});
  tell(onThings("things"), R"({"seenTypes":["things.example.com"]})");
  know(kThings, Told::State::NotServed);
  EXPECT_EQ(denial(), "");
  EXPECT_THAT(view.awaited(), Contains(kThings)) << "soon discovery does not";
  discover({kDeployments});
  EXPECT_EQ(denial(), "");

  RestartedView forgetful;
  forgetful.discover({kDeployments, kThings});
  forgetful.tell(onThings("things"));
  forgetful.know(kThings, Told::State::NotServed);
  forgetful.discover({kDeployments});
  EXPECT_THAT(forgetful.denial(), HasSubstr("the API server does not serve things.example.com"));
}

TEST_F(UnderstoodTest, AGapInDiscoveryMakesNoSlipBelievable) {
  define(kThings);
  discover({kDeployments, kThings});
  know(kThings, Told::State::Synced);
  tell(onObject(R"("group":"example.com","resource":"things","name":"t")"));
  EXPECT_THAT(denial(), HasSubstr("the namespace is missing"));
  discover({kDeployments}, {"example.com"});
  EXPECT_THAT(denial(), HasSubstr("the namespace is missing"));
  tell(onCrd("thing.example.com"));
  EXPECT_THAT(denial(), HasSubstr("there is no CRD \"thing.example.com\""));
}

TEST_F(UnderstoodTest, AScopeThatDoesNotFit) {
  discover({kDeployments});
  tell(onObject(R"("group":"example.com","resource":"things","name":"t")"),
       R"({"seenTypes":["things.example.com"]})");
  EXPECT_EQ(denial(), "");
  discover({kDeployments, kThings});
  know(kThings, Told::State::Synced);
  EXPECT_THAT(denial(), HasSubstr("(things.example.com are namespaced: the namespace is missing)"));
  tell(onObject(R"("group":"example.com","resource":"things","namespace":"n","name":"t")"));
  EXPECT_EQ(denial(), "");
  tell(onObject(R"("resource":"namespaces","namespace":"n","name":"t")"));
  EXPECT_THAT(denial(), HasSubstr("(namespaces are cluster-scoped: leave the namespace out)"));
}

// Each is in doubt by itself, and is so no longer once its type turns out to have that scope.
TEST_F(UnderstoodTest, AProviderOrListedDependencyWhoseScopeDoesNotFit) {
  const kube::ObjectKey inNamespace{kThings, "n", "t"};
  const kube::ObjectKey inNone{kThings, "", "t"};
  const kube::ObjectKey secret{{"", "secrets"}, "n", "s"};
  const auto doubts = [this](const kube::ObjectKey& provider, std::vector<kube::ObjectKey> listed) {
    criticalservice::CriticalService service;
    service.meta.name = "s";
    service.provider = provider;
    service.dependencies = {criticalservice::DependencyMode::Listed, std::move(listed)};
    view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
      service = cluster.understood(service);
    });
    std::string all = service.providerDoubt;
    for (const auto& [place, doubt] : service.dependencyDoubts) all += std::to_string(place) + ": " + doubt;
    return all;
  };
  discover({kDeployments});
  EXPECT_EQ(doubts(inNone, {inNone}), "") << "no CRD has told";
  discover({kDeployments, kThings});
  EXPECT_EQ(doubts(inNamespace, {secret, inNamespace}), "");
  EXPECT_EQ(doubts(inNone, {secret, inNamespace}),
            "things.example.com are namespaced: the namespace is missing");
  EXPECT_EQ(doubts(inNamespace, {secret, inNone}),
            "1: things.example.com are namespaced: the namespace is missing");
}

TEST_F(UnderstoodTest, TheNameOfACrd) {
  discover({kDeployments});
  tell(onCrd("things.example.com"));
  EXPECT_THAT(denial(), HasSubstr("(never seen: CRD \"things.example.com\" is not installed)"));
  define(kThings);
  EXPECT_THAT(denial(),
              HasSubstr("customresourcedefinitions.apiextensions.k8s.io/things.example.com exists"));
  define({"example.com", "others"});
  undefine(kThings);
  EXPECT_EQ(denial(), "") << "it was there, and is gone";
  tell(onCrd("other.example.com"));
  EXPECT_THAT(denial(), HasSubstr("(there is no CRD \"other.example.com\"; did you mean "
                                  "\"others.example.com\"?)"));
  tell(onCrd("others"));
  EXPECT_THAT(denial(), HasSubstr("no CRD is called \"others\""));
}

// While it is not known which types there are, no list and no CRD is believed either.
TEST_F(UnderstoodTest, NothingIsBelievedWhereTypesAreNotKnown) {
  tell(onThings("things"));
  EXPECT_NE(denial(), "") << "nobody has asked what is served";
  discover({kDeployments}, {"example.com"});
  EXPECT_THAT(denial(), HasSubstr("the API server does not serve things.example.com"));
  discover({kDeployments});
  know(kube::kCustomResourceDefinitions, Told::State::Forbidden);
  EXPECT_NE(denial(), "");
}

TEST(LiveViewHeld, AFinalizerCountsOnceItIsOlderThanAnyRequest) {
  LiveView view({.ownNamespace = "", .holdsAfter = seconds(65)});
  const kube::ResourceType deployments = *kube::ResourceMap::builtIn().find({"apps", "deployments"});
  const kube::ObjectKey provider{deployments.type, "n", "d"};
  const TimePoint start{};
  const auto tell = [&](const std::string& uid, bool isHeld, TimePoint at) {
    client::StreamedObject object;
    object.meta.namespaceName = "n";
    object.meta.name = "d";
    object.meta.uid = uid;
    object.meta.finalizers = {"example.com/other"};
    if (isHeld) object.meta.finalizers.emplace_back(kube::kCriteriaFinalizer);
    view.upsert(deployments, std::move(object), at);
  };
  tell("u", false, start);
  EXPECT_FALSE(view.isHeldBy(provider, "u", start + seconds(100)));
  tell("u", true, start + seconds(10));
  tell("u", true, start + seconds(50));  // something else has changed
  EXPECT_FALSE(view.isHeldBy(provider, "u", start + seconds(74)));
  EXPECT_TRUE(view.isHeldBy(provider, "u", start + seconds(75)));
  EXPECT_FALSE(view.isHeldBy(provider, "another", start + seconds(75)));
  tell("another", true, start + seconds(80));
  EXPECT_FALSE(view.isHeldBy(provider, "another", start + seconds(81))) << "made anew with it";
  EXPECT_TRUE(view.isHeldBy(provider, "another", start + seconds(145)));
  tell("another", false, start + seconds(150));
  tell("another", true, start + seconds(151));
  EXPECT_FALSE(view.isHeldBy(provider, "another", start + seconds(152))) << "it was gone for a moment";
  view.forget(deployments.type, start + seconds(300));
  EXPECT_FALSE(view.isHeldBy(provider, "another", start + seconds(300)));
}

TEST(LiveViewLog, TellsOfWhatCannotBeUnderstood) {
  std::vector<std::string> lines;
  LiveView view({.ownNamespace = "",
                 .allowedAge = seconds(30),
                 .log = [&lines](Level /*level*/, const std::string& line) { lines.push_back(line); }});
  const kube::ResourceType services{
      criticalservice::criticalServiceType(), "CriticalService", "v1alpha1", "", {}, false, false};
  const auto tell = [&](const std::string& criteria, const std::string& group = "apps") {
    const auto object = client::decodeObject(
        R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService","metadata":{"name":"s","uid":"u"},"spec":)"
        R"({"provider":{"group":")" +
            group + R"(","resource":"deployments","namespace":"n","name":"d"},"criteria":)" + criteria + "}}",
        client::Content::Whole);
    ASSERT_TRUE(object) << toString(object.error());
    view.upsert(services, *object, {});
  };
  const std::string criteria =
      R"([{"type":"SpecificResource","specificResource":{"resource":"nodes","name":"x"}}])";
  tell(criteria, "apps/v1");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("guards nothing: spec.provider.group is written without a version"));
  tell(criteria);
  EXPECT_EQ(lines.size(), 1U);
  tell(criteria, "apps/v1");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("guards what it guarded before"));
  tell("[]");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[2], HasSubstr("its provider stays until it can be: spec.criteria is empty"));
}

// A type of an API server behind the API server has no CRD. When it vanishes, its objects need not.
TEST_F(LiveViewTest, AnAggregatedTypeIsAwayAndNotGone) {
  discover({kServices});
  discover({});
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Unserved);
}

// Discovery may be told of a type before the watch of the CRDs is.
TEST_F(LiveViewTest, ATypeWhoseCrdCameLaterIsNoAggregatedOne) {
  discover({kServices});
  define(kServices);
  undefine(kServices);
  discover({});
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Absent);
}

TEST_F(LiveViewTest, CrdsThatCameAndWentAreForgotten) {
  discover({});
  const size_t before = view.remembered();
  for (int i = 0; i < 100; ++i) {
    const kube::GroupResource type{"example.com", "things" + std::to_string(i)};
    if (i % 2 == 0) discover({type});  // before the watch of the CRDs tells
    define(type);
    discover({type});
    undefine(type);
    discover({});
  }
  EXPECT_EQ(view.remembered(), before);
}

TEST_F(LiveViewTest, WhatNobodyWatchesAnyMoreIsForgotten) {
  know(kube::GroupResource{"", "namespaces"}, Told::State::Synced);
  define(kThings);
  EXPECT_TRUE(view.isReady() == false);
  view.forget(kube::kCustomResourceDefinitions, now);
  EXPECT_EQ(view.knowledge(kube::kCustomResourceDefinitions), Known::Unknown);
  discover({});
  know(kube::kCustomResourceDefinitions, Told::State::Synced);
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Absent);
  view.forget(kServices, now);
  EXPECT_EQ(view.knowledge(kServices), Known::Absent) << "nothing changes that is known without a watch";
  EXPECT_TRUE(view.isReady());
}

// --- what providers need

class NeedsTest : public LiveViewTest {
 public:
  NeedsTest() {
    discover({kServices, kDeployments, bindings});
    know({"", "namespaces"}, Told::State::Synced);
  }
  void knowServices() { know(kServices, Told::State::Synced); }
  void tell(const kube::ResourceType& type, const std::string& json, client::Content content) {
    const auto object = client::decodeObject(json, content);
    ASSERT_TRUE(object) << toString(object.error());
    view.upsert(type, *object, now);
  }
  void tellService(const std::string& more = "") {
    tell({kServices, "CriticalService", "v1alpha1", "", {}, false, false},
         R"({"metadata":{"name":"s","uid":"u"},"spec":{)" + more +
             R"("provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},"criteria":[)"
             R"({"type":"SpecificResource","specificResource":{"resource":"nodes","name":"x"}}]}})",
         client::Content::Whole);
  }
  void tellProvider() {
    tell(*kube::ResourceMap::builtIn().find(kDeployments),
         R"({"metadata":{"name":"d","namespace":"n","uid":"d"},"spec":{"template":{"spec":{)"
         R"("volumes":[{"name":"v","secret":{"secretName":"certs"}}],"containers":[{"name":"c"}]}}}})",
         client::Content::References);
  }
  void knowAllBut(const kube::GroupResource& excepted) {
    for (const kube::GroupResource& type : view.wantedWithReferences()) {
      if (type != excepted) know(type, Told::State::Synced);
    }
    know({"", "nodes"}, Told::State::Synced);
  }
  bool isDenied(const kube::ObjectKey& key) { return !view.judge(key, now).verdict.allowed; }

  const kube::GroupResource bindings{"rbac.authorization.k8s.io", "rolebindings"};
  const kube::ObjectKey certs{{"", "secrets"}, "n", "certs"};
};

// It would allow the deletion of what it is to deny a moment later.
TEST_F(NeedsTest, IsNotReadyBeforeItKnowsThem) {
  tellService();
  knowServices();
  EXPECT_FALSE(view.isReady());
  knowAllBut(bindings);
  EXPECT_FALSE(view.isReady());
  know(bindings, Told::State::Synced);
  EXPECT_TRUE(view.isReady());
}

TEST_F(NeedsTest, IsReadyWithoutWhatItMayNotRead) {
  tellService();
  knowServices();
  knowAllBut(bindings);
  know(bindings, Told::State::Forbidden);
  EXPECT_TRUE(view.isReady());
}

TEST_F(NeedsTest, DoesNotWaitForEverForAnAnswer) {
  tellService();
  knowServices();
  knowAllBut(bindings);
  now += seconds(59);
  view.tick(now);
  EXPECT_FALSE(view.isReady());
  now += seconds(1);
  for (const kube::GroupResource& type :
       {kServices, kube::kCustomResourceDefinitions, kube::GroupResource{"", "namespaces"}})
    know(type, Told::State::Synced);
  EXPECT_TRUE(view.isReady());
}

// The whole cluster's deletions would wait for each new CriticalService.
TEST_F(NeedsTest, StaysReadyWhenAServiceComesLater) {
  knowServices();
  EXPECT_TRUE(view.isReady());
  tellService();
  view.tick(now);
  EXPECT_TRUE(view.isReady());
}

// But for the rights by which its criterion's type is read.
TEST_F(NeedsTest, OfAServiceThatWantsNoneNothingIsRead) {
  tellService(R"("guard":{"dependencies":"None"},)");
  knowServices();
  EXPECT_FALSE(view.isReady());
  know({"rbac.authorization.k8s.io", "clusterroles"}, Told::State::Synced);
  know({"rbac.authorization.k8s.io", "clusterrolebindings"}, Told::State::Synced);
  EXPECT_TRUE(view.isReady());
  EXPECT_THAT(view.wantedWithReferences(), Not(Contains(kDeployments)));
  EXPECT_THAT(view.wanted(), Not(Contains(bindings)));
}

// Nobody has written the criterion that follows from it: what was written is what the watch has told.
TEST_F(NeedsTest, ConvertWhatIsFollowedThen) {
  EXPECT_THAT(view.wantedWithReferences(), Contains(kube::kCustomResourceDefinitions))
      << "not anew for each CriticalService";
  tellService();
  knowServices();
  knowAllBut({});
  tell(*kube::ResourceMap::builtIn().find(kDeployments),
       R"({"metadata":{"name":"d","namespace":"n","uid":"d"},"spec":{"template":{"metadata":{"labels":{)"
       R"("a":"b"}},"spec":{"containers":[{"name":"c"}]}}}})",
       client::Content::References);
  tell(*kube::ResourceMap::builtIn().find({"", "services"}),
       R"({"metadata":{"name":"s","namespace":"n","uid":"s"},"spec":{"selector":{"a":"b"}}})",
       client::Content::References);
  EXPECT_THAT(view.wanted(), Not(Contains(kThings)));
  tell(*kube::ResourceMap::builtIn().find(kube::kCustomResourceDefinitions),
       R"({"metadata":{"name":"things.example.com","uid":"c"},"spec":{"conversion":{"strategy":"Webhook",)"
       R"("webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}}}})",
       client::Content::References);
  EXPECT_THAT(view.wanted(), Contains(kThings));
  EXPECT_TRUE(isDenied({kDeployments, "n", "d"})) << "nobody knows of things yet";
  discover({kThings});
  know(kThings, Told::State::Synced);
  EXPECT_FALSE(isDenied({kDeployments, "n", "d"}));

  std::vector<kube::Object> services;
  view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
    services.push_back(cluster.toldServices().at("s"));
  });
  services[0].meta.resourceVersion = "later";
  EXPECT_EQ(view.untoldGuard({kDeployments, "n", "d"}, services), "");
}

// They go after it: until they are gone, too, they are its dependencies.
TEST_F(NeedsTest, AreThoseOfAProviderThatIsGone) {
  tellService();
  knowServices();
  knowAllBut({});
  tellProvider();
  EXPECT_TRUE(isDenied(certs));
  view.remove(kDeployments, {"n", "d", "d"});
  EXPECT_FALSE(isDenied(certs));
  view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
    EXPECT_EQ(cluster.servicesRecording(certs).size(), 1U);
  });
  tellService(R"("guard":{"dependencies":"None"},)");
  view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
    EXPECT_TRUE(cluster.servicesRecording(certs).empty());
  });
}

// --- fields that criteria ask about

class FieldsTest : public NeedsTest {
 public:
  FieldsTest() {
    discover({kServices, kDeployments, kThings});
    knowServices();
    know(kDeployments, Told::State::Synced);
  }
  void tellServiceAbout(const std::string& field) {
    tell({kServices, "CriticalService", "v1alpha1", "", {}, false, false},
         R"({"metadata":{"name":"s","uid":"u"},"spec":{"guard":{"dependencies":"None"},)"
         R"("provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},"criteria":[)"
         R"({"type":"Reference","reference":{"group":"example.com","resource":"things","field":")" +
             field + R"("}}]}})",
         client::Content::Whole);
  }
  void tellThing() {
    tell({kThings, "Thing", "v1", "", {}, true, false},
         R"({"metadata":{"name":"t","namespace":"n","uid":"t"},"spec":{"a":"d","b":"other"}})",
         client::Content::Whole);
  }
  // As whoever follows the type does when more of it is wanted.
  void followAgain(bool alone = true) {
    view.forget(kThings, now);
    EXPECT_TRUE(view.keepFields(kThings, alone));
    tellThing();
    know(kThings, Told::State::Synced);
  }
  const kube::ObjectKey provider{kDeployments, "n", "d"};
};

TEST_F(FieldsTest, AreUnknownOfATypeThatWasFollowedWithoutThem) {
  know(kThings, Told::State::Synced);
  EXPECT_FALSE(view.keepFields(kThings, true));
  EXPECT_EQ(standing(kThings), Known::Synced);
  tellServiceAbout("spec.a");
  EXPECT_EQ(view.knowledge(kThings), Known::Unknown);
  EXPECT_TRUE(view.lacksFields(kThings));
  EXPECT_TRUE(isDenied(provider));
  know(kThings, Told::State::Synced);  // of the watch that goes on
  EXPECT_EQ(standing(kThings), Known::Unknown);
  followAgain();
  EXPECT_EQ(standing(kThings), Known::Synced);
  EXPECT_TRUE(isDenied(provider));
}

TEST_F(FieldsTest, AreThoseThatAreAskedAboutNow) {
  tellServiceAbout("spec.a");
  followAgain();
  EXPECT_TRUE(isDenied(provider));
  tellServiceAbout("spec.b");
  EXPECT_EQ(standing(kThings), Known::Unknown);
  followAgain();
  EXPECT_EQ(standing(kThings), Known::Synced);
  EXPECT_FALSE(isDenied(provider));
  view.remove(kServices, {"", "s", "u"});
  EXPECT_FALSE(view.lacksFields(kThings));
  view.forget(kThings, now);
  EXPECT_FALSE(view.keepFields(kThings, true));
}

}  // namespace
}  // namespace lastout::server
