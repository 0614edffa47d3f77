#include "simulator/certificates.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kube/encoding.h"
#include "simulator/json.h"

namespace lastout::simulator {
kube::Result<CertifiedKey> makeClientCertificate(const CertifiedKey& authority, const UserInfo& user,
                                                 const Validity& validity) {
  return tls::makeClientCertificate(authority, user.username, user.groups, validity);
}

std::optional<UserInfo> userOf(const std::string& commonName, std::vector<std::string> organizations) {
  if (commonName.empty()) return std::nullopt;
  UserInfo user{commonName, "", std::move(organizations), {}};
  constexpr std::string_view kAuthenticated = "system:authenticated";
  if (std::ranges::find(user.groups, kAuthenticated) == user.groups.end())
    user.groups.emplace_back(kAuthenticated);
  return user;
}

std::string kubeconfig(std::string_view server, std::string_view authority,
                       const ClientCredentials& credentials) {
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
