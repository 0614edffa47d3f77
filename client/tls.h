// TLS for a client: whom it trusts, and the certificate that it shows.
#pragma once

#include <string>
#include <vector>

#include "kube/result.h"
#include "tls/openssl.h"

// OpenSSL's SSL_CTX.
struct ssl_ctx_st;

namespace lastout::client {

struct TlsOptions {
  // PEM: the only authorities that are trusted to sign the server's certificate. Empty: the system's
  // authorities.
  std::string authorities;
  // A name or an IP address that the server's certificate must have among its alternative names.
  std::string serverName;
  bool verify = true;  // false: any server is believed
  // PEM; the certificate may be followed by its chain. Both empty: none is shown.
  std::string certificate;
  std::string privateKey;
};

// The same, read: PEM texts are read once, however many connections are made.
class ClientTls {
 public:
  // Fails with what is wrong with the PEM texts; an encrypted key is wrong, for nobody is asked for its
  // password.
  static kube::Result<ClientTls> read(const TlsOptions& options);

  // TLS 1.2 or later. By any thread; the context shares what was read, and may outlive this. Fails when a
  // name is none, or a key is that of another certificate.
  kube::Result<void> configure(ssl_ctx_st& context) const;

 private:
  kube::Result<void> trust(ssl_ctx_st& context) const;
  kube::Result<void> show(ssl_ctx_st& context) const;

  bool verify_ = true;
  std::string serverName_;
  tls::Owned<x509_store_st> authorities_;          // null: the system's
  std::vector<tls::Owned<x509_st>> certificates_;  // with its chain behind it; none: nothing is shown
  tls::Owned<evp_pkey_st> key_;
};

}  // namespace lastout::client
