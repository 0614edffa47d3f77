// The figures of a teardown, from recordings of a few lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "bench/teardown/figures.h"

namespace lastout::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A recording in which things happen to one operator, each a second after the one before.
class Recorded {
 public:
  Recorded& change(const kube::ObjectKey& key, const std::string& type, bool terminating = false) {
    const std::string version = key.type.group.empty() ? "v1" : key.type.group + "/v1";
    return line({{"kind", "watch"},
                 {"type", type},
                 {"resource", key.type.resource},
                 {"namespace", key.namespaceName},
                 {"name", key.name},
                 {"terminating", terminating},
                 {"object", {{"apiVersion", version}}}});
  }
  Recorded& gone(const kube::ObjectKey& key) { return change(key, "DELETED", true); }
  // A controller's DELETE of it is denied.
  Recorded& denied(const kube::ObjectKey& key, const std::string& uid) {
    return line({{"kind", "admission"},
                 {"operation", "DELETE"},
                 {"user", "agent"},
                 {"group", key.type.group},
                 {"resource", key.type.resource},
                 {"namespace", key.namespaceName},
                 {"name", key.name},
                 {"uid", uid},
                 {"allowed", false}});
  }
  // lastout's.
  Recorded& deletedByLastout(const kube::ObjectKey& key, const std::string& uid) {
    return line({{"kind", "client"},
                 {"action", "DELETE " + key.type.resource},
                 {"user", "admin"},
                 {"path", "/" + key.name},
                 {"status", 200},
                 {"request", {{"preconditions", {{"uid", uid}}}}}});
  }

  Figures figures(const Fleet& fleet) const {
    std::istringstream text(text_);
    return figuresOf(fleet, readHistory(text));
  }

 private:
  Recorded& line(Json line) {
    line["t"] = ++seconds_;
    text_ += line.dump() + "\n";
    return *this;
  }

  int seconds_ = 0;
  std::string text_;
};

class TeardownTest : public ::testing::Test {
 public:
  static kube::ObjectKey keyOf(const FleetWork& work) {
    return {{"work.open-cluster-management.io", "manifestworks"}, kWorksNamespace, work.name};
  }
  // All but the provider's work, at once.
  Recorded& othersGo() {
    for (const FleetWork& work : one.works) recorded.change(keyOf(work), "MODIFIED", true);
    recorded.denied(one.provider, "u");
    for (const FleetWork& work : one.works) {
      if (&work == &providersWork()) continue;
      for (const kube::ObjectKey& object : work.applied) recorded.gone(object);
      recorded.gone(keyOf(work));
    }
    return recorded;
  }
  const FleetWork& providersWork() const {
    return *std::ranges::find_if(one.works, [this](const FleetWork& work) {
      return std::ranges::find(work.applied, one.provider) != work.applied.end();
    });
  }

  const Fleet fleet = makeFleet({.operators = 1, .seed = 1});
  const Operator& one = fleet.operators.front();
  Recorded recorded;
};

TEST_F(TeardownTest, EndsEmptyInOrder) {
  othersGo().deletedByLastout(one.provider, "u");
  for (const kube::ObjectKey& object : providersWork().applied) recorded.gone(object);
  const Figures figures = recorded.gone(keyOf(providersWork())).figures(fleet);
  EXPECT_TRUE(figures.isEmpty);
  EXPECT_THAT(figures.unasked, IsEmpty());
  EXPECT_EQ(figures.deletedByLastout, 1);
  EXPECT_EQ(figures.denied, 1);
  EXPECT_THAT(figures.early, IsEmpty());
  EXPECT_EQ(figures.providersEarly, 0);
  EXPECT_EQ(figures.waits.size(), 1U);
}

TEST_F(TeardownTest, WhatIsLeftIsCounted) {
  const Figures figures = othersGo().gone(keyOf(providersWork())).figures(fleet);
  EXPECT_FALSE(figures.isEmpty);
  EXPECT_EQ(figures.left.size(), providersWork().applied.size());
  EXPECT_THAT(figures.early, ElementsAre(::testing::StartsWith(providersWork().name + ": ")))
      << "it was gone, and nothing that it had applied";
  EXPECT_EQ(figures.worksLeft, 0);
  EXPECT_EQ(figures.providersStuck, 1);
  EXPECT_THAT(figures.waits, IsEmpty());
}

TEST_F(TeardownTest, AProviderThatGoesFirstIsSeen) {
  recorded.gone(one.provider);
  EXPECT_EQ(othersGo().figures(fleet).providersEarly, 1);
}

TEST_F(TeardownTest, WhatNobodyAskedForIsSeen) {
  recorded.deletedByLastout(one.provider, "u")
      .denied(one.provider, "u")
      .deletedByLastout(one.provider, "another");
  EXPECT_THAT(recorded.figures(fleet).unasked, ElementsAre("/operator-0", "/operator-0"));
}

TEST(Fleet, HasTenWorksForEachOperatorAndIsTheSameForTheSameSeed) {
  const Fleet fleet = makeFleet({});
  EXPECT_EQ(fleet.operators.size(), 30U);
  for (const Operator& one : fleet.operators) EXPECT_EQ(one.works.size(), 10U);
  EXPECT_EQ(fileOf(fleet), fileOf(makeFleet({})));
  EXPECT_NE(fileOf(fleet), fileOf(makeFleet({.operators = 30, .seed = 2})));
  EXPECT_NE(fileOf(fleet), fileOf(makeFleet({.dependencies = "None"})));
}

}  // namespace
}  // namespace lastout::bench
