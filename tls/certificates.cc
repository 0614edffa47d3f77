#include "tls/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "kube/messages.h"
#include "kube/names.h"
#include "tls/openssl.h"
#include "tls/pem.h"

namespace lastout::tls {
namespace {

tl::unexpected<kube::Error> certificateError(std::string_view what) {
  std::string message(what);
  if (const std::string words = takeError(); !words.empty()) message.append(": ").append(words);
  return tl::unexpected(kube::Error{std::move(message), "", {}});
}

// What is to be signed: who it is for, and what it may be used for.
struct CertificateRequest {
  std::string commonName;
  std::vector<std::string> organizations;
  std::vector<std::pair<int, std::string>> extensions;  // by OpenSSL's number, in its notation
  Validity validity;
};

// The authority with its parts read; certificate null: the new certificate signs itself.
struct Signer {
  Owned<X509> certificate;
  Owned<EVP_PKEY> key;
};

kube::Result<Signer> readSigner(const CertifiedKey& authority) {
  Signer signer{certificateIn(authority.certificate), privateKeyIn(authority.key)};
  if (!signer.certificate || !signer.key) return certificateError("the authority cannot be read");
  return signer;
}

bool addToName(X509_NAME* name, int field, std::string_view text) {
  return X509_NAME_add_entry_by_NID(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool setSerial(X509* certificate) {
  const Owned<BIGNUM> number(BN_new());
  return number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool addExtensions(X509* certificate, X509* issuer, const CertificateRequest& request) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  for (const auto& [number, value] : request.extensions) {
    const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, number, value.c_str()));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return false;
  }
  return true;
}

kube::Result<CertifiedKey> toPem(X509* certificate, EVP_PKEY* key) {
  const Owned<BIO> certificateText(BIO_new(BIO_s_mem()));
  const Owned<BIO> keyText(BIO_new(BIO_s_mem()));
  if (!certificateText || !keyText || PEM_write_bio_X509(certificateText.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(keyText.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return certificateError("the certificate cannot be written");
  return CertifiedKey{textIn(*certificateText), textIn(*keyText)};
}

// Who it is for; fails when a part cannot stand in a certificate.
kube::Result<void> setSubject(X509_NAME* name, const CertificateRequest& request) {
  for (const std::string& organization : request.organizations)
    if (!addToName(name, NID_organizationName, organization))
      return certificateError(kube::inQuotes(organization) + " cannot be a certificate's organization");
  if (!addToName(name, NID_commonName, request.commonName))
    return certificateError(kube::inQuotes(request.commonName) + " cannot be a certificate's common name");
  return {};
}

kube::Result<CertifiedKey> makeCertificate(const CertificateRequest& request, const Signer& signer) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate(X509_new());
  if (!key || !certificate) return certificateError("no key can be made");
  X509* issuer = signer.certificate ? signer.certificate.get() : certificate.get();
  const bool dated =
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), request.validity.from) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()), request.validity.until) != nullptr;
  if (!dated || X509_set_version(certificate.get(), X509_VERSION_3) != 1 || !setSerial(certificate.get()) ||
      X509_set_pubkey(certificate.get(), key.get()) != 1)
    return certificateError("no certificate can be made");
  X509_NAME* name = X509_get_subject_name(certificate.get());
  if (auto named = setSubject(name, request); !named) return tl::unexpected(std::move(named.error()));
  if (signer.certificate && X509_NAME_cmp(name, X509_get_subject_name(issuer)) == 0)
    return certificateError(kube::inQuotes(request.commonName) + " is the name of the authority itself");
  if (X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer)) != 1 ||
      !addExtensions(certificate.get(), issuer, request) ||
      X509_sign(certificate.get(), signer.key ? signer.key.get() : key.get(), EVP_sha256()) == 0)
    return certificateError("the certificate for " + kube::inQuotes(request.commonName) + " cannot be made");
  return toPem(certificate.get(), key.get());
}

