// Reads an ExecCredential.
#include <algorithm>

#include "client/pem.h"
#include "client/plugin.h"
#include "client/secret.h"
#include "kube/fields.h"
#include "kube/parse.h"
#include "kube/timestamp.h"

namespace lastout::client {
namespace {

using kube::Fields;

std::optional<int64_t> readExpiry(Fields& status) {
  const auto text = status.string("expirationTimestamp");
  if (!text) return std::nullopt;
  const auto expires = kube::parseTimestamp(*text);
  if (!expires) status.fail("expirationTimestamp", "status.expirationTimestamp is no RFC 3339 time");
  return expires;
}

PluginCredential readStatus(Fields& status) {
  PluginCredential credential;
  credential.token = status.string("token").value_or("");
  credential.client.certificate = status.string("clientCertificateData").value_or("");
  credential.client.key = status.string("clientKeyData").value_or("");
  credential.expires = readExpiry(status);
  const KeyPair& pair = credential.client;
  if (!credential.token.empty())
    if (const auto problem = tokenProblem(credential.token)) status.fail("token", "status.token " + *problem);
  if (pair.certificate.empty() != pair.key.empty()) {
    status.failAt(status.value(), "status.clientCertificateData and status.clientKeyData come together");
  } else if (pair.certificate.empty()) {
    if (credential.token.empty())
      status.failAt(status.value(), "status has neither a token nor a client certificate");
  } else if (const auto bad = certificatesProblem(pair.certificate)) {
    status.fail("clientCertificateData", "status.clientCertificateData " + *bad);
  } else if (const auto badKey = keyProblem(pair)) {
    status.fail("clientKeyData", "status.clientKeyData " + *badKey);
  }
  return credential;
}

}  // namespace

kube::Result<PluginCredential> parsePluginAnswer(std::string_view text, const ExecPlugin& plugin) {
  const auto document = kube::parseJson(text, "", {.bytes = PluginLimits{}.answerBytes});
  if (!document) {
    const auto [line, column] = document.error().position;
    return tl::unexpected(pluginError(plugin, "wrote no JSON object to its standard output (line " +
                                                  std::to_string(std::max(line, 1U)) + ", column " +
                                                  std::to_string(std::max(column, 1U)) + ")"));
  }
  kube::Errors errors;
  Fields answer(*document, "", "", errors);
  const std::string kind = answer.string("kind").value_or("");
  const std::string apiVersion = answer.string("apiVersion").value_or("");
  if (errors.empty() && kind != "ExecCredential") answer.fail("kind", "kind is not ExecCredential");
  if (errors.empty() && apiVersion != plugin.apiVersion)
    answer.fail("apiVersion", "apiVersion is not " + plugin.apiVersion + ", which it was asked for");
  PluginCredential credential;
  if (errors.empty())
    if (auto status = answer.requiredFields("status")) credential = readStatus(*status);
  if (errors.empty()) return credential;
  return tl::unexpected(pluginError(plugin, "gave an answer that cannot be used: " + errors.front().message));
}

}  // namespace lastout::client
