// Certificates: an authority, and what it vouches for, made in memory; and what can be told of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"

namespace lastout::tls {

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

// These three fail with OpenSSL's words, or where a name cannot stand in a certificate (longer than 64 bytes,
// not UTF-8, an address that is none).
kube::Result<CertifiedKey> makeAuthority(std::string_view name, const Validity& validity);
kube::Result<CertifiedKey> makeServerCertificate(const CertifiedKey& authority, const ServerNames& names,
                                                 const Validity& validity);
// `name` becomes its common name.
kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const std::string& name,
                                                 std::vector<std::string> organizations,
                                                 const Validity& validity);

// All of these look at the first certificate of a PEM text; where there is none, or a part cannot be read,
// they say nothing, or no.
std::optional<Validity> validityOf(std::string_view certificate);
bool isKeyOf(const CertifiedKey& pair);
bool isSignedBy(std::string_view certificate, std::string_view authority);
// It has every one of these names.
bool isFor(std::string_view certificate, const ServerNames& names);

}  // namespace lastout::tls
