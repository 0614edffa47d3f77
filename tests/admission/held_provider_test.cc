// The rule of held providers, held against docs/enforcement.md. That the server and the machine follow it is
// in tests/faults/held_provider_test.cc and tests/cluster/held_provider_test.cc.
#include "admission/held_provider.h"

#include <gtest/gtest.h>

#include <functional>

namespace lastout::admission {
namespace {

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

TEST(Holding, BeginsWhileEveryGuardWantsItAndNeverOfWhatTerminates) {
  forAll([](const HoldingFacts& facts) { return !facts.isHeld && !facts.isUnsure; },
         [](const HoldingFacts& facts) {
           const bool begins = facts.isToBeHeld && !facts.terminates;
           EXPECT_EQ(holdingOf(facts), begins ? Holding::Begins : Holding::AsItIs);
         });
}

TEST(Holding, EndsOfWhatIsNotDeletedWhenNobodyOrNotEverybodyWantsIt) {
  forAll([](const HoldingFacts& facts) { return facts.isHeld && !facts.terminates && !facts.isUnsure; },
         [](const HoldingFacts& facts) {
           EXPECT_EQ(holdingOf(facts), facts.isToBeHeld ? Holding::AsItIs : Holding::Ends);
         });
}

TEST(Holding, OfWhatTerminatesEndsOnlyWithItsCriteriaWhateverIsWantedByNow) {
  forAll(
      [](const HoldingFacts& facts) {
        return facts.isHeld && facts.terminates && !facts.isUnsure && !facts.endsAnyway;
      },
      [](const HoldingFacts& facts) {
        EXPECT_EQ(holdingOf(facts), facts.mayEnd ? Holding::LetsItGo : Holding::AsItIs);
      });
}

TEST(Holding, OfWhatEndsInTheForegroundEndsBeforeIt) {
  forAll(
      [](const HoldingFacts& facts) {
        return facts.isHeld && facts.terminates && !facts.isUnsure && facts.endsAnyway;
      },
      [](const HoldingFacts& facts) { EXPECT_EQ(holdingOf(facts), Holding::Ends); });
}

TEST(Holding, StaysAsItIsWhileItIsNotKnownWhoGuards) {
  forAll([](const HoldingFacts& facts) { return facts.isUnsure; },
         [](const HoldingFacts& facts) { EXPECT_EQ(holdingOf(facts), Holding::AsItIs); });
}

TEST(MannerOfDeletion, IsThatWhichEndsTheProviderUnlessTheFinalizerKeepsAllOfIt) {
  for (const Asked asked : {Asked::Nothing, Asked::Foreground, Asked::BackgroundOrOrphan}) {
    for (const bool waits : {false, true}) EXPECT_EQ(mannerOf(false, waits, asked), Manner::Ending);
  }
  EXPECT_EQ(mannerOf(true, false, askedBy("")), Manner::Held);
  EXPECT_EQ(mannerOf(true, true, askedBy("")), Manner::Ending) << "an earlier DELETE said Foreground";
  for (const char* const policy : {"Background", "Orphan"}) {
    EXPECT_EQ(mannerOf(true, false, askedBy(policy)), Manner::Held);
    EXPECT_EQ(mannerOf(true, true, askedBy(policy)), Manner::Held) << "it takes that back";
  }
  for (const bool waits : {false, true})
    EXPECT_EQ(mannerOf(true, waits, askedBy("Foreground")), Manner::Ending);
}

}  // namespace
}  // namespace lastout::admission