std::optional<int64_t> secondsOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return int64_t{timegm(&parts)};
}

}  // namespace

kube::Result<CertifiedKey> makeAuthority(std::string_view name, const Validity& validity) {
  return makeCertificate({std::string(name),
                          {"certificate authorities"},  // so that others may have its common name
                          {{NID_basic_constraints, "critical,CA:TRUE"},
                           {NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature"},
                           {NID_subject_key_identifier, "hash"}},
                          validity},
                         {});
}

kube::Result<CertifiedKey> makeServerCertificate(const CertifiedKey& authority, const ServerNames& names,
                                                 const Validity& validity) {
  const auto signer = readSigner(authority);
  if (!signer) return tl::unexpected(signer.error());
  std::string alternatives;
  const auto add = [&alternatives](std::string_view kind, const std::string& name) {
    alternatives.append(alternatives.empty() ? "" : ",").append(kind).append(name);
  };
  for (const std::string& host : names.hosts) {
    if (!kube::isDnsSubdomain(host)) return certificateError(kube::inQuotes(host) + " is no host's name");
    add("DNS:", host);
  }
  for (const std::string& address : names.addresses) {
    // OpenSSL's notation would take more after a comma.
    if (address.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos)
      return certificateError(kube::inQuotes(address) + " is no IP address");
    add("IP:", address);
  }
  if (alternatives.empty()) return certificateError("a server's certificate needs a host or an address");
  return makeCertificate({"lastout",
                          {},
                          {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_key_usage, "critical,digitalSignature"},
                           {NID_ext_key_usage, "serverAuth"},
                           {NID_authority_key_identifier, "keyid"},
                           {NID_subject_alt_name, alternatives}},
                          validity},
                         *signer);
}

kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const std::string& name,
                                                 std::vector<std::string> organizations,
                                                 const Validity& validity) {
  const auto signer = readSigner(authority);
  if (!signer) return tl::unexpected(signer.error());
  return makeCertificate({name,
                          std::move(organizations),
                          {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_key_usage, "critical,digitalSignature"},
                           {NID_ext_key_usage, "clientAuth"},
                           {NID_authority_key_identifier, "keyid"}},
                          validity},
                         *signer);
}

std::optional<Validity> validityOf(std::string_view certificate) {
  ERR_set_mark();
  const Owned<X509> read = certificateIn(certificate);
  ERR_pop_to_mark();
  if (!read) return std::nullopt;
  const auto from = secondsOf(X509_get0_notBefore(read.get()));
  const auto until = secondsOf(X509_get0_notAfter(read.get()));
  if (!from || !until) return std::nullopt;
  return Validity{*from, *until};
}

bool isKeyOf(const CertifiedKey& pair) {
  ERR_set_mark();
  const Owned<X509> certificate = certificateIn(pair.certificate);
  const Owned<EVP_PKEY> key = privateKeyIn(pair.key);
  const bool belongs = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_pop_to_mark();
  return belongs;
}

bool isSignedBy(std::string_view certificate, std::string_view authority) {
  ERR_set_mark();
  const Owned<X509> read = certificateIn(certificate);
  const Owned<X509> signer = certificateIn(authority);
  const bool isSigned = read && signer && X509_verify(read.get(), X509_get0_pubkey(signer.get())) == 1;
  ERR_pop_to_mark();
  return isSigned;
}

bool isFor(std::string_view certificate, const ServerNames& names) {
  ERR_set_mark();
  const Owned<X509> read = certificateIn(certificate);
  ERR_pop_to_mark();
  if (!read) return false;
  return std::ranges::all_of(names.hosts,
                             [&](const std::string& host) {
                               return X509_check_host(read.get(), host.data(), host.size(), 0, nullptr) == 1;
                             }) &&
         std::ranges::all_of(names.addresses, [&](const std::string& address) {
           return X509_check_ip_asc(read.get(), address.c_str(), 0) == 1;
         });
}

}  // namespace lastout::tls
