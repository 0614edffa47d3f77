#include "simulator/tls.h"

#include <openssl/ssl.h>

#include <string_view>

#include "simulator/certificates.h"
#include "tls/error.h"
#include "tls/pem.h"

namespace lastout::simulator {
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
