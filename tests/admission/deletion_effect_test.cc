// Which DELETE ends a provider, held against docs/semantics.md, "propagation".
#include "admission/deletion_effect.h"

#include <gtest/gtest.h>

namespace lastout::admission {
namespace {

TEST(MannerOfDeletion, IsThatWhichEndsTheProviderUnlessTheFinalizerKeepsAllOfIt) {
  for (const RequestedPropagation asked : {RequestedPropagation::Nothing, RequestedPropagation::Foreground,
                                           RequestedPropagation::BackgroundOrOrphan}) {
    for (const bool waits : {false, true})
      EXPECT_EQ(deletionEffectOf(false, waits, asked), DeletionEffect::Ending);
  }
  EXPECT_EQ(deletionEffectOf(true, false, requestedPropagationOf("")), DeletionEffect::Held);
  EXPECT_EQ(deletionEffectOf(true, true, requestedPropagationOf("")), DeletionEffect::Ending)
      << "an earlier DELETE said Foreground";
  for (const char* const policy : {"Background", "Orphan"}) {
    EXPECT_EQ(deletionEffectOf(true, false, requestedPropagationOf(policy)), DeletionEffect::Held);
    EXPECT_EQ(deletionEffectOf(true, true, requestedPropagationOf(policy)), DeletionEffect::Held)
        << "it takes that back";
  }
  for (const bool waits : {false, true})
    EXPECT_EQ(deletionEffectOf(true, waits, requestedPropagationOf("Foreground")), DeletionEffect::Ending);
}

}  // namespace
}  // namespace lastout::admission
