#include "client/kubeconfig.h"

#include <filesystem>
#include <utility>

#include "client/kubeconfig_user.h"
#include "client/pem.h"
#include "client/secret.h"
#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/names.h"

namespace lastout::client {
namespace {

using kube::Fields;

// The entries of one list, {"name": ..., "<what>": {...}}.
void readEntries(Fields& document, const char* list, const char* what, Kubeconfig::Entries& entries) {
  for (Fields& item : document.items(list)) {
    const std::string name = item.requiredString("name");
    const kube::Value* value = item.map(what);
    if (name.empty()) continue;
    KubeconfigEntry entry{std::string(item.file()), item.pathOf(what), {}};
    if (value != nullptr) {
      entry.value = *value;
    } else {
      entry.value = {kube::Value::Map(), item.value().position};
    }
    if (!entries.emplace(name, std::move(entry)).second)
      item.fail("name", item.pathOf("name") + ": " + kube::inQuotes(name) + " is in this list twice");
  }
}

// "; there are a, b": what could have been meant.
std::string choices(const Kubeconfig::Entries& entries, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : entries) names.emplace_back(known);
  if (names.empty()) return "; there are none";
  if (std::string meant = kube::didYouMean(name, names); !meant.empty()) return meant;
  constexpr size_t kMostNames = 10;
  std::string text = "; there are ";
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i == 0 ? "" : ", ") + kube::printable(names[i]);
  return names.size() > kMostNames ? text + ", ..." : text;
}

bool isLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string placeOf(const Fields& fields, std::string_view key) {
  const kube::Value* value = fields.value().find(key);
  return toString(kube::Error{fields.pathOf(key), std::string(fields.file()),
                              value == nullptr ? fields.value().position : value->position});
}

void readTls(Fields& cluster, const ReadFile& readFile, ConnectionConfig& connection) {
  connection.serverName = cluster.string("tls-server-name").value_or("");
  constexpr std::string_view kOfNamesAndAddresses =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
  if (connection.serverName.find_first_not_of(kOfNamesAndAddresses) != std::string::npos)
    cluster.fail("tls-server-name", cluster.pathOf("tls-server-name") + " is no host's name");
  if (connection.serverName.empty()) connection.serverName = connection.server.host;

  connection.insecure = cluster.boolean("insecure-skip-tls-verify").value_or(false);
  connection.authority = readText(cluster, "certificate-authority", readFile);
  if (!connection.authority.empty())
    if (const auto problem = certificatesProblem(connection.authority))
      failText(cluster, "certificate-authority", *problem);
  if (!connection.insecure || !connection.server.tls) return;
  const std::string place = placeOf(cluster, "insecure-skip-tls-verify");
  if (!connection.authority.empty())
    cluster.fail("insecure-skip-tls-verify",
                 cluster.pathOf("insecure-skip-tls-verify") +
                     " contradicts the certificate-authority beside it; remove one");
  connection.warnings.push_back(place + ": the certificate of " + toString(connection.server) +
                                " is NOT checked. Whoever stands between can read and change everything, "
                                "credentials too; name its certificate-authority instead");
}

void readCluster(Fields& cluster, const ReadFile& readFile, ConnectionConfig& connection) {
  const std::string server = cluster.requiredString("server");
  if (const auto address = parseServerAddress(server)) {
    connection.server = *address;
  } else if (!server.empty()) {
    cluster.fail("server", cluster.pathOf("server") + " " + address.error().message);
  }
  readTls(cluster, readFile, connection);
  if (!connection.server.tls && !isLoopback(connection.server.host))
    connection.warnings.push_back(placeOf(cluster, "server") + ": " + toString(connection.server) +
                                  " is NOT encrypted. Whoever stands between can read and change everything, "
                                  "credentials too; use https:// instead");
  if (!cluster.string("proxy-url").value_or("").empty())
    cluster.fail("proxy-url",
                 cluster.pathOf("proxy-url") +
                     " cannot be used: lastout connects to the server itself; remove it, or choose "
                     "a cluster that can be reached without a proxy");
}

const KubeconfigEntry* find(const Kubeconfig::Entries& entries, const std::string& name) {
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

tl::unexpected<kube::Errors> failure(std::string message, std::string file = {}) {
  return tl::unexpected(kube::Errors{{std::move(message), std::move(file), {}}});
}

}  // namespace

