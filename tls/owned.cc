#include "tls/owned.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

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

}  // namespace lastout::tls
