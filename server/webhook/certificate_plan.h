// Reads the Secret with lastout's certificate, and computes what it should contain next. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kube/object.h"
#include "kube/result.h"
#include "kube/value.h"
#include "tls/certificates.h"

namespace lastout::server {

// All PEM.
struct SharedCertificate {
  std::string certificate;   // tls.crt
  std::string key;           // tls.key
  std::string authorities;   // ca.crt: the newest first; older ones until they expire
  std::string authorityKey;  // ca.key: of the first; empty, or of none: somebody else makes these
  // review.seeds: what paths for reviews are made of, beside the key, the newest first, two at most. None:
  // the path was never renewed, and is made of the key alone.
  std::vector<std::string> pathSeeds = {};
  friend bool operator==(const SharedCertificate&, const SharedCertificate&) = default;
};

// In seconds.
struct CertificateTerms {
  int64_t authorityLasts = int64_t{5} * 365 * 86'400;
  int64_t certificateLasts = int64_t{90} * 86'400;
  // A new authority signs nothing before everybody has heard of it.
  int64_t authoritySettles = 3'600;
};

// Of a Secret; members that are missing, or no Base64, are empty.
SharedCertificate sharedCertificateIn(const kube::Value& secret);
// The Secret with these labels beside lastout's own, to be created, or to be merged into the one of that
// resourceVersion.
nlohmann::json secretOf(const std::string& namespaceName, const std::string& name,
                        const SharedCertificate& shared, const std::string& resourceVersion = {},
                        const kube::Labels& labels = {});

// The paths at which reviews are answered, the newest first: that one is to be asked at.
std::vector<std::string> reviewPathsOf(const SharedCertificate& shared);
// With a newer path, made of a seed that nobody can guess, 32 hexadecimal digits; the one that was the newest
// goes on being answered.
SharedCertificate withNewPath(SharedCertificate shared, std::string seed);
// With the newest path alone.
SharedCertificate withoutFormerPath(SharedCertificate shared);

// Whether lastout makes these certificates, and may change the Secret. A ca.key of none of the authorities
// was left over when somebody else, cert-manager for one, took the Secret over; what is no key, or names no
// authority, was only broken.
bool isOurs(const SharedCertificate& shared);

// Whether a listener can begin with it at `now`: the key is the certificate's, which an authority vouches
// for.
bool isUsable(const SharedCertificate& shared, int64_t now);

// Returns what the Secret should contain at `now` (seconds since the epoch); nullopt: it is correct.
// Certificates and authorities are renewed when a third of their life is left, or when they are unusable; the
// former authority is trusted until it expires, and what it signed serves until the new one has settled.
// Fails when nothing can be made, and where others make the certificates (no ca.key, or one of no authority
// in ca.crt) and these are unusable.
kube::Result<std::optional<SharedCertificate>> nextCertificate(const SharedCertificate& shared,
                                                               const tls::ServerNames& names,
                                                               const CertificateTerms& terms, int64_t now);

}  // namespace lastout::server
