// Identities that cannot be used, and why.
#include "net/tls_context.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "tests/net/http_world.h"
#include "tls/pem.h"

namespace lastout::net {
namespace {

using ::testing::HasSubstr;

std::string problemOf(const TlsIdentity& identity) {
  const auto context = makeTlsContext(identity);
  return context ? "" : context.error().message;
}

class TlsContextTest : public ::testing::Test {
 public:
  simulator::CertifiedKey authority = testing::testAuthority("test");
  TlsIdentity identity = testing::testIdentity(authority);
};

TEST_F(TlsContextTest, IsMadeOfACertificateWithItsChain) {
  identity.certificate += authority.certificate;
  identity.clientCa = authority.certificate + testing::testAuthority("other").certificate;
  EXPECT_EQ(problemOf(identity), "");
}

TEST_F(TlsContextTest, SaysWhichPartIsWrong) {
  TlsIdentity bad = identity;
  bad.certificate = "no PEM";
  EXPECT_THAT(problemOf(bad), HasSubstr("the server's certificate"));
  bad = identity;
  bad.privateKey = "";
  EXPECT_THAT(problemOf(bad), HasSubstr("the server's private key"));
  bad.privateKey = authority.key;
  EXPECT_THAT(problemOf(bad), HasSubstr("the server's private key"));
  bad = identity;
  bad.clientCa = "no PEM";
  EXPECT_THAT(problemOf(bad), HasSubstr("the authority of clients"));
}

TEST_F(TlsContextTest, AsksNobodyForAPassphrase) {
  const auto key = tls::privateKeyIn(identity.privateKey);
  const tls::Owned<BIO> locked(BIO_new(BIO_s_mem()));
  char passphrase[] = "secret";
  PEM_write_bio_PrivateKey(locked.get(), key.get(), EVP_aes_256_cbc(), nullptr, 0, nullptr, passphrase);
  identity.privateKey = tls::textIn(*locked);
  EXPECT_THAT(problemOf(identity), HasSubstr("the server's private key"));
}

}  // namespace
}  // namespace lastout::net
