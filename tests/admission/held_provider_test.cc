// Which DELETE ends a provider, held against docs/semantics.md, "propagation".
#include "admission/held_provider.h"

#include <gtest/gtest.h>

namespace lastout::admission {
namespace {

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
