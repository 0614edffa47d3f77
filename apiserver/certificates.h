// Certificates: an authority, and what it vouches for, made in memory; who a client's certificate says it is;
// and the kubeconfig that carries them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/user.h"
#include "kube/result.h"

// OpenSSL's X509.
struct x509_st;

namespace lastout::apiserver {

// Both as PEM; keys are EC P-256.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};

// Seconds since the epoch.
struct Validity {
  int64_t from = 0;
  int64_t until = 0;
};

// Whom a server's certificate is for.
struct ServerNames {
  std::vector<std::string> hosts;      // "localhost", "hook.demo.svc"
  std::vector<std::string> addresses;  // "127.0.0.1", "::1"
};

// All of them fail with OpenSSL's words, or where a name cannot stand in a certificate (longer than 64 bytes,
// not UTF-8, an address that is none).
kube::Result<CertifiedKey> makeAuthority(std::string_view name, const Validity& validity);
kube::Result<CertifiedKey> makeServerCertificate(const CertifiedKey& authority, const ServerNames& names,
                                                 const Validity& validity);
// The user's name becomes the common name, its groups the organizations, as Kubernetes reads them.
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

}  // namespace lastout::apiserver
