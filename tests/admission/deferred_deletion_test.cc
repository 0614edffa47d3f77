// The rule of deferred deletions, held against docs/concepts.md. That the server and the machine follow it is
// in tests/faults/deferred_deletion_test.cc and tests/cluster/deferred_deletion_test.cc.
#include "admission/deferred_deletion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace lastout::admission {
namespace {

WishFacts ownedBy(const std::vector<OwnerNow>& owners) {
  WishFacts facts;
  for (const OwnerNow owner : owners) facts.owners.add(owner);
  return facts;
}

TEST(DeferredDeletionWish, StandsWhileNoOwnerStays) {
  EXPECT_EQ(wishOf(ownedBy({OwnerNow::Gone})), Wish::Stands);
  EXPECT_EQ(wishOf(ownedBy({OwnerNow::Leaving})), Wish::Stands);
  EXPECT_EQ(wishOf(ownedBy({OwnerNow::Gone, OwnerNow::Leaving})), Wish::Stands);
}

// That it is remembered proves nothing, and the garbage collector never deletes what has no owner.
TEST(DeferredDeletionWish, IsNoneWithoutAnOwner) {
  WishFacts facts;
  EXPECT_EQ(wishOf(facts), Wish::TakenBack);
  EXPECT_FALSE(goesAnyway(facts));
  facts.spaceTerminates = true;
  EXPECT_EQ(wishOf(facts), Wish::Stands) << "the namespace controller does";
  EXPECT_TRUE(goesAnyway(facts));
}

TEST(DeferredDeletionWish, WaitsForAnOwnerThatMayKeepIt) {
  for (const OwnerNow owner : {OwnerNow::Staying, OwnerNow::Orphaning}) {
    EXPECT_EQ(wishOf(ownedBy({owner})), Wish::Waits);
    EXPECT_EQ(wishOf(ownedBy({OwnerNow::Gone, owner, OwnerNow::Leaving})), Wish::Waits);
    EXPECT_FALSE(goesAnyway(ownedBy({OwnerNow::Gone, owner})));
  }
}

TEST(DeferredDeletionWish, IsTakenBackByWhoAdoptsOrOrphansTheObject) {
  EXPECT_EQ(wishOf(ownedBy({})), Wish::TakenBack) << "its last owner was taken away";
  for (const OwnerNow owner : {OwnerNow::Gone, OwnerNow::Leaving, OwnerNow::Staying}) {
    WishFacts facts = ownedBy({owner});
    facts.adopted = true;
    EXPECT_EQ(wishOf(facts), Wish::TakenBack);
    facts.proof = Proof::OfUnowned;
    EXPECT_EQ(wishOf(facts), Wish::TakenBack);
  }
}

TEST(DeferredDeletionWish, StandsWhereEverythingGoesAndWhereAPersonIsProvenToHaveAsked) {
  for (WishFacts facts : {ownedBy({}), ownedBy({OwnerNow::Staying}), ownedBy({OwnerNow::Orphaning})}) {
    facts.spaceTerminates = true;
    EXPECT_EQ(wishOf(facts), Wish::Stands);
    facts.spaceTerminates = false;
    facts.proof = Proof::OfPerson;
    EXPECT_EQ(wishOf(facts), Wish::Stands);
    EXPECT_FALSE(goesAnyway(facts)) << "that is a person's wish, and nobody else's";
  }
}

TEST(DeferredDeletionWish, OfAnotherControllerStandsWhereItsRequestForAnObjectWithoutOwnersIsProven) {
  WishFacts facts;
  facts.proof = Proof::OfUnowned;
  EXPECT_EQ(wishOf(facts), Wish::Stands);
  facts = ownedBy({OwnerNow::Staying});
  facts.proof = Proof::OfUnowned;
  EXPECT_EQ(wishOf(facts), Wish::Waits);
}

struct Deletion {
  bool live = true;
  bool allowed = true;
  Wish wish = Wish::Stands;
  std::vector<int> before = {};
};

class SomeFacts {
 public:
  explicit SomeFacts(std::map<int, Deletion> deletions) : deletions_(std::move(deletions)) {}
  bool isDeferred(int object) const { return deletions_.contains(object); }
  bool isLive(int object) const { return deletions_.at(object).live; }
  bool isAllowed(int object) const { return deletions_.at(object).allowed; }
  Wish wish(int object) const { return deletions_.at(object).wish; }
  template <class Holds>
  bool anyBefore(int object, Holds holds) const {
    return std::ranges::any_of(deletions_.at(object).before, holds);
  }

 private:
  std::map<int, Deletion> deletions_;
};

TEST(DeferredDeletionOrder, WhatIsDueInAContainerGoesFirst) {
  constexpr int kSpace = 1;
  constexpr int kInside = 2;
  const auto carried = [&](Deletion inside) {
    const SomeFacts facts({{kSpace, {.before = {kInside}}}, {kInside, std::move(inside)}});
    return std::pair(isToBeCarriedOut(facts, kInside), isToBeCarriedOut(facts, kSpace));
  };
  EXPECT_EQ(carried({}), std::pair(true, false));
  EXPECT_EQ(carried({.live = false}), std::pair(false, true)) << "it is being deleted already";
  EXPECT_EQ(carried({.allowed = false}), std::pair(false, true)) << "it is not due";
  EXPECT_EQ(carried({.wish = Wish::Waits}), std::pair(false, true)) << "likewise";
}

TEST(DeferredDeletionMemory, IsOfThoseWhoOutliveTheObject) {
  EXPECT_TRUE(remembers(Role::Provider, false));
  EXPECT_TRUE(remembers(Role::HoldsProvider, false));
  EXPECT_TRUE(remembers(Role::Dependency, false));
  EXPECT_TRUE(remembers(Role::Service, true));
  EXPECT_FALSE(remembers(Role::Service, false)) << "the CRD of CriticalServices";
  EXPECT_FALSE(remembers(Role::LastoutNamespace, false));
}

TEST(DeferredDeletionMemory, IsAsTheCriticalServiceWants) {
  using criticalservice::DeferralMode;
  EXPECT_TRUE(isDeferred(DeferralMode::Controllers, true));
  EXPECT_FALSE(isDeferred(DeferralMode::Controllers, false));
  EXPECT_TRUE(isDeferred(DeferralMode::Always, true));
  EXPECT_TRUE(isDeferred(DeferralMode::Always, false));
  EXPECT_FALSE(isDeferred(DeferralMode::Never, true));
  EXPECT_FALSE(isDeferred(DeferralMode::Never, false));
}

}  // namespace
}  // namespace lastout::admission
