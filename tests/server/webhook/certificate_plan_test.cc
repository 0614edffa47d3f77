// What the Secret should say, as time passes.
#include "server/webhook/certificate_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/parse.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

constexpr int64_t kDay = 86'400;
constexpr int64_t kNow = 20'000 * kDay;
const tls::ServerNames kNames{{"lastout.lastout.svc", "localhost"}, {"127.0.0.1"}};

// Between two looks. Each look checks signatures, which takes its time.
#ifdef LASTOUT_SANITIZED
constexpr int64_t kLookAfter = 29 * kDay;  // a third of a certificate's life is longer
#else
constexpr int64_t kLookAfter = 9 * kDay;
#endif

SharedCertificate made(int64_t now) { return nextCertificate({}, kNames, {}, now).value().value(); }

std::optional<SharedCertificate> next(const SharedCertificate& shared, int64_t now,
                                      const tls::ServerNames& names = kNames) {
  return nextCertificate(shared, names, {}, now).value();
}

TEST(CertificatePlan, MakesAnAuthorityAndACertificateForItsNames) {
  const SharedCertificate shared = made(kNow);
  EXPECT_TRUE(isUsable(shared, kNow));
  EXPECT_TRUE(tls::isFor(shared.certificate, kNames));
  EXPECT_TRUE(tls::isSignedBy(shared.certificate, shared.authorities));
  EXPECT_EQ(next(shared, kNow), std::nullopt) << "it is right";
  EXPECT_FALSE(isUsable(shared, kNow + 91 * kDay)) << "expired";
}

TEST(CertificatePlan, SurvivesTheSecret) {
  const SharedCertificate shared = made(kNow);
  const auto secret = kube::fromJson(secretOf("lastout", "lastout-tls", shared, "7"));
  EXPECT_EQ(sharedCertificateIn(secret), shared);
  EXPECT_EQ(*secret.at({"metadata", "resourceVersion"})->asString(), "7");
  EXPECT_EQ(sharedCertificateIn(kube::parseJson(R"({"data":{"tls.crt":"%","tls.key":5}})", "").value()),
            SharedCertificate());
}

TEST(CertificatePlan, RenewsTheCertificateWithAThirdOfItsLifeLeft) {
  const SharedCertificate shared = made(kNow);
  EXPECT_EQ(next(shared, kNow + 59 * kDay), std::nullopt);
  const auto renewed = next(shared, kNow + 61 * kDay);
  ASSERT_TRUE(renewed);
  EXPECT_NE(renewed->certificate, shared.certificate);
  EXPECT_NE(renewed->key, shared.key);
  EXPECT_EQ(renewed->authorities, shared.authorities);
  EXPECT_TRUE(isUsable(*renewed, kNow + 150 * kDay));
}

