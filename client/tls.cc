#include "client/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <utility>
#include <vector>

#include "kube/quoting.h"
#include "tls/names.h"
#include "tls/pem.h"

namespace lastout::client {
namespace {

tl::unexpected<kube::Error> tlsError(std::string message) {
  if (const auto code = ERR_get_error(); code != 0) {
    const char* reason = ERR_reason_error_string(code);
    message += std::string(": ") + (reason == nullptr ? "unknown" : reason);
  }
  ERR_clear_error();
  return tl::unexpected(kube::Error{std::move(message), {}, {}});
}

// Empty when there is none, or one of them is broken.
std::vector<tls::Owned<X509>> certificatesOf(const std::string& pem) {
  tls::Certificates certificates = tls::certificatesIn(pem);
  if (certificates.broken) return {};
  ERR_clear_error();
  return std::move(certificates.read);
}

kube::Result<void> trust(SSL_CTX& context, const std::string& authorities) {
  if (authorities.empty()) {
    if (SSL_CTX_set_default_verify_paths(&context) != 1)
      return tlsError("the system's authorities cannot be read");
    return {};
  }
  const tls::Owned<X509_STORE> store(X509_STORE_new());
  const auto certificates = certificatesOf(authorities);
  if (certificates.empty()) return tlsError("the certificate authority is no PEM certificate");
  for (const auto& certificate : certificates) {
    if (X509_STORE_add_cert(store.get(), certificate.get()) != 1)
      return tlsError("the certificate authority cannot be used");
  }
  // An authority need not be signed by itself to be believed.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  if (SSL_CTX_set1_verify_cert_store(&context, store.get()) != 1)
    return tlsError("the certificate authority cannot be used");
  return {};
}

kube::Result<void> expectName(SSL_CTX& context, const std::string& name) {
  if (!tls::expectServerName(context, name))
    return tlsError(kube::inQuotes(name) + " is no name of a server");
  return {};
}

kube::Result<void> show(SSL_CTX& context, const TlsOptions& options) {
  if (options.certificate.empty() && options.privateKey.empty()) return {};
  const auto chain = certificatesOf(options.certificate);
  if (chain.empty()) return tlsError("the client certificate is no PEM certificate");
  if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1)
    return tlsError("the client certificate cannot be used");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1)
      return tlsError("the client certificate's chain cannot be used");
  }
  const auto key = tls::privateKeyIn(options.privateKey);
  if (key == nullptr) return tlsError("the client certificate's key is no PEM key without a password");
  if (SSL_CTX_use_PrivateKey(&context, key.get()) != 1 || SSL_CTX_check_private_key(&context) != 1)
    return tlsError("the key does not belong to the client certificate");
  return {};
}

}  // namespace

kube::Result<void> configureClient(SSL_CTX& context, const TlsOptions& options) {
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  if (options.verify) {
    if (auto done = trust(context, options.authorities); !done) return done;
    if (auto done = expectName(context, options.serverName); !done) return done;
  }
  return show(context, options);
}

}  // namespace lastout::client
