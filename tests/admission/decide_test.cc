// decide() on facts written down: each line of docs/verdicts.md that it answers.
#include "admission/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lastout::admission {
namespace {

using criticalservice::DeletionIntent;
using graph::Knowledge;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Written {
  struct Service {
    bool exists = true;
    DeletionIntent intent = DeletionIntent::Ordered;
  };
  struct Condition {
    uint32_t holders = 0;
    Knowledge knowledge = Knowledge::Synced;
  };
  bool known = true;
  std::vector<Service> services;
  std::vector<Condition> conditions;

  bool servicesKnown() const { return known; }
  bool exists(uint32_t service) const { return services[service].exists; }
  DeletionIntent intent(uint32_t service) const { return services[service].intent; }
  uint32_t holders(uint32_t condition) const { return conditions[condition].holders; }
  Knowledge knowledge(uint32_t condition) const { return conditions[condition].knowledge; }
};

// Two services: 0 with the provider 0 and the criteria 1 and 2, 1 with the provider 0 and the criterion 3.
// The provider is there, and nothing else.
struct Decide : ::testing::Test {
  Decide() {
    rules.services = {{0, 0, 2}, {0, 2, 1}};
    rules.criteria = {1, 2, 3};
    facts.services.resize(2);
    facts.conditions.resize(4);
    facts.conditions[0].holders = 1;
  }

  Decision decideFor(std::vector<Stake> stakes) const { return decide(facts, rules, stakes); }
  std::vector<uint32_t> confirmed(const std::vector<Stake>& stakes) const {
    std::vector<uint32_t> conditions;
    forEachToConfirm(facts, rules, stakes,
                     [&](uint32_t, uint32_t condition) { conditions.push_back(condition); });
    return conditions;
  }

