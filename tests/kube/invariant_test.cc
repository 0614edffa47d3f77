// An invariant that is broken ends the process, in every preset, and says where.
#include "kube/invariant.h"

#include <gtest/gtest.h>

namespace lastout::kube {
namespace {

TEST(Invariant, HoldsAndCostsNothingElse) {
  int looked = 0;
  LASTOUT_INVARIANT(++looked == 1);
  EXPECT_EQ(looked, 1);
}

TEST(InvariantDeathTest, EndsTheProcessAndNamesTheCondition) {
  const int count = 0;
  EXPECT_DEATH(LASTOUT_INVARIANT(count > 0),
               "a defect: .*invariant_test.cc:[0-9]+: count > 0 does not hold; please report it");
}

}  // namespace
}  // namespace lastout::kube
