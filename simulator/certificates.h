// Certificates of Kubernetes' users: made, and read; and the kubeconfig that carries them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"
#include "simulator/user.h"
#include "tls/certificates.h"

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

// Returns the user that a verified certificate of a client belongs to, by its common name and organizations,
// with the group system:authenticated; nullopt: it names nobody.
std::optional<UserInfo> userOf(const std::string& commonName, std::vector<std::string> organizations);

// How a client of the cluster identifies itself: by a certificate, or (token not empty) by a token.
struct ClientCredentials {
  CertifiedKey client;
  std::string token;
};

// A kubeconfig in JSON, which is YAML, with everything inside: cluster, user and context "lastout".
// `authority` (PEM) is empty for a server without TLS, which is then shown no certificate.
std::string kubeconfig(std::string_view server, std::string_view authority,
                       const ClientCredentials& credentials);

}  // namespace lastout::simulator
