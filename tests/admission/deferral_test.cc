// Which CriticalService records what lastout denied, held against docs/concepts.md.
#include "admission/deferral.h"

#include <gtest/gtest.h>

namespace lastout::admission {
namespace {

TEST(DeferredDeletionMemory, IsOfThoseWhoOutliveTheObject) {
  EXPECT_TRUE(recordsDeferral(GuardedAs::Provider, false));
  EXPECT_TRUE(recordsDeferral(GuardedAs::ProviderAncestor, false));
  EXPECT_TRUE(recordsDeferral(GuardedAs::Dependency, false));
  EXPECT_TRUE(recordsDeferral(GuardedAs::Service, true));
  EXPECT_FALSE(recordsDeferral(GuardedAs::Service, false)) << "the CRD of CriticalServices";
  EXPECT_FALSE(recordsDeferral(GuardedAs::LastoutNamespace, false));
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
