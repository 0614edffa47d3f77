// Whom a client believes, and what it shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "client/http.h"
#include "tests/client/asking.h"
#include "tests/client/tls_peer.h"
#include "tls/pem.h"

namespace lastout::client {
namespace {

using lastout::testing::ask;
using lastout::testing::kOneAnswer;
using lastout::testing::PeerConnection;
using lastout::testing::pki;
using lastout::testing::serverAt;
using lastout::testing::TlsPeer;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class HttpTlsTest : public ::testing::Test {
 protected:
  // The error with these options, at a peer that shows this certificate; "" when it has answered.
  std::string errorOf(const HttpOptions& changes, const simulator::CertifiedKey& certificate) {
    TlsPeer::Options peerOptions;
    peerOptions.certificate = &certificate;
    TlsPeer peer(
        [this](PeerConnection& connection) {
          const std::string request = connection.request();
          if (request.empty()) return;
          ++requests_;
          connection.send(kOneAnswer);
        },
        peerOptions);
    HttpOptions options = changes;
    options.host = "127.0.0.1";
    options.port = peer.port();
    ApiRequest request = lastout::testing::get("/");
    request.authorization = "Bearer secret";
    return ask(*serverAt(options), request).error;
  }

  HttpOptions believing(const std::string& authorities) {
    HttpOptions options;
    options.authorities = authorities;
    return options;
  }

  std::atomic<int> requests_{0};
};

TEST_F(HttpTlsTest, BelievesTheGivenAuthoritiesAlone) {
  EXPECT_EQ(errorOf(believing(pki().authority.certificate), pki().server), "");
  EXPECT_EQ(errorOf(believing(pki().other.certificate + "\n" + pki().authority.certificate), pki().server),
            "");
  EXPECT_EQ(requests_, 2);
  EXPECT_NE(errorOf(believing(pki().other.certificate), pki().server), "");
  EXPECT_THAT(errorOf(believing(pki().other.certificate), pki().server),
              EndsWith("/: the server's certificate is not signed by the given certificate authority"));
  HttpOptions none = believing("");
  none.authorityHint = "name one";
  EXPECT_THAT(
      errorOf(none, pki().server),
      EndsWith("/: the server's certificate is not signed by an authority that this system trusts, and "
               "no other is given; name one"));
  EXPECT_EQ(requests_, 2) << "no credentials are sent to whom it does not believe";
}

TEST_F(HttpTlsTest, ACertificateMayBeBelievedForItself) {
  EXPECT_EQ(errorOf(believing(pki().server.certificate), pki().server), "");
}

TEST_F(HttpTlsTest, WantsTheNameOfTheServer) {
  HttpOptions options = believing(pki().authority.certificate);
  options.serverName = "api.test";
  EXPECT_EQ(errorOf(options, pki().server), "");
  EXPECT_EQ(requests_, 1);
  for (const char* name : {"other.test", "test", "x.api.test", "127.0.0.2", "::1", "lastout"}) {
    options.serverName = name;
    EXPECT_THAT(errorOf(options, pki().server),
                EndsWith("/: the server's certificate does not name \"" + std::string(name) + "\""));
  }
  EXPECT_EQ(requests_, 1);
}

TEST_F(HttpTlsTest, WantsACertificateOfToday) {
  EXPECT_THAT(errorOf(believing(pki().authority.certificate), pki().expired),
              EndsWith("/: the server's certificate is not believed: certificate has expired"));
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpTlsTest, WantsACertificateOfAServer) {
  EXPECT_NE(errorOf(believing(pki().authority.certificate), pki().client), "");
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpTlsTest, BelievesAnybodyWhereItIsToldTo) {
  HttpOptions options = believing(pki().other.certificate);
  options.verify = false;
  options.serverName = "other.test";
  EXPECT_EQ(errorOf(options, pki().server), "");
  EXPECT_EQ(errorOf(options, pki().expired), "");
  options.authorities = "";
  EXPECT_EQ(errorOf(options, pki().server), "");
}

TEST(HttpClientCertificate, IsShownWhereItIsAskedFor) {
  std::string name;
  TlsPeer::Options peerOptions;
  peerOptions.clientCertificates = true;
  TlsPeer peer(
      [&](PeerConnection& connection) {
        name = connection.clientName();
        connection.request();
        connection.send(kOneAnswer);
      },
      peerOptions);
  HttpOptions options = peer.options();
  const std::string refused = ask(*serverAt(options), "/").error;
  EXPECT_THAT(refused, HasSubstr("/: the connection ended without an answer: "));
  EXPECT_THAT(refused, HasSubstr("certificate required"));
  EXPECT_EQ(name, "");
  options.clientCertificate = pki().client.certificate + pki().authority.certificate;
  options.clientKey = pki().client.key;
  EXPECT_EQ(ask(*serverAt(options), "/").error, "");
  EXPECT_EQ(name, "lastout-test");
}

std::string lockedKey() {
  const auto key = tls::privateKeyIn(pki().client.key);
  const tls::Owned<BIO> locked(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(locked.get(), key.get(), EVP_aes_128_cbc(), "word", 4, nullptr, nullptr);
  return tls::textIn(*locked);
}

TEST(HttpOpen, RefusesWhatCannotBeUsed) {
  HttpOptions fine;
  fine.host = "127.0.0.1";
  fine.authorities = pki().authority.certificate;
  fine.clientCertificate = pki().client.certificate;
  fine.clientKey = pki().client.key;
  const auto errorWith = [&](const std::function<void(HttpOptions&)>& change) {
    HttpOptions options = fine;
    change(options);
    const auto server = HttpApiServer::open(options);
    return server ? "" : server.error().message;
  };
  EXPECT_EQ(errorWith([](HttpOptions&) {}), "");
  const std::string broken = pki().authority.certificate.substr(0, 200) + "\n-----END CERTIFICATE-----\n";
  for (const std::string& pem :
       {std::string("hello"), pki().client.key, broken, pki().authority.certificate + broken})
    EXPECT_THAT(errorWith([&](HttpOptions& options) { options.authorities = pem; }),
                HasSubstr("https://127.0.0.1:443: the certificate authority is no PEM certificate"));
  EXPECT_THAT(errorWith([](HttpOptions& options) { options.clientCertificate = "hello"; }),
              HasSubstr("the client certificate is no PEM certificate"));
  EXPECT_THAT(errorWith([](HttpOptions& options) { options.clientCertificate = ""; }),
              HasSubstr("the client certificate is no PEM certificate"));
  EXPECT_THAT(errorWith([](HttpOptions& options) { options.clientKey = ""; }),
              HasSubstr("the client certificate's key is no PEM key without a password"));
  EXPECT_THAT(errorWith([](HttpOptions& options) { options.clientKey = lockedKey(); }),
              HasSubstr("the client certificate's key is no PEM key without a password"));
  EXPECT_THAT(errorWith([](HttpOptions& options) { options.clientKey = pki().server.key; }),
              HasSubstr("the key does not belong to the client certificate"));
  for (const char* host : {"", "a b", "a\r\nb"})
    EXPECT_THAT(errorWith([&](HttpOptions& options) { options.host = host; }),
                EndsWith(" is no host of an API server"));
  for (const char* prefix : {"/", "x", "/x/", "/x?y", "/x y"})
    EXPECT_THAT(errorWith([&](HttpOptions& options) { options.pathPrefix = prefix; }),
                EndsWith(" is no path of an API server"));
  EXPECT_NE(errorWith([](HttpOptions& options) { options.userAgent = "a\nb"; }), "");
  for (const auto& header : {std::pair("", "x"), std::pair("A b", "x"), std::pair("A", "x\r\nB: y")})
    EXPECT_NE(errorWith([&](HttpOptions& options) {
                options.headers = {{header.first, header.second}};
              }),
              "")
        << header.first;
}

}  // namespace
}  // namespace lastout::client
