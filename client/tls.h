// TLS for a client: whom it trusts, and the certificate that it shows.
#pragma once

#include <string>

#include "kube/result.h"

// OpenSSL's SSL_CTX.
struct ssl_ctx_st;

namespace lastout::client {

struct TlsOptions {
  // PEM; who may vouch for the server, and nobody else. Empty: the system's authorities.
  std::string authorities;
  // A name or an IP address that the server's certificate must have among its alternative names.
  std::string serverName;
  bool verify = true;  // false: any server is believed
  // PEM; the certificate may be followed by its chain. Both empty: none is shown.
  std::string certificate;
  std::string privateKey;
};

// TLS 1.2 or later. Fails with what is wrong with the PEM texts; an encrypted key is wrong, for nobody is
// asked for its password.
kube::Result<void> configureClient(ssl_ctx_st& context, const TlsOptions& options);

}  // namespace lastout::client
