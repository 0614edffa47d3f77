// Which CriticalService remembers what lastout denied, held against docs/concepts.md.
#include "admission/deferred_deletion.h"

#include <gtest/gtest.h>

namespace lastout::admission {
namespace {

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
