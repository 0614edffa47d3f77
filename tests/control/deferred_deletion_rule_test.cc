// The plan of deferred deletions, held against docs/concepts.md. That the server and the machine follow it is
// in tests/properties/plans_test.cc, tests/faults/deferred_deletion_test.cc and
// tests/cluster/deferred_deletion_actions_test.cc.
#include "control/deferred_deletion_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lastout::control {
namespace {

DeferralFacts ownedBy(const std::vector<OwnerNow>& owners) {
  DeferralFacts facts;
  for (const OwnerNow owner : owners) facts.owners.add(owner);
  return facts;
}

TEST(DeferredDeletionWish, StandsWhileNoOwnerStays) {
  EXPECT_EQ(deferralStateOf(ownedBy({OwnerNow::Gone})), DeferralState::Stands);
  EXPECT_EQ(deferralStateOf(ownedBy({OwnerNow::Leaving})), DeferralState::Stands);
  EXPECT_EQ(deferralStateOf(ownedBy({OwnerNow::Gone, OwnerNow::Leaving})), DeferralState::Stands);
}

// That it is recorded proves nothing, and the garbage collector never deletes what has no owner.
TEST(DeferredDeletionWish, IsNoneWithoutAnOwner) {
  DeferralFacts facts;
  EXPECT_EQ(deferralStateOf(facts), DeferralState::TakenBack);
  EXPECT_FALSE(goesAnyway(facts));
  facts.spaceTerminates = true;
  EXPECT_EQ(deferralStateOf(facts), DeferralState::Stands) << "the namespace controller does";
  EXPECT_TRUE(goesAnyway(facts));
}

TEST(DeferredDeletionWish, WaitsForAnOwnerThatMayKeepIt) {
  for (const OwnerNow owner : {OwnerNow::Staying, OwnerNow::Orphaning}) {
    EXPECT_EQ(deferralStateOf(ownedBy({owner})), DeferralState::Waits);
    EXPECT_EQ(deferralStateOf(ownedBy({OwnerNow::Gone, owner, OwnerNow::Leaving})), DeferralState::Waits);
    EXPECT_FALSE(goesAnyway(ownedBy({OwnerNow::Gone, owner})));
  }
}

TEST(DeferredDeletionWish, IsTakenBackByWhoAdoptsOrOrphansTheObject) {
  EXPECT_EQ(deferralStateOf(ownedBy({})), DeferralState::TakenBack) << "its last owner was taken away";
  for (const OwnerNow owner : {OwnerNow::Gone, OwnerNow::Leaving, OwnerNow::Staying}) {
    DeferralFacts facts = ownedBy({owner});
    facts.adopted = true;
    EXPECT_EQ(deferralStateOf(facts), DeferralState::TakenBack);
    facts.proof = RequestProof::OfUnowned;
    EXPECT_EQ(deferralStateOf(facts), DeferralState::TakenBack);
  }
}

TEST(DeferredDeletionWish, StandsWhereEverythingGoesAndWhereAPersonIsProvenToHaveAsked) {
  for (DeferralFacts facts : {ownedBy({}), ownedBy({OwnerNow::Staying}), ownedBy({OwnerNow::Orphaning})}) {
    facts.spaceTerminates = true;
    EXPECT_EQ(deferralStateOf(facts), DeferralState::Stands);
    facts.spaceTerminates = false;
    facts.proof = RequestProof::OfPerson;
    EXPECT_EQ(deferralStateOf(facts), DeferralState::Stands);
    EXPECT_FALSE(goesAnyway(facts)) << "that is a person's wish, and nobody else's";
  }
}

TEST(DeferredDeletionWish, OfAnotherControllerStandsWhereItsRequestForAnObjectWithoutOwnersIsProven) {
  DeferralFacts facts;
  facts.proof = RequestProof::OfUnowned;
  EXPECT_EQ(deferralStateOf(facts), DeferralState::Stands);
  facts = ownedBy({OwnerNow::Staying});
  facts.proof = RequestProof::OfUnowned;
  EXPECT_EQ(deferralStateOf(facts), DeferralState::Waits);
}

// What only a provider that is gone may have needed goes where it would go anyway, whoever asked.
TEST(DeferredDeletionWish, InDoubtStandsOnlyWhereTheObjectGoesAnyway) {
  for (const RequestProof proof : {RequestProof::None, RequestProof::OfUnowned, RequestProof::OfPerson}) {
    for (DeferralFacts facts : {ownedBy({}), ownedBy({OwnerNow::Staying}), ownedBy({OwnerNow::Gone})}) {
      facts.proof = proof;
      facts.isInDoubt = true;
      EXPECT_EQ(deferralStateOf(facts), goesAnyway(facts) ? DeferralState::Stands : DeferralState::TakenBack);
      facts.spaceTerminates = true;
      EXPECT_EQ(deferralStateOf(facts), DeferralState::Stands);
    }
  }
}

struct Deletion {
  bool isRecorded = true;
  bool isLive = true;
  DeferralState deferralState = DeferralState::Stands;
  bool isWanted = true;
  bool isAllowed = true;
  std::vector<int> before = {};
};

class SomeFacts {
 public:
  explicit SomeFacts(std::map<int, Deletion> deletions) : deletions_(std::move(deletions)) {}
  bool isRecorded(int object) const { return asked("recorded", deletions_.at(object).isRecorded); }
  bool isLive(int object) const { return asked("live", deletions_.at(object).isLive); }
  DeferralState deferralState(int object) const { return asked("wish", deletions_.at(object).deferralState); }
  bool isWanted(int object) const { return asked("wanted", deletions_.at(object).isWanted); }
  bool isAllowed(int object) const { return asked("allowed", deletions_.at(object).isAllowed); }
  template <class Holds>
  bool anyBefore(int object, Holds holds) const {
    return std::ranges::any_of(deletions_.at(object).before, holds);
  }
  // What was asked of all of them, in order.
  const std::string& questions() const { return questions_; }

