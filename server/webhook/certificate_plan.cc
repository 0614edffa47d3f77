#include "server/webhook/certificate_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/encoding.h"
#include "server/webhook/webhook_configuration.h"
#include "tls/pem.h"

namespace lastout::server {
namespace {

constexpr int64_t kClocksDiffer = 300;  // seconds, of those who look at what was just made
constexpr const char* kAuthorityName = "lastout";
constexpr const char* kSeedsMember = "review.seeds";
constexpr const char* kNoSeed = "none";  // of the path that is made of the key alone
constexpr size_t kSeedDigits = 32;
constexpr size_t kMostSeeds = 2;

std::string memberOf(const kube::Value& secret, std::string_view name) {
  const kube::Value* member = secret.at({"data", name});
  if (member == nullptr || member->asString() == nullptr) return {};
  return kube::fromBase64(*member->asString()).value_or("");
}

bool isSeed(std::string_view line) {
  return line == kNoSeed ||
         (line.size() == kSeedDigits && line.find_first_not_of(kube::kHexDigits) == std::string_view::npos);
}

// One a line; none, when these are no seeds.
std::vector<std::string> seedsIn(const std::string& text) {
  std::vector<std::string> seeds;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); seeds.push_back(line))
    if (!isSeed(line) || seeds.size() == kMostSeeds) return {};
  return seeds;
}

std::string textOfSeeds(const std::vector<std::string>& seeds) {
  std::string text;
  for (const std::string& seed : seeds) text += seed + "\n";
  return text;
}

// The blocks of a PEM text, one text each.
std::vector<std::string> blocksOf(std::string_view pem) {
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> blocks;
  for (size_t end = pem.find(kEnd); end != std::string_view::npos; end = pem.find(kEnd)) {
    end += kEnd.size();
    if (end < pem.size() && pem[end] == '\n') ++end;
    blocks.emplace_back(pem.substr(0, end));
    pem.remove_prefix(end);
  }
  return blocks;
}

bool isValidAt(const std::optional<tls::Validity>& validity, int64_t now) {
  return validity && validity->from <= now && now < validity->until;
}

// Less than a third of its life is left, or it cannot be told.
bool isAging(const std::optional<tls::Validity>& validity, int64_t now) {
  return !isValidAt(validity, now) || (validity->until - now) < (validity->until - validity->from) / 3;
}

kube::Error certificateProblem(std::string message) { return {std::move(message), {}, {}}; }

// The newest authority's certificate and key.
tls::CertifiedKey newest(const SharedCertificate& shared) {
  const std::vector<std::string> blocks = blocksOf(shared.authorities);
  return {blocks.empty() ? std::string() : blocks.front(), shared.authorityKey};
}

// A new authority before those that are still valid.
kube::Result<void> renewAuthority(SharedCertificate& shared, const CertificateTerms& terms, int64_t now) {
  auto made = tls::makeAuthority(kAuthorityName, {now - kClocksDiffer, now + terms.authorityLasts});
  if (!made) return tl::unexpected(std::move(made.error()));
  std::string authorities = std::move(made->certificate);
  for (const std::string& block : blocksOf(shared.authorities)) {
    if (isValidAt(tls::validityOf(block), now)) authorities += block;
  }
  shared.authorities = std::move(authorities);
  shared.authorityKey = std::move(made->key);
  return {};
}

kube::Result<void> renewCertificate(SharedCertificate& shared, const tls::ServerNames& names,
                                    const CertificateTerms& terms, int64_t now) {
  auto made =
      tls::makeServerCertificate(newest(shared), names, {now - kClocksDiffer, now + terms.certificateLasts});
  if (!made) return tl::unexpected(std::move(made.error()));
  shared.certificate = std::move(made->certificate);
  shared.key = std::move(made->key);
  return {};
}

}  // namespace

SharedCertificate sharedCertificateIn(const kube::Value& secret) {
  return {memberOf(secret, "tls.crt"), memberOf(secret, "tls.key"), memberOf(secret, "ca.crt"),
          memberOf(secret, "ca.key"), seedsIn(memberOf(secret, kSeedsMember))};
}

