// Kubeconfig files: which cluster, as which user. Several files are one configuration, as kubectl joins them.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection.h"
#include "kube/parse.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::client {

// A cluster, user or context, as it stands in its file; it is not read before it is chosen, so that what is
// wrong with one cluster does not keep anybody from another.
struct KubeconfigEntry {
  std::string file;
  std::string path;   // "users[0].user", for messages
  kube::Value value;  // a map
};

struct Kubeconfig {
  using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;  // by name
  Entries clusters;
  Entries users;
  Entries contexts;
  std::string currentContext;  // empty: none
};

// One file's text. Fails on what is no YAML (kube/parse.h), wrong types, entries without a name and names
// that are there twice. Fields that are not known are passed over, as kubectl does. Messages hold no values.
tl::expected<Kubeconfig, kube::Errors> parseKubeconfig(std::string_view text, std::string_view file);

// Adds what a further file says. Of each name, and of current-context, the first file's counts.
void addKubeconfig(Kubeconfig& config, Kubeconfig further);

// How files that a kubeconfig names are read; they have at most `limits.bytes`.
using ReadFile =
    std::function<kube::Result<std::string>(const std::string& path, const kube::ParseLimits& limits)>;

// The connection of a context (empty: of current-context). Paths in it are relative to the folder of the file
// that names them. Fails, with the file, place and field, when there is no such context, cluster or user;
// when certificates, keys or addresses cannot be used; when fields contradict each other; and on what is
// known but not supported (proxy-url, auth-provider, plugins that want a terminal), instead of connecting in
// another way than was asked for.
tl::expected<ConnectionConfig, kube::Errors> connectionOf(const Kubeconfig& config,
                                                          std::string_view context = "",
                                                          const ReadFile& readFile = kube::readFile);

// Reads the files, joins them and gives the context's connection. Files that do not exist are passed over
// unless none of them does.
tl::expected<ConnectionConfig, kube::Errors> loadKubeconfig(const std::vector<std::string>& files,
                                                            std::string_view context = "");

}  // namespace lastout::client