  Written facts;
  Rules rules;
};

TEST_F(Decide, WithoutAStakeItIsAllowed) {
  const Decision decision = decideFor({});
  EXPECT_TRUE(decision.allowed);
  EXPECT_FALSE(decision.guarded);
  EXPECT_EQ(decision.reason, Reason::NotGuarded);
}

TEST_F(Decide, UntilServicesAreKnownEverythingIsDenied) {
  facts.known = false;
  EXPECT_EQ(decideFor({}).reason, Reason::ServicesUnknown);
  EXPECT_FALSE(decideFor({}).allowed);
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_FALSE(decideFor({{Role::Provider, 0}}).allowed);
}

TEST_F(Decide, AProviderNeedsEveryCriterionOfEveryService) {
  const std::vector<Stake> stakes = {{Role::Provider, 0}, {Role::Provider, 1}};
  EXPECT_TRUE(decideFor(stakes).allowed);
  EXPECT_EQ(decideFor(stakes).reason, Reason::CriteriaMet);
  EXPECT_TRUE(decideFor(stakes).guarded);

  facts.conditions[3].holders = 7;
  const Decision second = decideFor(stakes);
  EXPECT_FALSE(second.allowed);
  EXPECT_EQ(std::pair(second.stake, second.criterion), std::pair(1u, 0u));
  EXPECT_EQ(second.unmet, 1u);

  facts.conditions[2].holders = 1;
  const Decision both = decideFor(stakes);
  EXPECT_EQ(std::pair(both.stake, both.criterion), std::pair(0u, 1u));
  EXPECT_EQ(both.unmet, 2u);
}

TEST_F(Decide, TooLittleKnownOfACriterionIsUnmet) {
  for (const Knowledge knowledge :
       {Knowledge::Unknown, Knowledge::Stale, Knowledge::Forbidden, Knowledge::Unserved}) {
    facts.conditions[1].knowledge = knowledge;
    EXPECT_EQ(decideFor({{Role::Provider, 0}}).reason, Reason::CriterionUnknown);
    EXPECT_FALSE(decideFor({{Role::Provider, 0}}).allowed);
  }
  facts.conditions[1].knowledge = Knowledge::Absent;
  EXPECT_TRUE(decideFor({{Role::Provider, 0}}).allowed);
}

TEST_F(Decide, WhatIsSeenCountsWhateverIsKnown) {
  facts.conditions[1] = {1, Knowledge::Stale};
  EXPECT_EQ(decideFor({{Role::Provider, 0}}).reason, Reason::CriterionUnmet);
  facts.conditions[1] = {1, Knowledge::Absent};
  EXPECT_EQ(decideFor({{Role::Provider, 0}}).reason, Reason::CriterionUnmet);
}

TEST_F(Decide, AServiceStaysWhileItsProviderIsNotKnownToBeGone) {
  EXPECT_EQ(decideFor({{Role::Service, 0}}).reason, Reason::ProviderPresent);
  facts.conditions[0] = {0, Knowledge::Stale};
  EXPECT_EQ(decideFor({{Role::Service, 0}}).reason, Reason::ProviderUnknown);
  facts.conditions[0] = {0, Knowledge::Synced};
  EXPECT_TRUE(decideFor({{Role::Service, 0}}).allowed);
  EXPECT_TRUE(decideFor({{Role::Service, 0}}).guarded);
}

TEST_F(Decide, AServiceMayGoFirstWhenItsIntentSaysSo) {
  for (const DeletionIntent intent : {DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources}) {
    facts.services[0].intent = intent;
    EXPECT_TRUE(decideFor({{Role::Service, 0}}).allowed);
    EXPECT_FALSE(decideFor({{Role::Service, 0}}).guarded);
  }
}

TEST_F(Decide, OnlyOrphaningEndsTheGuardingOfAProvider) {
  facts.conditions[1].holders = 1;
  facts.services[0].intent = DeletionIntent::BestEffortDeletion;
  EXPECT_FALSE(decideFor({{Role::Provider, 0}}).allowed);
  EXPECT_FALSE(decideFor({{Role::HoldsProvider, 0}}).allowed);
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_EQ(decideFor({{Role::Provider, 0}}).reason, Reason::NotGuarded);
  EXPECT_EQ(decideFor({{Role::HoldsProvider, 0}}).reason, Reason::NotGuarded);
  EXPECT_TRUE(decideFor({{Role::Provider, 0}}).allowed);
}

TEST_F(Decide, OneServicesOrphaningLeavesTheOthersGuarding) {
  facts.services[0].intent = DeletionIntent::OrphanResources;
  facts.conditions[3].holders = 1;
  EXPECT_FALSE(decideFor({{Role::Provider, 0}, {Role::Provider, 1}}).allowed);
}

TEST_F(Decide, AHolderIsGuardedWhileTheProviderIsNotKnownToBeGone) {
  facts.conditions[1].holders = 1;
  EXPECT_FALSE(decideFor({{Role::HoldsProvider, 0}}).allowed);
  facts.conditions[0] = {0, Knowledge::Forbidden};
  EXPECT_FALSE(decideFor({{Role::HoldsProvider, 0}}).allowed);
  facts.conditions[0] = {0, Knowledge::Synced};
  EXPECT_TRUE(decideFor({{Role::HoldsProvider, 0}}).allowed);
}

TEST_F(Decide, LastoutsNamespaceStaysWhileAnyServiceExistsWhateverItsIntent) {
  facts.services[0].intent = DeletionIntent::OrphanResources;
  facts.conditions[0].holders = 0;
  EXPECT_EQ(decideFor({{Role::LastoutNamespace, 0}}).reason, Reason::ServicesLeft);
  facts.services[0].exists = false;
  EXPECT_TRUE(decideFor({{Role::LastoutNamespace, 0}}).allowed);
}

TEST_F(Decide, AServiceThatIsGoneGuardsNothing) {
  facts.services[0].exists = false;
  facts.conditions[1].holders = 1;
  for (const Role role : {Role::Service, Role::Provider, Role::HoldsProvider}) {
    EXPECT_EQ(decideFor({{role, 0}}).reason, Reason::NotGuarded);
  }
}

TEST_F(Decide, WhatAnAllowRestsOnIsToBeConfirmed) {
  EXPECT_THAT(confirmed({{Role::Provider, 0}, {Role::Provider, 1}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(confirmed({{Role::HoldsProvider, 0}}), ElementsAre(1, 2));
  EXPECT_THAT(confirmed({{Role::Service, 0}}), ElementsAre(0));
  facts.conditions[0].holders = 0;
  EXPECT_THAT(confirmed({{Role::HoldsProvider, 0}}), ElementsAre(0));
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_THAT(confirmed({{Role::Provider, 0}, {Role::Service, 0}, {Role::HoldsProvider, 0}}), IsEmpty());
}

TEST_F(Decide, AVisitorThatHasSeenEnoughIsNotAskedAgain) {
  facts.conditions[1].holders = facts.conditions[2].holders = facts.conditions[3].holders = 1;
  const std::vector<Stake> stakes = {{Role::Provider, 0}, {Role::Provider, 1}};
  int visits = 0;
  forEachBlocker(facts, rules, stakes, [&](uint32_t, uint32_t, Reason) { return ++visits < 2; });
  EXPECT_EQ(visits, 2);
}

}  // namespace
}  // namespace lastout::admission
