#include "tls/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace lastout::tls {
namespace {

// Reads a text, which must outlive it.
Owned<BIO> readerOf(std::string_view text) {
  constexpr size_t kMost = std::numeric_limits<int>::max();
  // A null pointer would be refused, also for no bytes.
  const char* const begin = text.empty() ? "" : text.data();
  return Owned<BIO>(BIO_new_mem_buf(begin, static_cast<int>(std::min(text.size(), kMost))));
}

// Without one OpenSSL would ask at the terminal.
int noPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

Owned<X509> nextCertificate(BIO* text) {
  return Owned<X509>(PEM_read_bio_X509(text, nullptr, noPassphrase, nullptr));
}

// Whether reading ended because no further block begins.
bool isAtItsEnd() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

Certificates certificatesIn(std::string_view pem) {
  Certificates certificates;
  const Owned<BIO> text = readerOf(pem);
  ERR_set_mark();
  while (Owned<X509> certificate = nextCertificate(text.get()))
    certificates.read.push_back(std::move(certificate));
  certificates.broken = !isAtItsEnd();
  if (certificates.broken || certificates.read.empty()) {
    ERR_clear_last_mark();
  } else {
    ERR_pop_to_mark();
  }
  return certificates;
}

Owned<X509> certificateIn(std::string_view pem) { return nextCertificate(readerOf(pem).get()); }

Owned<EVP_PKEY> privateKeyIn(std::string_view pem) {
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(readerOf(pem).get(), nullptr, noPassphrase, nullptr));
}

std::string textIn(BIO& memory) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(&memory, &data);
  return length > 0 ? std::string(data, static_cast<size_t>(length)) : std::string();
}

}  // namespace lastout::tls
