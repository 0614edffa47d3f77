#include "client/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>
#include <vector>

#include "kube/quoting.h"

namespace lastout::client {
namespace {

struct FreeTls {
  void operator()(BIO* bytes) const { BIO_free(bytes); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};
template <class T>
using TlsPointer = std::unique_ptr<T, FreeTls>;

tl::unexpected<kube::Error> tlsError(std::string message) {
  if (const auto code = ERR_get_error(); code != 0) {
    const char* reason = ERR_reason_error_string(code);
    message += std::string(": ") + (reason == nullptr ? "unknown" : reason);
  }
  ERR_clear_error();
  return tl::unexpected(kube::Error{std::move(message), {}, {}});
}

TlsPointer<BIO> bytesOf(const std::string& text) {
  return TlsPointer<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int noPassword(char* /*password*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

// Empty when there is none, or one of them is broken.
std::vector<TlsPointer<X509>> certificatesIn(const std::string& pem) {
  std::vector<TlsPointer<X509>> certificates;
  const auto bytes = bytesOf(pem);
  while (TlsPointer<X509> certificate{PEM_read_bio_X509(bytes.get(), nullptr, noPassword, nullptr)})
    certificates.push_back(std::move(certificate));
  if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
    ERR_clear_error();  // the end of the text
  } else {
    certificates.clear();
  }
  return certificates;
}

kube::Result<void> trust(SSL_CTX& context, const std::string& authorities) {
  if (authorities.empty()) {
    if (SSL_CTX_set_default_verify_paths(&context) != 1)
      return tlsError("the system's authorities cannot be read");
    return {};
  }
  const TlsPointer<X509_STORE> store(X509_STORE_new());
  const auto certificates = certificatesIn(authorities);
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
  X509_VERIFY_PARAM* parameters = SSL_CTX_get0_param(&context);
  if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1) return {};
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(parameters,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (name.empty() || X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) != 1)
    return tlsError(kube::inQuotes(name) + " is no name of a server");
  return {};
}

kube::Result<void> show(SSL_CTX& context, const TlsOptions& options) {
  if (options.certificate.empty() && options.privateKey.empty()) return {};
  const auto chain = certificatesIn(options.certificate);
  if (chain.empty()) return tlsError("the client certificate is no PEM certificate");
  if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1)
    return tlsError("the client certificate cannot be used");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1)
      return tlsError("the client certificate's chain cannot be used");
  }
  const auto bytes = bytesOf(options.privateKey);
  const TlsPointer<EVP_PKEY> key(PEM_read_bio_PrivateKey(bytes.get(), nullptr, noPassword, nullptr));
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
