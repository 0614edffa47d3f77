#include "client/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

namespace lastout::client {
namespace {

template <auto free>
struct PemFree {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

using PemBio = std::unique_ptr<BIO, PemFree<BIO_free_all>>;
using PemCertificate = std::unique_ptr<X509, PemFree<X509_free>>;
using PemKey = std::unique_ptr<EVP_PKEY, PemFree<EVP_PKEY_free>>;

PemBio pemOver(std::string_view text) {
  return PemBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without one OpenSSL would ask at the terminal.
int noPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

PemCertificate nextCertificate(BIO* text) {
  return PemCertificate(PEM_read_bio_X509(text, nullptr, noPassphrase, nullptr));
}

// Whether reading ended because no further block begins.
bool atItsEnd() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

constexpr const char* kNoCertificate = "holds no PEM certificate (-----BEGIN CERTIFICATE-----)";
constexpr const char* kBadCertificate = "holds a certificate that cannot be read";
constexpr const char* kTooLongPem = "is longer than 1 MiB";

}  // namespace

std::optional<std::string> certificatesProblem(std::string_view pem) {
  if (pem.size() > kMostPemBytes) return kTooLongPem;
  const PemBio text = pemOver(pem);
  size_t count = 0;
  while (nextCertificate(text.get())) ++count;
  if (!atItsEnd()) return kBadCertificate;
  if (count == 0) return kNoCertificate;
  return std::nullopt;
}

std::optional<std::string> keyProblem(const KeyPair& pair) {
  if (pair.key.size() > kMostPemBytes) return kTooLongPem;
  const PemKey key(PEM_read_bio_PrivateKey(pemOver(pair.key).get(), nullptr, noPassphrase, nullptr));
  ERR_clear_error();
  if (!key && pair.key.find("ENCRYPTED") != std::string::npos)
    return "is encrypted; only keys without a passphrase can be used";
  if (!key) return "holds no PEM private key that can be read";
  const PemCertificate certificate = nextCertificate(pemOver(pair.certificate).get());
  const bool together = certificate && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!together) return "is not the key of the client's certificate";
  return std::nullopt;
}

}  // namespace lastout::client
