// How well types are known: what is believed, for how long, and of what it is never said that it is gone.
#include "server/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "criticalservice/critical_service.h"

namespace lastout::server {
namespace {

using Told = client::Knowledge;
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
  LiveViewTest() { know(kube::crdType(), Told::State::Synced); }

  void know(const kube::GroupResource& type, Told::State state) {
    view.know(type, {state, true, now, ""}, now);
  }
  // These types are served, and the groups of `gaps` could not be asked.
  void discover(std::initializer_list<kube::GroupResource> types,
                std::initializer_list<const char*> gaps = {}) {
    client::Discovery found;
    found.types = kube::ResourceMap::builtIn();
    for (const kube::GroupResource& type : types) {
      client::ServedType served;
      served.type.type = type;
      served.canGet = served.canList = served.canWatch = true;
      if (found.types.find(type) == nullptr) found.types.add(served.type);
      found.served.emplace(type, served);
    }
    for (const char* group : gaps) found.gaps.push_back({group, "", "it is away"});
    view.discovered(std::move(found), now);
  }
  void define(const kube::GroupResource& type) {
    client::StreamedObject definition;
    definition.meta.name = kube::crdName(type);
    definition.meta.uid = "u";
    view.upsert({kube::crdType(), "CustomResourceDefinition", "v1", "", {}, false, true}, definition);
  }
  void undefine(const kube::GroupResource& type) {
    view.remove(kube::crdType(), {"", kube::crdName(type), "u"});
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
  EXPECT_TRUE(view.judge({kDeployments, "default", "d"}, now).decision.allowed);
  now += seconds(31);
  const admission::Judged judged = view.judge({kDeployments, "default", "d"}, now);
  EXPECT_FALSE(judged.decision.allowed);
  EXPECT_EQ(judged.decision.reason, admission::Reason::ServicesUnknown);
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
  know(kube::crdType(), Told::State::Forbidden);
  EXPECT_EQ(standing(kServices), Known::Unserved);
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

TEST(LiveViewLog, TellsOfWhatCannotBeUnderstood) {
  std::vector<std::string> lines;
  LiveView view({.ownNamespace = "",
                 .allowedAge = seconds(30),
                 .log = [&lines](Level /*level*/, const std::string& line) { lines.push_back(line); }});
  const kube::ResourceType services{
      criticalservice::criticalServiceType(), "CriticalService", "v1alpha1", "", {}, false, false};
  const auto tell = [&](const std::string& criteria) {
    const auto object = client::decodeObject(
        R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService","metadata":{"name":"s","uid":"u"},"spec":)"
        R"({"provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},"criteria":)" +
            criteria + "}}",
        client::Content::Whole);
    ASSERT_TRUE(object) << toString(object.error());
    view.upsert(services, *object);
  };
  tell("[]");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("guards nothing: spec.criteria is empty"));
  tell(R"([{"type":"SpecificResource","specificResource":{"resource":"nodes","name":"x"}}])");
  EXPECT_EQ(lines.size(), 1U);
  tell("[]");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("guards what it guarded before"));
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
  view.forget(kube::crdType(), now);
  EXPECT_EQ(view.knowledge(kube::crdType()), Known::Unknown);
  discover({});
  know(kube::crdType(), Told::State::Synced);
  know(kServices, Told::State::NotServed);
  EXPECT_EQ(standing(kServices), Known::Absent);
  view.forget(kServices, now);
  EXPECT_EQ(view.knowledge(kServices), Known::Absent) << "nothing changes that is known without a watch";
  EXPECT_TRUE(view.isReady());
}

}  // namespace
}  // namespace lastout::server
