// Certificates of Kubernetes' users: made, and read; and the kubeconfig that carries them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"
#include "simulator/user.h"
#include "tls/certificates.h"

// OpenSSL's X509.
struct x509_st;
// OpenSSL's SSL_CTX and SSL.
struct ssl_ctx_st;
struct ssl_st;

namespace lastout::simulator {

// Whoever makes users' certificates makes these, too.
using tls::CertifiedKey;
using tls::makeAuthority;
using tls::makeServerCertificate;
using tls::ServerNames;
using tls::Validity;

// The user's name becomes the common name, its groups the organizations, as Kubernetes reads them. Fails as
// makeServerCertificate() does.
kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const UserInfo& user,
                                                 const Validity& validity);

// Who a verified certificate of a client belongs to, with the group system:authenticated. Fails when it names
// nobody.
kube::Result<UserInfo> userOf(const x509_st* certificate);

// How a client of the cluster identifies itself: by a certificate, or (token not empty) by a token.
struct Credentials {
  CertifiedKey client;
  std::string token;
};

// A kubeconfig in JSON, which is YAML, with everything inside: cluster, user and context "lastout".
// `authority` (PEM) is empty for a server without TLS, which is then shown no certificate.
std::string kubeconfig(std::string_view server, std::string_view authority, const Credentials& credentials);

// --- TLS for the listener: its own certificate, and clients' certificates, which they may but need not show.

// All in PEM. `clientAuthority` vouches for clients; empty: nobody does. Fails with what is wrong with them.
kube::Result<void> configureServer(ssl_ctx_st& context, const std::string& certificate,
                                   const std::string& privateKey, const std::string& clientAuthority);

// Who the client's certificate says it is; nothing when it has shown none, or one that its
// authority did not sign.
std::optional<UserInfo> clientOf(const ssl_st& connection);

}  // namespace lastout::simulator
