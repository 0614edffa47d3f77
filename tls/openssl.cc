#include "tls/openssl.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <array>

#include "kube/encoding.h"

namespace lastout::tls {

void Free::operator()(BIGNUM* number) const { BN_free(number); }
void Free::operator()(BIO* bytes) const { BIO_free_all(bytes); }
void Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void Free::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void Free::operator()(SSL* connection) const { SSL_free(connection); }
void Free::operator()(X509* certificate) const { X509_free(certificate); }
void Free::operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
void Free::operator()(X509_STORE* store) const { X509_STORE_free(store); }
void Free::operator()(X509_STORE_CTX* verification) const { X509_STORE_CTX_free(verification); }

std::string takeError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "";
  if (const char* reason = ERR_reason_error_string(code); reason != nullptr) return reason;
  // One that has no text, of the system or of a library that is not OpenSSL's: its numbers.
  std::array<char, 256> words{};
  ERR_error_string_n(code, words.data(), words.size());
  return words.data();
}

namespace {

using Digest = std::array<unsigned char, 32>;

std::string digitsOf(const Digest& digest, size_t bytes) {
  std::string digits;
  for (size_t i = 0; i < bytes; ++i) digits += kube::hexOf(digest[i]);
  return digits;
}

}  // namespace

std::string digestOf(std::string_view text, size_t bytes) {
  Digest digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digitsOf(digest, bytes);
}

std::string fingerprintOf(const X509& certificate) {
  Digest digest{};
  X509_digest(&certificate, EVP_sha256(), digest.data(), nullptr);
  return digitsOf(digest, digest.size());
}

}  // namespace lastout::tls