nlohmann::json secretOf(const std::string& namespaceName, const std::string& name,
                        const SharedCertificate& shared, const std::string& resourceVersion,
                        const kube::Labels& labels) {
  nlohmann::json secret = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata",
       {{"namespace", namespaceName}, {"name", name}, {"labels", {{"app.kubernetes.io/name", "lastout"}}}}},
      {"type", "kubernetes.io/tls"},
      {"data",
       {{"tls.crt", kube::toBase64(shared.certificate)},
        {"tls.key", kube::toBase64(shared.key)},
        {"ca.crt", kube::toBase64(shared.authorities)},
        {"ca.key", kube::toBase64(shared.authorityKey)}}}};
  for (const auto& [key, value] : labels) secret["metadata"]["labels"][key] = value;
  if (!shared.pathSeeds.empty()) secret["data"][kSeedsMember] = kube::toBase64(textOfSeeds(shared.pathSeeds));
  if (!resourceVersion.empty()) secret["metadata"]["resourceVersion"] = resourceVersion;
  return secret;
}

std::vector<std::string> reviewPathsOf(const SharedCertificate& shared) {
  if (shared.pathSeeds.empty()) return {reviewPathOf(shared.key)};
  std::vector<std::string> paths;
  for (const std::string& seed : shared.pathSeeds)
    paths.push_back(reviewPathOf(shared.key, seed == kNoSeed ? "" : seed));
  return paths;
}

SharedCertificate withNewPath(SharedCertificate shared, std::string seed) {
  const std::string former = shared.pathSeeds.empty() ? kNoSeed : shared.pathSeeds.front();
  shared.pathSeeds = {std::move(seed), former};
  return shared;
}

SharedCertificate withoutFormerPath(SharedCertificate shared) {
  if (shared.pathSeeds.size() > 1) shared.pathSeeds.resize(1);
  return shared;
}

bool isOurs(const SharedCertificate& shared) {
  if (shared.authorityKey.empty()) return false;
  if (tls::privateKeyIn(shared.authorityKey) == nullptr) return true;
  const std::vector<std::string> authorities = blocksOf(shared.authorities);
  return authorities.empty() || std::ranges::any_of(authorities, [&](const std::string& authority) {
           return tls::isKeyOf({authority, shared.authorityKey});
         });
}

bool isUsable(const SharedCertificate& shared, int64_t now) {
  if (!tls::isKeyOf({shared.certificate, shared.key})) return false;
  if (!isValidAt(tls::validityOf(shared.certificate), now)) return false;
  const std::vector<std::string> authorities = blocksOf(shared.authorities);
  return std::ranges::any_of(authorities, [&](const std::string& authority) {
    return isValidAt(tls::validityOf(authority), now) && tls::isSignedBy(shared.certificate, authority);
  });
}

kube::Result<std::optional<SharedCertificate>> nextCertificate(const SharedCertificate& shared,
                                                               const tls::ServerNames& names,
                                                               const CertificateTerms& terms, int64_t now) {
  const bool isEmpty = shared == SharedCertificate();
  const bool usable = isUsable(shared, now);
  if (!isOurs(shared) && !isEmpty) {
    if (usable) return std::nullopt;
    const std::string sign =
        shared.authorityKey.empty() ? "it has no ca.key" : "its ca.key is of no authority in its ca.crt";
    return tl::unexpected(certificateProblem(
        sign +
        ", so that somebody else makes its certificates, and what is there cannot be used now: "
        "tls.crt, tls.key and ca.crt have to belong together, and be valid"));
  }
  SharedCertificate next = shared;
  const tls::CertifiedKey authority = newest(shared);
  if (!tls::isKeyOf(authority) || isAging(tls::validityOf(authority.certificate), now)) {
    if (auto made = renewAuthority(next, terms, now); !made) return tl::unexpected(std::move(made.error()));
  }
  const tls::CertifiedKey signer = newest(next);
  const auto signerValidity = tls::validityOf(signer.certificate);
  const bool isSettled =
      signerValidity && now >= signerValidity->from + kClocksDiffer + terms.authoritySettles;
  const bool isWanting = isAging(tls::validityOf(next.certificate), now) ||
                         !tls::isFor(next.certificate, names) ||
                         !tls::isSignedBy(next.certificate, signer.certificate);
  if (!usable || (isWanting && (isSettled || blocksOf(next.authorities).size() == 1))) {
    if (auto made = renewCertificate(next, names, terms, now); !made)
      return tl::unexpected(std::move(made.error()));
  }
  if (next == shared) return std::nullopt;
  return next;
}

}  // namespace lastout::server
