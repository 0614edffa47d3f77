// What is found in PEM texts, and what OpenSSL's queue of errors has afterwards.
#include "tls/pem.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "simulator/certificates.h"

namespace lastout::tls {
namespace {

constexpr simulator::Validity kAlways{0, 4'102'444'800};  // until 2100
constexpr const char* kBroken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

simulator::CertifiedKey authorityNamed(std::string_view name) {
  return simulator::makeAuthority(name, kAlways).value();
}

std::string nameIn(X509& certificate) {
  char name[100] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName, name, sizeof(name));
  return name;
}

class PemTest : public ::testing::Test {
 public:
  PemTest() { ERR_clear_error(); }
  ~PemTest() override { ERR_clear_error(); }
  simulator::CertifiedKey first = authorityNamed("first");
  simulator::CertifiedKey second = authorityNamed("second");
};

TEST_F(PemTest, FindsAllCertificatesAmongOtherThings) {
  const Certificates found = certificatesIn("# ours\n" + first.certificate + first.key + "# theirs\n" +
                                            second.certificate + "bye\n");
  EXPECT_FALSE(found.broken);
  ASSERT_EQ(found.read.size(), 2);
  EXPECT_EQ(nameIn(*found.read[0]), "first");
  EXPECT_EQ(nameIn(*found.read[1]), "second");
  EXPECT_EQ(ERR_peek_error(), 0);
}

TEST_F(PemTest, LeavesEarlierErrorsWhereTheyAre) {
  ERR_raise(ERR_LIB_USER, 7);
  EXPECT_EQ(certificatesIn(first.certificate).read.size(), 1);
  EXPECT_EQ(ERR_GET_REASON(ERR_get_error()), 7);
  EXPECT_EQ(ERR_peek_error(), 0);
}

TEST_F(PemTest, EndsAtACertificateThatCannotBeRead) {
  const Certificates found = certificatesIn(first.certificate + kBroken + second.certificate);
  EXPECT_TRUE(found.broken);
  ASSERT_EQ(found.read.size(), 1);
  EXPECT_EQ(nameIn(*found.read[0]), "first");
  EXPECT_NE(ERR_peek_error(), 0);
}

TEST_F(PemTest, KnowsTextsWithoutACertificate) {
  for (const std::string_view text :
       {std::string_view(), std::string_view("no PEM"), std::string_view(first.key)}) {
    ERR_clear_error();
    const Certificates found = certificatesIn(text);
    EXPECT_FALSE(found.broken) << text;
    EXPECT_TRUE(found.read.empty()) << text;
    EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), PEM_R_NO_START_LINE) << text;
    EXPECT_EQ(certificateIn(text), nullptr) << text;
  }
}

TEST_F(PemTest, ReadsTheFirstCertificateAndItsKey) {
  const Owned<X509> certificate = certificateIn(first.certificate + second.certificate);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(nameIn(*certificate), "first");
  const Owned<EVP_PKEY> key = privateKeyIn(first.key);
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(X509_check_private_key(certificate.get(), key.get()), 1);
  EXPECT_EQ(privateKeyIn(""), nullptr);
  EXPECT_EQ(privateKeyIn(first.certificate), nullptr);
}

TEST_F(PemTest, AsksNobodyForAPassphrase) {
  const Owned<BIO> locked(BIO_new(BIO_s_mem()));
  char passphrase[] = "secret";
  PEM_write_bio_PrivateKey(locked.get(), privateKeyIn(first.key).get(), EVP_aes_256_cbc(), nullptr, 0,
                           nullptr, passphrase);
  const std::string text = textIn(*locked);
  EXPECT_TRUE(text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")) << text;
  EXPECT_EQ(privateKeyIn(text), nullptr);
}

}  // namespace
}  // namespace lastout::tls
