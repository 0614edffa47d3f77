#include "simulator/certificates.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "kube/encoding.h"
#include "simulator/json.h"
#include "tls/names.h"

namespace lastout::simulator {
namespace {

tl::unexpected<kube::Error> nobody(std::string message) {
  return tl::unexpected(kube::Error{std::move(message), "", {}});
}

}  // namespace

kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const UserInfo& user,
                                                 const Validity& validity) {
  return tls::makeClientCertificate(authority, user.username, user.groups, validity);
}

kube::Result<UserInfo> userOf(const x509_st* certificate) {
  if (certificate == nullptr) return nobody("there is no client certificate");
  const std::vector<std::string> commonNames = tls::subjectTexts(*certificate, NID_commonName);
  if (commonNames.empty() || commonNames.front().empty())
    return nobody("the client certificate has no common name");
  UserInfo user{commonNames.front(), "", tls::subjectTexts(*certificate, NID_organizationName), {}};
  constexpr std::string_view kAuthenticated = "system:authenticated";
  if (std::ranges::find(user.groups, kAuthenticated) == user.groups.end())
    user.groups.emplace_back(kAuthenticated);
  return user;
}

std::string kubeconfig(std::string_view server, std::string_view authority, const Credentials& credentials) {
  Json cluster = {{"server", server}};
  if (!authority.empty()) {
    cluster["certificate-authority-data"] = kube::toBase64(authority);
  } else {
    cluster["insecure-skip-tls-verify"] = true;  // @kubernetes/client-node takes no http:// without it
  }
  Json user = Json::object();
  if (!credentials.token.empty()) {
    user["token"] = credentials.token;
  } else if (!authority.empty() && !credentials.client.certificate.empty()) {
    user["client-certificate-data"] = kube::toBase64(credentials.client.certificate);
    user["client-key-data"] = kube::toBase64(credentials.client.key);
  }
  const Json config = {
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", Json::array({{{"name", "lastout"}, {"cluster", std::move(cluster)}}})},
      {"users", Json::array({{{"name", "lastout"}, {"user", std::move(user)}}})},
      {"contexts",
       Json::array({{{"name", "lastout"}, {"context", {{"cluster", "lastout"}, {"user", "lastout"}}}}})},
      {"current-context", "lastout"}};
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lastout::simulator
