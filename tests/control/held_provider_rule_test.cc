// The plan of held providers, held against docs/enforcement.md. That the server and the machine follow it is
// in tests/properties/plans_test.cc, tests/faults/held_provider_test.cc and
// tests/cluster/held_provider_actions_test.cc.
#include "control/held_provider_rule.h"

#include <gtest/gtest.h>

#include <functional>

namespace lastout::control {
namespace {

// A provider, and what the CriticalServices say that guard it.
struct HoldingFacts {
  bool terminates = false;
  bool isHeld = false;
  bool endsAnyway = false;
  bool isToBeHeld = false;
  bool mayEnd = false;
  bool isUnsure = false;
};

// The rows as a source of facts, of one provider.
struct OneProvider {
  const HoldingFacts& facts;
  bool mayLastoutHold = true;

  bool mayHold() const { return mayLastoutHold; }
  bool isUnsure() const { return facts.isUnsure; }
  bool terminates(int /*provider*/) const { return facts.terminates; }
  bool isHeld(int /*provider*/) const { return facts.isHeld; }
  bool endsAnyway(int /*provider*/) const { return facts.endsAnyway; }
  bool isToBeHeld(int /*provider*/) const { return facts.isToBeHeld; }
  bool mayEnd(int /*provider*/) const {
    EXPECT_TRUE(facts.isHeld && facts.terminates) << "a verdict is asked for, and nothing depends on it";
    return facts.mayEnd;
  }
};

HeldProviderAction heldProviderActionOf(const HoldingFacts& facts) {
  return planHeldProvider(OneProvider{facts}, 0);
}

// Every combination of facts for which `which` holds.
void forAll(const std::function<bool(const HoldingFacts&)>& which,
            const std::function<void(const HoldingFacts&)>& check) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const HoldingFacts facts{.terminates = (bits & 1) != 0,
                             .isHeld = (bits & 2) != 0,
                             .endsAnyway = (bits & 4) != 0,
                             .isToBeHeld = (bits & 8) != 0,
                             .mayEnd = (bits & 16) != 0,
                             .isUnsure = (bits & 32) != 0};
    if (which(facts)) check(facts);
  }
}

TEST(HeldProviderAction, BeginsWhileEveryGuardWantsItAndNeverOfWhatTerminates) {
  forAll([](const HoldingFacts& facts) { return !facts.isHeld && !facts.isUnsure; },
         [](const HoldingFacts& facts) {
           const bool begins = facts.isToBeHeld && !facts.terminates;
           EXPECT_EQ(heldProviderActionOf(facts),
                     begins ? HeldProviderAction::Begins : HeldProviderAction::AsItIs);
         });
}

TEST(HeldProviderAction, EndsOfWhatIsNotDeletedWhenNobodyOrNotEverybodyWantsIt) {
  forAll([](const HoldingFacts& facts) { return facts.isHeld && !facts.terminates && !facts.isUnsure; },
         [](const HoldingFacts& facts) {
           EXPECT_EQ(heldProviderActionOf(facts),
                     facts.isToBeHeld ? HeldProviderAction::AsItIs : HeldProviderAction::Ends);
         });
}

TEST(HeldProviderAction, OfWhatTerminatesEndsOnlyWithItsCriteriaWhateverIsWantedByNow) {
  forAll(
      [](const HoldingFacts& facts) {
        return facts.isHeld && facts.terminates && !facts.isUnsure && !facts.endsAnyway;
      },
      [](const HoldingFacts& facts) {
        EXPECT_EQ(heldProviderActionOf(facts),
                  facts.mayEnd ? HeldProviderAction::LetsItGo : HeldProviderAction::AsItIs);
      });
}

TEST(HeldProviderAction, OfWhatEndsInTheForegroundEndsBeforeIt) {
  forAll(
      [](const HoldingFacts& facts) {
        return facts.isHeld && facts.terminates && !facts.isUnsure && facts.endsAnyway;
      },
      [](const HoldingFacts& facts) { EXPECT_EQ(heldProviderActionOf(facts), HeldProviderAction::Ends); });
}

TEST(HeldProviderAction, StaysAsItIsWhileItIsNotKnownWhoGuards) {
  forAll(
      [](const HoldingFacts& facts) { return facts.isUnsure; },
      [](const HoldingFacts& facts) { EXPECT_EQ(heldProviderActionOf(facts), HeldProviderAction::AsItIs); });
}

// As `lastout serve` does where it must not hold anything (docs/enforcement.md).
TEST(HeldProviderAction, EndsWithoutConditionsWhereNothingIsToBeHeld) {
  forAll([](const HoldingFacts&) { return true; },
         [](const HoldingFacts& facts) {
           EXPECT_EQ(planHeldProvider(OneProvider{facts, false}, 0),
                     facts.isHeld ? HeldProviderAction::Ends : HeldProviderAction::AsItIs);
         });
}

}  // namespace
}  // namespace lastout::control