tl::expected<Kubeconfig, kube::Errors> parseKubeconfig(std::string_view text, std::string_view file) {
  const auto documents = kube::parseYaml(text, file);
  if (!documents) return tl::unexpected(kube::Errors{withoutQuotes(documents.error())});
  if (documents->empty()) return Kubeconfig{};
  kube::Errors errors;
  if (documents->size() > 1)
    errors.push_back({"a kubeconfig is one document; a second one begins here", std::string(file),
                      (*documents)[1].position});
  Fields document(documents->front(), file, "", errors);
  document.oneOf("apiVersion", {"v1"});
  document.oneOf("kind", {"Config"});
  Kubeconfig config;
  readEntries(document, "clusters", "cluster", config.clusters);
  readEntries(document, "users", "user", config.users);
  readEntries(document, "contexts", "context", config.contexts);
  config.currentContext = document.string("current-context").value_or("");
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return config;
}

void addKubeconfig(Kubeconfig& config, Kubeconfig further) {
  config.clusters.merge(further.clusters);
  config.users.merge(further.users);
  config.contexts.merge(further.contexts);
  if (config.currentContext.empty()) config.currentContext = std::move(further.currentContext);
}

tl::expected<ConnectionConfig, kube::Errors> connectionOf(const Kubeconfig& config, std::string_view context,
                                                          const ReadFile& readFile) {
  const std::string name = context.empty() ? config.currentContext : std::string(context);
  if (name.empty())
    return failure("the kubeconfig has no current-context; choose a context" + choices(config.contexts, ""));
  const KubeconfigEntry* chosen = find(config.contexts, name);
  if (chosen == nullptr)
    return failure("there is no context " + kube::inQuotes(name) + choices(config.contexts, name));

  kube::Errors errors;
  ConnectionConfig connection;
  Fields fields(chosen->value, chosen->file, chosen->path, errors);
  connection.defaultNamespace = fields.string("namespace").value_or("");
  if (!connection.defaultNamespace.empty() && !kube::isDnsLabel(connection.defaultNamespace))
    fields.fail("namespace", fields.pathOf("namespace") + " is no namespace's name");
  const std::string clusterName = fields.requiredString("cluster");
  const std::string userName = fields.string("user").value_or("");
  const auto missing = [&](const char* key, const std::string& absent, const Kubeconfig::Entries& entries) {
    fields.fail(key, fields.pathOf(key) + ": there is no " + key + " " + kube::inQuotes(absent) +
                         choices(entries, absent));
  };
  if (const KubeconfigEntry* entry = find(config.clusters, clusterName)) {
    Fields cluster(entry->value, entry->file, entry->path, errors);
    readCluster(cluster, readFile, connection);
    if (const KubeconfigEntry* user = find(config.users, userName))
      readUser(*user, cluster, readFile, connection, errors);
  } else if (!clusterName.empty()) {
    missing("cluster", clusterName, config.clusters);
  }
  if (!userName.empty() && find(config.users, userName) == nullptr) missing("user", userName, config.users);
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return connection;
}

tl::expected<ConnectionConfig, kube::Errors> loadKubeconfig(const std::vector<std::string>& files,
                                                            std::string_view context) {
  Kubeconfig config;
  std::string absent;
  bool any = false;
  for (const std::string& file : files) {
    std::error_code unknown;
    if (const auto status = std::filesystem::status(file, unknown);
        status.type() == std::filesystem::file_type::not_found) {
      absent += (absent.empty() ? "" : ", ") + kube::printable(file);
      continue;
    }
    any = true;
    const auto text = kube::readFile(file);
    if (!text) return tl::unexpected(kube::Errors{text.error()});
    auto further = parseKubeconfig(*text, file);
    if (!further) return tl::unexpected(std::move(further.error()));
    addKubeconfig(config, std::move(*further));
  }
  if (!any)
    return failure(absent.empty() ? "no kubeconfig is named" : "there is no such kubeconfig file: " + absent);
  auto connection = connectionOf(config, context);
  if (connection) return connection;
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ":") + file;
  for (kube::Error& error : connection.error()) {
    if (error.file.empty()) error.file = names;
  }
  return connection;
}

}  // namespace lastout::client