 private:
  template <class Answer>
  Answer asked(const char* question, Answer answer) const {
    questions_ += std::string(questions_.empty() ? "" : " ") + question;
    return answer;
  }

  std::map<int, Deletion> deletions_;
  mutable std::string questions_;
};

struct Row {
  const char* name;
  Deletion deletion;
  Fate fate;
  const char* questions;  // the later ones cost an exchange with the API server each
};

TEST(DeferredDeletionFate, FollowsTheDocument) {
  const Row rows[] = {
      {"its turn has come", {}, Fate::Delete, "recorded live wish wanted allowed"},
      {"nobody has asked", {.isRecorded = false}, Fate::Wait, "recorded"},
      {"it is gone, or another of that name is there, or it is being deleted",
       {.isLive = false},
       Fate::Forget,
       "recorded live"},
      {"it is gone, and nobody wants lastout to delete it",
       {.isLive = false, .isWanted = false},
       Fate::Forget,
       "recorded live"},
      {"it is owned again", {.deferralState = DeferralState::TakenBack}, Fate::Forget, "recorded live wish"},
      {"it is owned again, and denied",
       {.deferralState = DeferralState::TakenBack, .isAllowed = false},
       Fate::Forget,
       "recorded live wish"},
      {"an owner stays", {.deferralState = DeferralState::Waits}, Fate::Wait, "recorded live wish"},
      {"spec.deferredDeletions says Never, or the annotation was taken away",
       {.isWanted = false},
       Fate::Wait,
       "recorded live wish wanted"},
      {"its criteria do not hold", {.isAllowed = false}, Fate::Wait, "recorded live wish wanted allowed"},
  };
  for (const Row& row : rows) {
    const SomeFacts alone({{1, row.deletion}});
    EXPECT_EQ(fateAlone(alone, 1), row.fate) << row.name;
    EXPECT_EQ(alone.questions(), row.questions) << row.name;
    EXPECT_EQ(fateOf(SomeFacts({{1, row.deletion}}), 1), row.fate) << row.name;
  }
}

// The same rows, of what is in a container that may go by itself: only what may go before it keeps it.
TEST(DeferredDeletionFate, OfAContainerWaitsForWhatMayGoInIt) {
  constexpr int kSpace = 1;
  constexpr int kInside = 2;
  const auto fateAround = [&](Deletion inside) {
    return fateOf(SomeFacts({{kSpace, {.before = {kInside}}}, {kInside, std::move(inside)}}), kSpace);
  };
  EXPECT_EQ(fateAround({}), Fate::Wait);
  EXPECT_EQ(fateAround({.isRecorded = false}), Fate::Delete) << "nobody has asked";
  EXPECT_EQ(fateAround({.isLive = false}), Fate::Delete) << "it is being deleted already";
  EXPECT_EQ(fateAround({.isAllowed = false}), Fate::Delete) << "it is not due";
  EXPECT_EQ(fateAround({.isWanted = false}), Fate::Delete) << "lastout leaves it alone";
  for (const DeferralState deferralState : {DeferralState::Waits, DeferralState::TakenBack})
    EXPECT_EQ(fateAround({.deferralState = deferralState}), Fate::Delete) << "lastout does not delete it";
  const SomeFacts denied({{kSpace, {.isAllowed = false, .before = {kInside}}}, {kInside, {}}});
  EXPECT_EQ(fateOf(denied, kSpace), Fate::Wait);
  EXPECT_EQ(fateOf(denied, kInside), Fate::Delete) << "it waits for no container";
}

TEST(OwnerNow, IsGoneOnlyWhereItsTypeIsKnown) {
  EXPECT_EQ(ownerNow({.isThere = false}), OwnerNow::Gone);
  EXPECT_EQ(ownerNow({.isThere = false, .isTypeBelieved = false}), OwnerNow::Staying) << "it may be there";
}

TEST(OwnerNow, HoldsBackUnlessItGoesAndTakesTheObjectAlong) {
  EXPECT_EQ(ownerNow({.isThere = true}), OwnerNow::Staying);
  EXPECT_EQ(ownerNow({.isThere = true, .orphans = true}), OwnerNow::Staying) << "nobody deletes it";
  EXPECT_EQ(ownerNow({.isThere = true, .terminates = true}), OwnerNow::Leaving);
  EXPECT_EQ(ownerNow({.isThere = true, .terminates = true, .orphans = true}), OwnerNow::Orphaning);
  EXPECT_TRUE(orphansDependents(std::vector<std::string>{"example.com/a", "orphan"}));
  EXPECT_FALSE(orphansDependents(std::vector<std::string>{"foregroundDeletion"}));
}

}  // namespace
}  // namespace lastout::control
