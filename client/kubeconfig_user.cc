#include "client/kubeconfig_user.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/pem.h"
#include "client/secret.h"
#include "kube/encoding.h"

namespace lastout::client {
namespace {

using kube::Fields;

// What a C string cannot hold would be cut there, and something else be opened or run.
bool hasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool refuseNul(Fields& fields, const char* key, std::string_view text) {
  if (!hasNul(text)) return false;
  fields.fail(key, fields.pathOf(key) + " may not hold the character NUL");
  return true;
}

void readCertificate(Fields& user, const ReadFile& readFile, Authentication& authentication) {
  KeyPair& pair = authentication.client;
  pair.certificate = readText(user, "client-certificate", readFile);
  pair.key = readText(user, "client-key", readFile);
  const auto has = [&user](const std::string& key) { return user.has(key) || user.has(key + "-data"); };
  if (has("client-certificate") && !has("client-key"))
    failText(user, "client-certificate", "needs a client-key beside it");
  if (has("client-key") && !has("client-certificate"))
    failText(user, "client-key", "needs a client-certificate beside it");
  if (pair.certificate.empty() || pair.key.empty()) return;
  if (const auto problem = certificatesProblem(pair.certificate)) {
    failText(user, "client-certificate", *problem);
  } else if (const auto wrongKey = keyProblem(pair)) {
    failText(user, "client-key", *wrongKey);
  }
}

void readToken(Fields& user, Authentication& authentication) {
  authentication.token = user.string("token").value_or("");
  if (!authentication.token.empty())
    if (const auto problem = tokenProblem(authentication.token))
      user.fail("token", user.pathOf("token") + " " + *problem);
  const std::string file = user.string("tokenFile").value_or("");
  if (file.empty() || refuseNul(user, "tokenFile", file)) return;
  authentication.tokenFile = besideFile(user.file(), file);
}

void readPassword(Fields& user, Authentication& authentication) {
  authentication.username = user.string("username").value_or("");
  authentication.password = user.string("password").value_or("");
  if (authentication.username.empty() && !authentication.password.empty())
    user.fail("password", user.pathOf("password") + " needs a username beside it");
  if (authentication.username.find(':') != std::string::npos)
    user.fail("username", user.pathOf("username") + " may not hold a \":\"");
}

// A header's name may hold few characters; the API server undoes this.
std::string escapedName(std::string_view name) { return kube::percentEncoded(name, "!#$&'*+-.^_`|~"); }

// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
void readImpersonation(Fields& user, std::vector<Header>& headers) {
  const auto add = [&](const char* key, std::string name, std::string value) {
    if (!isHeaderValue(value)) {
      user.fail(key, user.pathOf(key) + " holds what no header may have");
      return;
    }
    headers.push_back({std::move(name), std::move(value)});
  };
  const std::string as = user.string("as").value_or("");
  const std::string uid = user.string("as-uid").value_or("");
  const std::vector<std::string> groups = user.strings("as-groups");
  auto extra = user.fields("as-user-extra");
  if (!as.empty()) add("as", "Impersonate-User", as);
  if (!uid.empty()) add("as-uid", "Impersonate-Uid", uid);
  for (const std::string& group : groups) add("as-groups", "Impersonate-Group", group);
  if (extra)
    for (const kube::Member& member : *extra->value().asMap()) {
      if (member.key.empty()) extra->fail("", extra->path() + " has an empty name");
      for (const std::string& value : extra->strings(member.key))
        add("as-user-extra", "Impersonate-Extra-" + escapedName(member.key), value);
    }
  if (as.empty() && !headers.empty())
    user.fail("as", user.pathOf("as") + " is missing: as-uid, as-groups and as-user-extra need it");
}

// What KUBERNETES_EXEC_INFO tells the plugin.
std::string execInfo(const std::string& apiVersion, bool withCluster, Fields& cluster,
                     const ConnectionConfig& connection) {
  nlohmann::ordered_json spec = {{"interactive", false}};
  if (withCluster) {
    nlohmann::ordered_json about = {{"server", cluster.string("server").value_or("")}};
    if (const std::string name = cluster.string("tls-server-name").value_or(""); !name.empty())
      about["tls-server-name"] = name;
    if (connection.insecure) about["insecure-skip-tls-verify"] = true;
    if (!connection.authority.empty())
      about["certificate-authority-data"] = kube::toBase64(connection.authority);
    for (Fields& extension : cluster.items("extensions"))
      if (extension.string("name") == "client.authentication.k8s.io/exec")
        if (const kube::Value* config = extension.any("extension")) about["config"] = toJson(*config);
    spec["cluster"] = std::move(about);
  }
  const nlohmann::ordered_json info = {
      {"kind", "ExecCredential"}, {"apiVersion", apiVersion}, {"spec", std::move(spec)}};
  return info.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void readEnvironment(Fields& exec, ExecPlugin& plugin) {
  for (Fields& variable : exec.items("env")) {
    const std::string name = variable.requiredString("name");
    const std::string value = variable.string("value").value_or("");
    if (refuseNul(variable, "name", name) || refuseNul(variable, "value", value)) continue;
    if (name.find('=') != std::string::npos)
      variable.fail("name", variable.pathOf("name") + " may not hold a \"=\"");
    plugin.environment.emplace_back(name, value);
  }
}

ExecPlugin readPlugin(Fields& exec, Fields& cluster, const ConnectionConfig& connection) {
  ExecPlugin plugin;
  plugin.path = exec.path();
  plugin.file = exec.file();
  plugin.position = exec.value().position;
  plugin.apiVersion =
      exec.oneOf("apiVersion", {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"})
          .value_or("");
  if (!exec.has("apiVersion")) exec.fail("apiVersion", exec.pathOf("apiVersion") + " is missing");
  const std::string command = exec.requiredString("command");
  refuseNul(exec, "command", command);
  // Only what is looked for in PATH stays as it is.
  plugin.command = command.find('/') == std::string::npos ? command : besideFile(exec.file(), command);
  plugin.arguments = exec.strings("args");
  if (std::ranges::any_of(plugin.arguments, hasNul))
    exec.fail("args", exec.pathOf("args") + " may not hold the character NUL");
  readEnvironment(exec, plugin);
  plugin.installHint = exec.string("installHint").value_or("");
  if (exec.oneOf("interactiveMode", {"Never", "IfAvailable", "Always"}) == "Always")
    exec.fail("interactiveMode",
              exec.pathOf("interactiveMode") +
                  " is Always: nobody sits at a terminal here; use a plugin that needs none");
  plugin.info =
      execInfo(plugin.apiVersion, exec.boolean("provideClusterInfo").value_or(false), cluster, connection);
  return plugin;
}

}  // namespace

std::string besideFile(std::string_view file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

std::string readText(Fields& fields, const std::string& key, const ReadFile& readFile) {
  const std::string dataKey = key + "-data";
  const std::string data = fields.string(dataKey).value_or("");
  const std::string file = fields.string(key).value_or("");
  if (!data.empty() && !file.empty()) {
    fields.fail(key, fields.pathOf(key) + " and " + dataKey + " are both there; remove one");
    return "";
  }
  if (!data.empty()) {
    if (data.size() > 2 * kMostPemBytes) {
      fields.fail(dataKey, fields.pathOf(dataKey) + " is longer than 2 MiB");
      return "";
    }
    auto text = kube::fromBase64(data);
    if (!text) fields.fail(dataKey, fields.pathOf(dataKey) + " is no Base64");
    return std::move(text).value_or("");
  }
  if (file.empty()) return "";
  if (hasNul(file)) {
    fields.fail(key, fields.pathOf(key) + " may not hold the character NUL");
    return "";
  }
  auto text = readFile(besideFile(fields.file(), file), {.bytes = kMostPemBytes});
  if (!text) fields.fail(key, fields.pathOf(key) + ": " + toString(text.error()));
  if (text && text->empty()) failText(fields, key, "is an empty file");
  return std::move(text).value_or("");
}

void failText(Fields& fields, const std::string& key, const std::string& problem) {
  const std::string from = fields.string(key + "-data").value_or("").empty() ? key : key + "-data";
  fields.fail(from, fields.pathOf(from) + " " + problem);
}

void readUser(const KubeconfigEntry& entry, Fields& cluster, const ReadFile& readFile,
              ConnectionConfig& connection, kube::Errors& errors) {
  Fields user(entry.value, entry.file, entry.path, errors);
  Authentication& authentication = connection.authentication;
  readCertificate(user, readFile, authentication);
  readToken(user, authentication);
  readPassword(user, authentication);
  readImpersonation(user, connection.headers);
  if (auto exec = user.fields("exec")) authentication.plugin = readPlugin(*exec, cluster, connection);
  if (user.has("auth-provider"))
    user.fail("auth-provider", user.pathOf("auth-provider") +
                                   " cannot be used: Kubernetes has removed it; use an exec plugin instead");
  const bool token = !authentication.token.empty() || !authentication.tokenFile.empty();
  const std::array<bool, 3> ways = {token, !authentication.username.empty(),
                                    authentication.plugin.has_value()};
  if (std::ranges::count(ways, true) > 1)
    user.failAt(user.value(),
                user.path() + " has more than one of token, username and exec; keep one of them");
}

}  // namespace lastout::client
