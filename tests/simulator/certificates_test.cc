// Certificates, read back with OpenSSL.
#include "simulator/certificates.h"

#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "simulator/json.h"
#include "tests/simulator/https_server.h"
#include "tls/names.h"
#include "tls/pem.h"

namespace lastout::simulator {
namespace {

// Whether a client or a server that trusts `authority` accepts the certificate, at a time.
bool accepted(const std::string& authority, const std::string& certificate, const char* purpose,
              int64_t time) {
  const tls::Owned<X509_STORE> store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), tls::certificateIn(authority).get());
  const tls::Owned<X509> leaf = tls::certificateIn(certificate);
  const tls::Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), nullptr);
  X509_STORE_CTX_set_default(context.get(), purpose);
  X509_STORE_CTX_set_time(context.get(), 0, time);
  return X509_verify_cert(context.get()) == 1;
}

TEST(Certificates, OfAServerAreForItsNamesInTheirTime) {
  const CertifiedKey authority = makeAuthority("lastout", {1000, 9000}).value();
  const CertifiedKey server =
      makeServerCertificate(authority, {{"localhost", "hook.demo.svc"}, {"127.0.0.1", "::1"}}, {2000, 8000})
          .value();
  EXPECT_TRUE(accepted(authority.certificate, server.certificate, "ssl_server", 5000));
  EXPECT_FALSE(accepted(authority.certificate, server.certificate, "ssl_server", 1500)) << "too early";
  EXPECT_FALSE(accepted(authority.certificate, server.certificate, "ssl_server", 8500)) << "too late";
  EXPECT_FALSE(accepted(authority.certificate, server.certificate, "ssl_client", 5000)) << "it is a server's";
  const CertifiedKey other = makeAuthority("lastout", {1000, 9000}).value();
  EXPECT_FALSE(accepted(other.certificate, server.certificate, "ssl_server", 5000)) << "another authority's";
  const tls::Owned<X509> certificate = tls::certificateIn(server.certificate);
  EXPECT_EQ(X509_check_host(certificate.get(), "hook.demo.svc", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
  EXPECT_NE(X509_check_host(certificate.get(), "other.demo.svc", 0, 0, nullptr), 1);
  EXPECT_NE(X509_check_ip_asc(certificate.get(), "127.0.0.2", 0), 1);
}

TEST(Certificates, OfAClientSayWhoItIs) {
  const CertifiedKey authority = makeAuthority("lastout", kAlways).value();
  const UserInfo user{"jane", "", {"ops", "system:masters"}, {}};
  const CertifiedKey client = makeClientCertificate(authority, user, kAlways).value();
  EXPECT_TRUE(accepted(authority.certificate, client.certificate, "ssl_client", 5000));
  const tls::Owned<X509> certificate = tls::certificateIn(client.certificate);
  const UserInfo read = userOf(tls::subjectTexts(*certificate, NID_commonName).front(),
                               tls::subjectTexts(*certificate, NID_organizationName))
                            .value();
  EXPECT_EQ(read.username, "jane");
  EXPECT_EQ(read.groups, (std::vector<std::string>{"ops", "system:masters", "system:authenticated"}));
  EXPECT_FALSE(userOf("", {"system:masters"}));
}

TEST(Certificates, HaveSerialNumbersOfTheirOwn) {
  const CertifiedKey authority = makeAuthority("lastout", kAlways).value();
  const auto make = [&authority] {
    return tls::certificateIn(
        makeServerCertificate(authority, {{"localhost"}, {}}, kAlways).value().certificate);
  };
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(make().get()), X509_get0_serialNumber(make().get())), 0);
}

TEST(Certificates, AreNotMadeForWhatIsNoName) {
  const CertifiedKey authority = makeAuthority("lastout", kAlways).value();
  EXPECT_FALSE(makeAuthority(std::string(65, 'a'), kAlways));
  EXPECT_FALSE(makeServerCertificate(authority, {}, kAlways));
  EXPECT_FALSE(makeServerCertificate(authority, {{"a,IP:1.2.3.4"}, {}}, kAlways));
  EXPECT_FALSE(makeServerCertificate(authority, {{}, {"1.2.3"}}, kAlways));
  EXPECT_FALSE(makeServerCertificate(authority, {{}, {"1.2.3.4,DNS:a"}}, kAlways));
  EXPECT_FALSE(makeClientCertificate(authority, {"lastout", "", {"certificate authorities"}, {}}, kAlways))
      << "it would look as if it had signed itself";
  EXPECT_FALSE(makeServerCertificate({"no", "authority"}, {{"localhost"}, {}}, kAlways));
  EXPECT_FALSE(makeClientCertificate(authority, {"\xff\xfe", "", {}, {}}, kAlways));
  EXPECT_FALSE(makeClientCertificate(authority, {std::string(65, 'a'), "", {}, {}}, kAlways));
}

TEST(Kubeconfig, HoldsWhatKubectlNeeds) {
  const Json byCertificate = Json::parse(kubeconfig("https://127.0.0.1:6443", "CA", {{"CERT", "KEY"}, ""}));
  EXPECT_EQ(byCertificate["current-context"], "lastout");
  EXPECT_EQ(byCertificate["contexts"][0]["context"], (Json{{"cluster", "lastout"}, {"user", "lastout"}}));
  EXPECT_EQ(byCertificate["clusters"][0]["cluster"],
            (Json{{"server", "https://127.0.0.1:6443"}, {"certificate-authority-data", "Q0E="}}));
  EXPECT_EQ(byCertificate["users"][0]["user"],
            (Json{{"client-certificate-data", "Q0VSVA=="}, {"client-key-data", "S0VZ"}}));
  const Json byToken = Json::parse(kubeconfig("https://127.0.0.1:8080", "CA", {{}, "s3cret"}));
  EXPECT_EQ(byToken["users"][0]["user"], (Json{{"token", "s3cret"}}));
}

// @kubernetes/client-node refuses a server without TLS that is not said to be insecure.
TEST(Kubeconfig, OfAServerWithoutTlsShowsItNoCertificate) {
  const Json config = Json::parse(kubeconfig("http://127.0.0.1:8080", "", {{"CERT", "KEY"}, ""}));
  EXPECT_EQ(config["clusters"][0]["cluster"],
            (Json{{"server", "http://127.0.0.1:8080"}, {"insecure-skip-tls-verify", true}}));
  EXPECT_EQ(config["users"][0]["user"], Json::object());
}

}  // namespace
}  // namespace lastout::simulator
