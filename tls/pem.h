// PEM texts: the certificates and the key in them. Nobody is there to be asked for a passphrase, so an
// encrypted key is one that cannot be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.h"

namespace lastout::tls {

struct Certificates {
  std::vector<Owned<x509_st>> read;  // in the text's order
  bool broken = false;               // the next one cannot be read; nothing behind it was tried
};

// All in a text; blocks of other kinds, and what stands between blocks, are passed over. When there is none,
// or one is broken, OpenSSL's queue of errors has the reason; otherwise it is as it was.
Certificates certificatesIn(std::string_view pem);

// The first one; null, with the reason in OpenSSL's queue of errors: none can be read.
Owned<x509_st> certificateIn(std::string_view pem);
Owned<evp_pkey_st> privateKeyIn(std::string_view pem);

// What was written so far to BIO_s_mem().
std::string textIn(bio_st& memory);

}  // namespace lastout::tls
