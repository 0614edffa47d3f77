// What is OpenSSL's: its objects, each with one owner that frees it; its errors as words; a short name for a
// long text. Needs none of OpenSSL's headers, so that others need none for what they own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

// What OpenSSL's headers call BIGNUM, BIO, EVP_PKEY, SSL_CTX, SSL, X509, X509_EXTENSION, X509_STORE and
// X509_STORE_CTX.
struct bignum_st;
struct bio_st;
struct evp_pkey_st;
struct ssl_ctx_st;
struct ssl_st;
struct x509_st;
struct X509_extension_st;
struct x509_store_st;
struct x509_store_ctx_st;

namespace lastout::tls {

struct Free {
  void operator()(bignum_st* number) const;
  void operator()(bio_st* bytes) const;  // and those behind it
  void operator()(evp_pkey_st* key) const;
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_st* connection) const;
  void operator()(x509_st* certificate) const;
  void operator()(X509_extension_st* extension) const;
  void operator()(x509_store_st* store) const;
  void operator()(x509_store_ctx_st* verification) const;
};

// Owned<BIO>, for one. Some of these objects count their references; then one of them is owned.
template <class Object>
using Owned = std::unique_ptr<Object, Free>;

// Returns the reason of the first error in this thread's queue, as "no start line", and empties the queue;
// "": there is none.
std::string takeError();

// Returns the first so many bytes, 32 at most, of the text's SHA-256, in hexadecimal.
std::string digestOf(std::string_view text, size_t bytes);
// Returns the SHA-256 of the certificate, as it was sent (DER), in hexadecimal.
std::string fingerprintOf(const x509_st& certificate);

}  // namespace lastout::tls
