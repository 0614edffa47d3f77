#include "tls/names.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace lastout::tls {
namespace {

// "" for what cannot be written in UTF-8.
std::string textOfEntry(const X509_NAME_ENTRY* entry) {
  unsigned char* text = nullptr;
  const int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
  if (length < 0) return {};
  std::string copy(reinterpret_cast<const char*>(text), static_cast<size_t>(length));
  OPENSSL_free(text);
  return copy;
}

}  // namespace

std::vector<std::string> subjectTexts(const X509& certificate, int field) {
  const X509_NAME* name = X509_get_subject_name(&certificate);
  std::vector<std::string> texts;
  for (int i = X509_NAME_get_index_by_NID(name, field, -1); i >= 0;
       i = X509_NAME_get_index_by_NID(name, field, i))
    texts.push_back(textOfEntry(X509_NAME_get_entry(name, i)));
  return texts;
}

bool expectServerName(SSL_CTX& context, const std::string& name) {
  X509_VERIFY_PARAM* parameters = SSL_CTX_get0_param(&context);
  if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1) return true;
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(parameters,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return !name.empty() && X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) == 1;
}

}  // namespace lastout::tls
