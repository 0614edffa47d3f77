#include "client/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <utility>
#include <vector>

#include "kube/messages.h"
#include "tls/names.h"
#include "tls/openssl.h"
#include "tls/pem.h"

namespace lastout::client {
namespace {

tl::unexpected<kube::Error> tlsError(std::string message) {
  if (const std::string reason = tls::takeError(); !reason.empty()) message += ": " + reason;
  return tl::unexpected(kube::Error{std::move(message), {}, {}});
}

// Empty when there is none, or one of them is broken.
std::vector<tls::Owned<X509>> certificatesOf(const std::string& pem) {
  tls::Certificates certificates = tls::certificatesIn(pem);
  if (certificates.broken) return {};
  ERR_clear_error();
  return std::move(certificates.read);
}

kube::Result<tls::Owned<X509_STORE>> storeOf(const std::string& authorities) {
  tls::Owned<X509_STORE> store(X509_STORE_new());
  const auto certificates = certificatesOf(authorities);
  if (certificates.empty()) return tlsError("the certificate authority is no PEM certificate");
  for (const auto& certificate : certificates) {
    if (X509_STORE_add_cert(store.get(), certificate.get()) != 1)
      return tlsError("the certificate authority cannot be used");
  }
  // An authority need not be signed by itself to be believed.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return store;
}

}  // namespace

kube::Result<ClientTls> ClientTls::read(const TlsOptions& options) {
  ERR_clear_error();
  ClientTls client;
  client.verify_ = options.verify;
  client.serverName_ = options.serverName;
  if (options.verify && !options.authorities.empty()) {
    auto store = storeOf(options.authorities);
    if (!store) return tl::unexpected(std::move(store.error()));
    client.authorities_ = std::move(*store);
  }
  if (options.certificate.empty() && options.privateKey.empty()) return client;
  client.certificates_ = certificatesOf(options.certificate);
  if (client.certificates_.empty()) return tlsError("the client certificate is no PEM certificate");
  client.key_ = tls::privateKeyIn(options.privateKey);
  if (client.key_ == nullptr)
    return tlsError("the client certificate's key is no PEM key without a password");
  return client;
}

kube::Result<void> ClientTls::configure(SSL_CTX& context) const {
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  if (verify_) {
    if (auto done = trust(context); !done) return done;
    if (!tls::expectServerName(context, serverName_))
      return tlsError(kube::inQuotes(serverName_) + " is no name of a server");
  }
  return show(context);
}

kube::Result<void> ClientTls::trust(SSL_CTX& context) const {
  if (authorities_ == nullptr) {
    if (SSL_CTX_set_default_verify_paths(&context) != 1)
      return tlsError("the system's authorities cannot be read");
    return {};
  }
  if (SSL_CTX_set1_verify_cert_store(&context, authorities_.get()) != 1)
    return tlsError("the certificate authority cannot be used");
  return {};
}

kube::Result<void> ClientTls::show(SSL_CTX& context) const {
  if (certificates_.empty()) return {};
  if (SSL_CTX_use_certificate(&context, certificates_.front().get()) != 1)
    return tlsError("the client certificate cannot be used");
  for (size_t i = 1; i < certificates_.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, certificates_[i].get()) != 1)
      return tlsError("the client certificate's chain cannot be used");
  }
  if (SSL_CTX_use_PrivateKey(&context, key_.get()) != 1 || SSL_CTX_check_private_key(&context) != 1)
    return tlsError("the key does not belong to the client certificate");
  return {};
}

}  // namespace lastout::client
