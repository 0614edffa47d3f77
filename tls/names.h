// Names in certificates: what the other side is called, and what it has to be called.
#pragma once

#include <string>
#include <vector>

// OpenSSL's SSL_CTX and X509.
struct ssl_ctx_st;
struct x509_st;

namespace lastout::tls {

// What a certificate's subject has for a field, by OpenSSL's number (NID_commonName), in its order, in UTF-8.
std::vector<std::string> subjectTexts(const x509_st& certificate, int field);

// The server's certificate has to have this name or IP address among its alternative names; its common name
// does not count, nor does a wildcard for a part of a label. False: this is no name of a server.
bool expectServerName(ssl_ctx_st& context, const std::string& name);

}  // namespace lastout::tls
