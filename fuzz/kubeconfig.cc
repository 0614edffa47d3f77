// Any text as a kubeconfig, as a credential plugin's answer and as a server's address: what is accepted can
// be put into a request as it is, what is unsafe is warned of, and no message repeats a secret.
#include "client/kubeconfig.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "client/plugin.h"
#include "client/secret.h"
#include "fuzz/check.h"

using lastout::fuzz::check;
namespace client = lastout::client;
namespace kube = lastout::kube;

namespace {

// In the place of files: what is asked for by name, or nothing.
kube::Result<std::string> read(const std::string& path, const kube::ParseLimits& /*limits*/) {
  check(path.find('\0') == std::string::npos, "a path is not cut");
  if (path.ends_with("empty")) return "";
  if (path.ends_with("text")) return "no PEM";
  return tl::unexpected(kube::Error{"is not there", path, {}});
}

// The tokens that stand nowhere else in the text, marked as such, so that a message can only have them from
// there.
std::vector<std::string> secretsIn(const client::Kubeconfig& config, std::string_view text) {
  std::vector<std::string> secrets;
  for (const auto& [name, user] : config.users) {
    for (const char* key : {"token", "password", "client-key-data"}) {
      const kube::Value* value = user.value.find(key);
      const std::string* secret = value == nullptr ? nullptr : value->asString();
      if (secret == nullptr || secret->find("S3CR3T") == std::string::npos) continue;
      const size_t found = text.find("S3CR3T");
      if (text.find("S3CR3T", found + 1) == std::string_view::npos) secrets.emplace_back("S3CR3T");
    }
  }
  return secrets;
}

void checkKept(const std::vector<std::string>& secrets, const std::string& message) {
  for (const std::string& secret : secrets)
    check(message.find(secret) == std::string::npos, "a message repeats no secret", message);
}

void checkAddress(std::string_view text) {
  const auto server = client::parseServerAddress(text);
  if (!server) return check(!server.error().message.empty(), "a refusal says why");
  check(!server->host.empty() && server->port != 0, "a server has a host and a port");
  check(client::isHeaderValue(server->host) && client::isHeaderValue("x" + server->path),
        "no header is injected");
  check(server->path.empty() || (server->path.front() == '/' && server->path.back() != '/'),
        "a path to go before");
  check(client::parseServerAddress(toString(*server)) == *server, "an address is read as it is written");
}

void checkConnection(const client::ConnectionConfig& connection) {
  checkAddress(toString(connection.server));
  check(!connection.serverName.empty(), "the certificate is for somebody");
  check(!connection.insecure || connection.authority.empty() || !connection.server.tls,
        "an authority is not given and left unused");
  check(!connection.insecure || !connection.server.tls || !connection.warnings.empty(),
        "what is unsafe is said");
  const client::Authentication& who = connection.authentication;
  check(who.token.empty() || !client::tokenProblem(who.token), "a token is a header's value");
  check(who.client.certificate.empty() == who.client.key.empty(), "a certificate has its key");
  const int ways = (who.token.empty() && who.tokenFile.empty() ? 0 : 1) + (who.username.empty() ? 0 : 1) +
                   (who.plugin ? 1 : 0);
  check(ways <= 1, "there is one way to say who asks");
  for (const client::Header& header : connection.headers)
    check(header.name.starts_with("Impersonate-") && client::isHeaderValue(header.value),
          "a header is one line");
  if (!who.plugin) return;
  check(!who.plugin->command.empty() && kube::parseJson(who.plugin->info, "info").has_value(),
        "a plugin is told JSON");
}

void checkConfig(std::string_view text) {
  const auto config = client::parseKubeconfig(text, "config");
  if (!config) {
    check(!config.error().empty(), "a refusal says why");
    return;
  }
  const std::vector<std::string> secrets = secretsIn(*config, text);
  int left = 20;
  for (const auto& [name, context] : config->contexts) {
    if (name.empty() || left-- == 0) break;
    const auto connection = client::connectionOf(*config, name, read);
    if (connection) {
      checkConnection(*connection);
      for (const std::string& warning : connection->warnings) checkKept(secrets, warning);
      continue;
    }
    check(!connection.error().empty(), "a refusal says why");
    for (const kube::Error& error : connection.error()) {
      check(error.position.line > 0, "an error has a place", toString(error));
      checkKept(secrets, toString(error));
    }
  }
  client::Kubeconfig twice = *config;
  client::addKubeconfig(twice, *config);
  check(twice.users.size() == config->users.size() && twice.currentContext == config->currentContext,
        "a file joined with itself is itself");
}

void checkAnswer(std::string_view text) {
  client::ExecPlugin plugin;
  plugin.apiVersion = "client.authentication.k8s.io/v1";
  const auto credential = client::parsePluginAnswer(text, plugin);
  if (!credential) {
    const std::string& message = credential.error().message;
    check(message.find("S3CR3T") == std::string::npos, "a plugin's answer is not repeated", message);
    return;
  }
  check(credential->token.empty() || !client::tokenProblem(credential->token), "a token is a header's value");
  check(!credential->token.empty() || !credential->client.key.empty(), "a credential is one");
  check(credential->client.certificate.empty() == credential->client.key.empty(),
        "a certificate has its key");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkConfig(text);
  checkAnswer(text);
  checkAddress(text);
  return 0;
}