TEST(CertificatePlan, ANewAuthorityIsTrustedBeforeItSigns) {
  const int64_t late = kNow + 1'217 * kDay;  // of 1825
  SharedCertificate shared = made(kNow);
  for (int64_t now = kNow; now + kDay < late; now += 8 * kDay) shared = next(shared, now).value_or(shared);
  const auto both = next(shared, late);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->certificate, shared.certificate) << "those who have not heard of the new one trust this";
  EXPECT_TRUE(both->authorities.ends_with(shared.authorities));
  EXPECT_TRUE(isUsable(*both, late));
  EXPECT_EQ(next(*both, late + 3'500), std::nullopt);
  const auto signedAnew = next(*both, late + 3'700);
  ASSERT_TRUE(signedAnew);
  EXPECT_EQ(signedAnew->authorities, both->authorities) << "the old one's certificates are still in use";
  EXPECT_TRUE(tls::isSignedBy(signedAnew->certificate, signedAnew->authorities))
      << "the first is the new one";
  EXPECT_EQ(next(*signedAnew, late + 3'800), std::nullopt);
}

TEST(CertificatePlan, IsUsableAtEveryMomentOfTenYears) {
  SharedCertificate shared = made(kNow);
  for (int64_t now = kNow; now < kNow + 10 * 365 * kDay; now += kLookAfter) {
    const SharedCertificate before = shared;
    shared = next(shared, now).value_or(shared);
    ASSERT_TRUE(isUsable(shared, now));
    // Who has heard of nothing yet still trusts what is shown.
    SharedCertificate mixed = shared;
    mixed.authorities = before.authorities;
    ASSERT_TRUE(isUsable(mixed, now));
  }
}

TEST(CertificatePlan, MakesAnewWhatIsBroken) {
  SharedCertificate shared = made(kNow);
  shared.key = "no key";
  EXPECT_TRUE(isUsable(next(shared, kNow).value(), kNow));
  shared = made(kNow);
  shared.authorities = "no authority";
  EXPECT_TRUE(isUsable(next(shared, kNow).value(), kNow));
  shared = made(kNow);
  EXPECT_TRUE(isUsable(next(shared, kNow + 10 * 365 * kDay).value(), kNow + 10 * 365 * kDay))
      << "nobody ran for ten years";
  const tls::ServerNames other{{"lastout.elsewhere.svc"}, {}};
  EXPECT_TRUE(tls::isFor(next(shared, kNow, other)->certificate, other));
}

// cert-manager, say: it writes tls.crt, tls.key and ca.crt, and leaves what else is there.
TEST(CertificatePlan, LeavesTheSecretToWhomeverTookItOver) {
  SharedCertificate shared = made(kNow);
  shared.authorityKey = made(kNow).authorityKey;
  EXPECT_EQ(next(shared, kNow), std::nullopt) << "it gets no second authority";
  EXPECT_EQ(next(shared, kNow + 89 * kDay), std::nullopt) << "nor a new certificate";
  const auto expired = nextCertificate(shared, kNames, {}, kNow + 91 * kDay);
  ASSERT_FALSE(expired);
  EXPECT_NE(expired.error().message.find("its ca.key is of no authority in its ca.crt"), std::string::npos);
  shared.authorityKey = "no key";
  EXPECT_TRUE(next(shared, kNow)) << "that is nobody's";
}

TEST(CertificatePlan, LeavesToOthersWhatTheyMake) {
  SharedCertificate shared = made(kNow);
  shared.authorityKey.clear();
  EXPECT_EQ(next(shared, kNow + 89 * kDay), std::nullopt);
  const auto expired = nextCertificate(shared, kNames, {}, kNow + 91 * kDay);
  ASSERT_FALSE(expired);
  EXPECT_NE(expired.error().message.find("it has no ca.key"), std::string::npos);
}

TEST(CertificatePlan, ANewPathStandsBesideTheFormerOne) {
  SharedCertificate shared{"crt", "key", "ca", "ca key"};
  const std::string first = reviewPathOf("key");
  EXPECT_EQ(reviewPathsOf(shared), std::vector<std::string>{first});
  const std::string seed(32, 'a');
  shared = withNewPath(shared, seed);
  const std::vector<std::string> both{reviewPathOf("key", seed), first};
  EXPECT_EQ(reviewPathsOf(shared), both);
  EXPECT_NE(both[0], both[1]);
  EXPECT_TRUE(isSecretPath(both[0]));
  const auto stored = kube::parseJson(secretOf("n", "s", shared).dump(), "").value();
  EXPECT_EQ(sharedCertificateIn(stored), shared);
  EXPECT_EQ(reviewPathsOf(withoutFormerPath(shared)), std::vector<std::string>{both[0]});
  shared = withNewPath(withNewPath(shared, std::string(32, 'b')), std::string(32, 'c'));
  EXPECT_EQ(reviewPathsOf(shared), (std::vector<std::string>{reviewPathOf("key", std::string(32, 'c')),
                                                             reviewPathOf("key", std::string(32, 'b'))}));
}

// Somebody wrote something else there.
TEST(CertificatePlan, WhatIsNoSeedIsNotUsed) {
  SharedCertificate shared{"crt", "key", "ca", "ca key"};
  for (const std::string& seed : {std::string("short"), std::string(32, 'X')}) {
    const auto stored = kube::parseJson(secretOf("n", "s", withNewPath(shared, seed)).dump(), "").value();
    EXPECT_EQ(sharedCertificateIn(stored), shared);
  }
}

}  // namespace
}  // namespace lastout::server
