#include "criticalservice/critical_service.h"

#include <gtest/gtest.h>

namespace lastout::criticalservice {
namespace {

TEST(ProviderStatus, TheFirstUidSeenIsRecordedForGood) {
  CriticalService service;
  EXPECT_EQ(observeProvider(service, std::nullopt).uid, "");
  const ProviderStatus first = observeProvider(service, "u1");
  EXPECT_EQ(first.uid, "u1");
  EXPECT_TRUE(first.present);
  EXPECT_FALSE(first.replaced);

  service.providerUid = first.uid;
  const ProviderStatus gone = observeProvider(service, std::nullopt);
  EXPECT_EQ(gone.uid, "u1");
  EXPECT_FALSE(gone.present);
  EXPECT_FALSE(gone.replaced);
}

TEST(ProviderStatus, AnotherUidMeansReplaced) {
  CriticalService service;
  service.providerUid = "u1";
  const ProviderStatus status = observeProvider(service, "u2");
  EXPECT_EQ(status.uid, "u1");
  EXPECT_TRUE(status.present);
  EXPECT_TRUE(status.replaced);
  EXPECT_FALSE(observeProvider(service, "u1").replaced);
}

TEST(ProviderStatus, AProviderWithoutAUidIsNotCalledReplaced) {
  CriticalService service;
  service.providerUid = "u1";
  const ProviderStatus status = observeProvider(service, "");
  EXPECT_TRUE(status.present);
  EXPECT_FALSE(status.replaced);
  EXPECT_EQ(status.uid, "u1");
}

}  // namespace
}  // namespace lastout::criticalservice
