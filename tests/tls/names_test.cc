// Names in certificates that were made for a test.
#include "tls/names.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "simulator/certificates.h"
#include "tls/pem.h"

namespace lastout::tls {
namespace {

constexpr simulator::Validity kUntil2100{0, 4'102'444'800};

TEST(SubjectTexts, AreAllOfAField) {
  const auto authority = simulator::makeAuthority("lastout", kUntil2100).value();
  const simulator::UserInfo user{"j\xc3\xa4ne", "", {"ops", "system:masters"}, {}};
  const auto made = simulator::makeClientCertificate(authority, user, kUntil2100).value();
  const Owned<X509> certificate = certificateIn(made.certificate);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(subjectTexts(*certificate, NID_commonName), std::vector<std::string>{"j\xc3\xa4ne"});
  EXPECT_EQ(subjectTexts(*certificate, NID_organizationName),
            (std::vector<std::string>{"ops", "system:masters"}));
  EXPECT_EQ(subjectTexts(*certificate, NID_countryName), std::vector<std::string>{});
}

TEST(ExpectServerName, TakesNamesAndAddresses) {
  const Owned<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  for (const char* name : {"hook.demo.svc", "127.0.0.1", "::1"})
    EXPECT_TRUE(expectServerName(*context, name)) << name;
  EXPECT_FALSE(expectServerName(*context, ""));
}

}  // namespace
}  // namespace lastout::tls
