// OpenSSL's objects, each with one owner that frees it. Needs none of OpenSSL's headers, so that others need
// none for what they own.
#pragma once

#include <memory>

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

}  // namespace lastout::tls
