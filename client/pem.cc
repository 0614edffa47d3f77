#include "client/pem.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include "tls/pem.h"

namespace lastout::client {
namespace {

constexpr const char* kNoCertificate = "holds no PEM certificate (-----BEGIN CERTIFICATE-----)";
constexpr const char* kBadCertificate = "holds a certificate that cannot be read";
constexpr const char* kTooLongPem = "is longer than 1 MiB";

}  // namespace

std::optional<std::string> certificatesProblem(std::string_view pem) {
  if (pem.size() > kMostPemBytes) return kTooLongPem;
  const tls::Certificates certificates = tls::certificatesIn(pem);
  ERR_clear_error();
  if (certificates.broken) return kBadCertificate;
  if (certificates.read.empty()) return kNoCertificate;
  return std::nullopt;
}

std::optional<std::string> keyProblem(const KeyPair& pair) {
  if (pair.key.size() > kMostPemBytes) return kTooLongPem;
  const auto key = tls::privateKeyIn(pair.key);
  ERR_clear_error();
  if (!key && pair.key.find("ENCRYPTED") != std::string::npos)
    return "is encrypted; only keys without a passphrase can be used";
  if (!key) return "holds no PEM private key that can be read";
  const auto certificate = tls::certificateIn(pair.certificate);
  const bool together = certificate && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!together) return "is not the key of the client's certificate";
  return std::nullopt;
}

}  // namespace lastout::client
