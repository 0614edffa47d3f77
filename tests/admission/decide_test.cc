// decide() on facts written down: each line of docs/verdicts.md that it answers.
#include "admission/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lastout::admission {
namespace {

using criticalservice::DeletionIntent;
using criticalservice::EnforcementMode;
using graph::Knowledge;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Written {
  struct Service {
    bool exists = true;
    DeletionIntent intent = DeletionIntent::Ordered;
    EnforcementMode enforcement = EnforcementMode::Deny;
  };
  struct Condition {
    uint32_t holders = 0;
    Knowledge knowledge = Knowledge::Synced;
    bool awaitsOwned = false;
  };
  bool known = true;
  std::vector<Service> services;
  std::vector<Condition> conditions;

  bool servicesKnown() const { return known; }
  bool exists(uint32_t service) const { return services[service].exists; }
  DeletionIntent intent(uint32_t service) const { return services[service].intent; }
  EnforcementMode enforcement(uint32_t service) const { return services[service].enforcement; }
  uint32_t holders(uint32_t condition) const { return conditions[condition].holders; }
  bool awaitsOwned(uint32_t condition) const { return conditions[condition].awaitsOwned; }
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

  Verdict decideFor(std::vector<GuardEntry> guardEntries,
                    DeletionEffect deletionEffect = DeletionEffect::Ending) const {
    return decide(facts, rules, guardEntries, deletionEffect);
  }
  std::vector<uint32_t> confirmed(const std::vector<GuardEntry>& guardEntries,
                                  DeletionEffect deletionEffect = DeletionEffect::Ending) const {
    std::vector<uint32_t> conditions;
    forEachToConfirm(
        facts, rules, guardEntries, [&](uint32_t, uint32_t condition) { conditions.push_back(condition); },
        deletionEffect);
    return conditions;
  }

  Written facts;
  ServiceRules rules;
};

TEST_F(Decide, WithoutAGuardEntryItIsAllowed) {
  const Verdict verdict = decideFor({});
  EXPECT_TRUE(verdict.allowed);
  EXPECT_FALSE(verdict.guarded);
  EXPECT_EQ(verdict.reason, Reason::NotGuarded);
}

TEST_F(Decide, UntilServicesAreKnownEverythingIsDenied) {
  facts.known = false;
  EXPECT_EQ(decideFor({}).reason, Reason::ServicesUnknown);
  EXPECT_FALSE(decideFor({}).allowed);
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_FALSE(decideFor({{GuardedAs::Provider, 0}}).allowed);
}

TEST_F(Decide, AProviderNeedsEveryCriterionOfEveryService) {
  const std::vector<GuardEntry> guardEntries = {{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}};
  EXPECT_TRUE(decideFor(guardEntries).allowed);
  EXPECT_EQ(decideFor(guardEntries).reason, Reason::CriteriaMet);
  EXPECT_TRUE(decideFor(guardEntries).guarded);

  facts.conditions[3].holders = 7;
  const Verdict second = decideFor(guardEntries);
  EXPECT_FALSE(second.allowed);
  EXPECT_EQ(std::pair(second.guardEntry, second.criterion), std::pair(1u, 0u));
  EXPECT_EQ(second.unmet, 1u);

  facts.conditions[2].holders = 1;
  const Verdict both = decideFor(guardEntries);
  EXPECT_EQ(std::pair(both.guardEntry, both.criterion), std::pair(0u, 1u));
  EXPECT_EQ(both.unmet, 2u);
}

TEST_F(Decide, TooLittleKnownOfACriterionIsUnmet) {
  for (const Knowledge knowledge :
       {Knowledge::Unknown, Knowledge::Stale, Knowledge::Forbidden, Knowledge::Unserved}) {
    facts.conditions[1].knowledge = knowledge;
    EXPECT_EQ(decideFor({{GuardedAs::Provider, 0}}).reason, Reason::CriterionUnknown);
    EXPECT_FALSE(decideFor({{GuardedAs::Provider, 0}}).allowed);
  }
  facts.conditions[1].knowledge = Knowledge::Absent;
  EXPECT_TRUE(decideFor({{GuardedAs::Provider, 0}}).allowed);
}

TEST_F(Decide, WhatIsSeenCountsWhateverIsKnown) {
  facts.conditions[1] = {1, Knowledge::Stale};
  EXPECT_EQ(decideFor({{GuardedAs::Provider, 0}}).reason, Reason::CriterionUnmet);
  facts.conditions[1] = {1, Knowledge::Absent};
  EXPECT_EQ(decideFor({{GuardedAs::Provider, 0}}).reason, Reason::CriterionUnmet);
}

TEST_F(Decide, AServiceStaysWhileItsProviderIsNotKnownToBeGone) {
  EXPECT_EQ(decideFor({{GuardedAs::Service, 0}}).reason, Reason::ProviderPresent);
  facts.conditions[0] = {0, Knowledge::Stale};
  EXPECT_EQ(decideFor({{GuardedAs::Service, 0}}).reason, Reason::ProviderUnknown);
  facts.conditions[0] = {0, Knowledge::Synced};
  EXPECT_TRUE(decideFor({{GuardedAs::Service, 0}}).allowed);
  EXPECT_TRUE(decideFor({{GuardedAs::Service, 0}}).guarded);
}

TEST_F(Decide, AServiceMayGoFirstWhenItsIntentSaysSo) {
  for (const DeletionIntent intent : {DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources}) {
    facts.services[0].intent = intent;
    EXPECT_TRUE(decideFor({{GuardedAs::Service, 0}}).allowed);
    EXPECT_FALSE(decideFor({{GuardedAs::Service, 0}}).guarded);
  }
}

TEST_F(Decide, OnlyOrphaningEndsTheGuardingOfAProvider) {
  facts.conditions[1].holders = 1;
  facts.services[0].intent = DeletionIntent::BestEffortDeletion;
  EXPECT_FALSE(decideFor({{GuardedAs::Provider, 0}}).allowed);
  EXPECT_FALSE(decideFor({{GuardedAs::ProviderAncestor, 0}}).allowed);
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_EQ(decideFor({{GuardedAs::Provider, 0}}).reason, Reason::NotGuarded);
  EXPECT_EQ(decideFor({{GuardedAs::ProviderAncestor, 0}}).reason, Reason::NotGuarded);
  EXPECT_TRUE(decideFor({{GuardedAs::Provider, 0}}).allowed);
}

TEST_F(Decide, OneServicesOrphaningLeavesTheOthersGuarding) {
  facts.services[0].intent = DeletionIntent::OrphanResources;
  facts.conditions[3].holders = 1;
  EXPECT_FALSE(decideFor({{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}}).allowed);
}

TEST_F(Decide, AHolderIsGuardedWhileTheProviderIsNotKnownToBeGone) {
  facts.conditions[1].holders = 1;
  EXPECT_FALSE(decideFor({{GuardedAs::ProviderAncestor, 0}}).allowed);
  facts.conditions[0] = {0, Knowledge::Forbidden};
  EXPECT_FALSE(decideFor({{GuardedAs::ProviderAncestor, 0}}).allowed);
  facts.conditions[0] = {0, Knowledge::Synced};
  EXPECT_TRUE(decideFor({{GuardedAs::ProviderAncestor, 0}}).allowed);
}

TEST_F(Decide, LastoutsNamespaceStaysWhileAnyServiceExistsWhateverItsIntent) {
  facts.services[0].intent = DeletionIntent::OrphanResources;
  facts.conditions[0].holders = 0;
  EXPECT_EQ(decideFor({{GuardedAs::LastoutNamespace, 0}}).reason, Reason::ServicesLeft);
  facts.services[0].exists = false;
  EXPECT_TRUE(decideFor({{GuardedAs::LastoutNamespace, 0}}).allowed);
}

TEST_F(Decide, AServiceThatIsGoneGuardsNothing) {
  facts.services[0].exists = false;
  facts.conditions[1].holders = 1;
  for (const GuardedAs guardedAs : {GuardedAs::Service, GuardedAs::Provider, GuardedAs::ProviderAncestor}) {
    EXPECT_EQ(decideFor({{guardedAs, 0}}).reason, Reason::NotGuarded);
  }
}

TEST_F(Decide, WhatAnAllowRestsOnIsToBeConfirmed) {
  EXPECT_THAT(confirmed({{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(confirmed({{GuardedAs::ProviderAncestor, 0}}), ElementsAre(1, 2));
  EXPECT_THAT(confirmed({{GuardedAs::Service, 0}}), ElementsAre(0));
  facts.conditions[0].holders = 0;
  EXPECT_THAT(confirmed({{GuardedAs::ProviderAncestor, 0}}), ElementsAre(0));
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_THAT(
      confirmed({{GuardedAs::Provider, 0}, {GuardedAs::Service, 0}, {GuardedAs::ProviderAncestor, 0}}),
      IsEmpty());
}

TEST_F(Decide, AHeldProviderMayBeDeletedWhateverItsCriteriaSay) {
  const std::vector<GuardEntry> guardEntries = {{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}};
  facts.conditions[1].holders = 1;
  facts.conditions[3].knowledge = Knowledge::Unknown;
  EXPECT_FALSE(decideFor(guardEntries, DeletionEffect::Held).allowed) << "nobody says Hold";
  facts.services[0].enforcement = EnforcementMode::Hold;
  EXPECT_FALSE(decideFor(guardEntries, DeletionEffect::Held).allowed) << "one says Deny";
  facts.services[1].enforcement = EnforcementMode::Hold;
  EXPECT_TRUE(decideFor(guardEntries, DeletionEffect::Held).allowed);
  EXPECT_EQ(decideFor(guardEntries, DeletionEffect::Held).reason, Reason::Held);
  EXPECT_TRUE(decideFor(guardEntries, DeletionEffect::Held).guarded);
  EXPECT_THAT(confirmed(guardEntries, DeletionEffect::Held), IsEmpty());
  EXPECT_EQ(decideFor(guardEntries).reason, Reason::CriterionUnmet) << "this DELETE ends it";
  EXPECT_THAT(confirmed(guardEntries), ElementsAre(1, 2, 3));
}

TEST_F(Decide, WhoDoesNotGuardTheProviderHasNoSayInItsHolding) {
  const std::vector<GuardEntry> guardEntries = {{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}};
  facts.conditions[1].holders = 1;
  facts.services[0].enforcement = EnforcementMode::Hold;
  facts.services[1].intent = DeletionIntent::OrphanResources;
  EXPECT_EQ(decideFor(guardEntries, DeletionEffect::Held).reason, Reason::Held);
  facts.services[1] = {.exists = false};
  EXPECT_EQ(decideFor(guardEntries, DeletionEffect::Held).reason, Reason::Held);
  facts.services[0].intent = DeletionIntent::OrphanResources;
  EXPECT_EQ(decideFor(guardEntries, DeletionEffect::Held).reason, Reason::NotGuarded);
  EXPECT_FALSE(decideFor(guardEntries, DeletionEffect::Held).held);
}

TEST_F(Decide, TheFinalizerIsNoHelpToWhoeverNeedsTheProvider) {
  facts.services[0].enforcement = EnforcementMode::Hold;
  facts.conditions[1].holders = 1;
  facts.conditions[3].holders = 1;
  const Verdict needed =
      decideFor({{GuardedAs::Provider, 0}, {GuardedAs::Dependency, 1}}, DeletionEffect::Held);
  EXPECT_FALSE(needed.allowed);
  EXPECT_EQ(needed.reason, Reason::ProviderPresent);
  EXPECT_EQ(needed.unmet, 1u);
  EXPECT_EQ(
      decideFor({{GuardedAs::Provider, 0}, {GuardedAs::ProviderAncestor, 1}}, DeletionEffect::Held).reason,
      Reason::CriterionUnmet);
  for (const GuardedAs guardedAs : {GuardedAs::Service, GuardedAs::ProviderAncestor})
    EXPECT_FALSE(decideFor({{guardedAs, 0}}, DeletionEffect::Held).allowed) << "only the provider is held";
  facts.known = false;
  EXPECT_EQ(decideFor({{GuardedAs::Provider, 0}}, DeletionEffect::Held).reason, Reason::ServicesUnknown);
}

TEST_F(Decide, OfAHeldProviderOnlyWhatItIsToOthersIsConfirmed) {
  facts.services[0].enforcement = EnforcementMode::Hold;
  facts.conditions[0].awaitsOwned = true;
  EXPECT_THAT(confirmed({{GuardedAs::Provider, 0}, {GuardedAs::Dependency, 1}}, DeletionEffect::Held),
              ElementsAre(3));
  EXPECT_THAT(confirmed({{GuardedAs::Provider, 0}, {GuardedAs::Dependency, 1}}), ElementsAre(1, 2, 3));
}

TEST_F(Decide, AVisitorThatHasSeenEnoughIsNotAskedAgain) {
  facts.conditions[1].holders = facts.conditions[2].holders = facts.conditions[3].holders = 1;
  const std::vector<GuardEntry> guardEntries = {{GuardedAs::Provider, 0}, {GuardedAs::Provider, 1}};
  int visits = 0;
  forEachBlocker(facts, rules, guardEntries, [&](uint32_t, uint32_t, Reason) { return ++visits < 2; });
  EXPECT_EQ(visits, 2);
}

// Who deletes a provider in the foreground waits for what the provider owns: that may be what it needs.
TEST_F(Decide, ADependencyGoesAfterItsProviderOrAlongWithIt) {
  const std::vector<GuardEntry> guardEntries{{GuardedAs::Dependency, 0}};
  EXPECT_EQ(decideFor(guardEntries).reason, Reason::ProviderPresent) << "whether or not its criteria hold";
  facts.conditions[0].awaitsOwned = true;
  EXPECT_TRUE(decideFor(guardEntries).allowed);
  EXPECT_THAT(confirmed(guardEntries), ::testing::ElementsAre(1, 2));
  facts.conditions[2].holders = 1;
  EXPECT_EQ(decideFor(guardEntries).reason, Reason::CriterionUnmet);
  facts.conditions[0] = {0, Knowledge::Stale, false};
  EXPECT_EQ(decideFor(guardEntries).reason, Reason::ProviderUnknown);
  facts.conditions[0].knowledge = Knowledge::Synced;
  EXPECT_TRUE(decideFor(guardEntries).allowed);
  EXPECT_THAT(confirmed(guardEntries), ::testing::ElementsAre(0));
}

}  // namespace
}  // namespace lastout::admission
