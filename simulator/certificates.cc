#include "simulator/certificates.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "kube/encoding.h"
#include "simulator/json.h"
#include "tls/error.h"
#include "tls/names.h"
#include "tls/pem.h"

namespace lastout::simulator {
namespace {

tl::unexpected<kube::Error> nobody(std::string message) {
  return tl::unexpected(kube::Error{std::move(message), "", {}});
}

}  // namespace

kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const UserInfo& user,
                                                 const Validity& validity) {
  return tls::makeClientCertificate(authority, user.username, user.groups, validity);
}

kube::Result<UserInfo> userOf(const x509_st* certificate) {
  if (certificate == nullptr) return nobody("there is no client certificate");
  const std::vector<std::string> commonNames = tls::subjectTexts(*certificate, NID_commonName);
  if (commonNames.empty() || commonNames.front().empty())
    return nobody("the client certificate has no common name");
  UserInfo user{commonNames.front(), "", tls::subjectTexts(*certificate, NID_organizationName), {}};
  constexpr std::string_view kAuthenticated = "system:authenticated";
  if (std::ranges::find(user.groups, kAuthenticated) == user.groups.end())
    user.groups.emplace_back(kAuthenticated);
  return user;
}

std::string kubeconfig(std::string_view server, std::string_view authority, const Credentials& credentials) {
  Json cluster = {{"server", server}};
  if (!authority.empty()) {
    cluster["certificate-authority-data"] = kube::toBase64(authority);
  } else {
    cluster["insecure-skip-tls-verify"] = true;  // @kubernetes/client-node takes no http:// without it
  }
  Json user = Json::object();
  if (!credentials.token.empty()) {
    user["token"] = credentials.token;
  } else if (!authority.empty() && !credentials.client.certificate.empty()) {
    user["client-certificate-data"] = kube::toBase64(credentials.client.certificate);
    user["client-key-data"] = kube::toBase64(credentials.client.key);
  }
  const Json config = {
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", Json::array({{{"name", "lastout"}, {"cluster", std::move(cluster)}}})},
      {"users", Json::array({{{"name", "lastout"}, {"user", std::move(user)}}})},
      {"contexts",
       Json::array({{{"name", "lastout"}, {"context", {{"cluster", "lastout"}, {"user", "lastout"}}}}})},
      {"current-context", "lastout"}};
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

tl::unexpected<kube::Error> unusable(const char* what) {
  const std::string reason = tls::takeError();
  return tl::unexpected(kube::Error{
      std::string("cannot use the ") + what + ": " + (reason.empty() ? "it is empty" : reason), {}, {}});
}

}  // namespace

kube::Result<void> configureServer(SSL_CTX& context, const std::string& certificate,
                                   const std::string& privateKey, const std::string& clientAuthority) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  const auto own = tls::certificateIn(certificate);
  if (own == nullptr || SSL_CTX_use_certificate(&context, own.get()) != 1) return unusable("certificate");
  const auto key = tls::privateKeyIn(privateKey);
  if (key == nullptr || SSL_CTX_use_PrivateKey(&context, key.get()) != 1) return unusable("private key");
  // Without it no session of a client that was asked for a certificate can be resumed.
  constexpr std::string_view kSessions = "lastout";
  SSL_CTX_set_session_id_context(&context, reinterpret_cast<const unsigned char*>(kSessions.data()),
                                 kSessions.size());
  if (clientAuthority.empty()) return {};
  const auto authority = tls::certificateIn(clientAuthority);
  if (authority == nullptr || X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1 ||
      SSL_CTX_add_client_CA(&context, authority.get()) != 1)
    return unusable("authority of clients");
  // Whoever shows a wrong certificate is nobody, and told so in an answer (401), not by TLS: clientOf().
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
  return {};
}

std::optional<UserInfo> clientOf(const SSL& connection) {
  const X509* certificate = SSL_get0_peer_certificate(&connection);
  if (certificate == nullptr || SSL_get_verify_result(&connection) != X509_V_OK) return std::nullopt;
  auto user = userOf(certificate);
  if (!user) return std::nullopt;
  return std::move(*user);
}

}  // namespace lastout::simulator
