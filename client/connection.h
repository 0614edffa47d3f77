// ConnectionConfig: where an API server is, how it proves its identity, and how requests are authenticated. A
// plain value, made of kubeconfig files (kubeconfig.h) or of what a Pod is given; find_connection.h
// chooses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/result.h"

namespace lastout::client {

// "https://[::1]:6443/k8s/cluster-1" in its parts.
struct ServerAddress {
  bool tls = true;
  std::string host;  // a name or an IP address; an IPv6 address without its brackets
  uint16_t port = 0;
  std::string path;  // goes before every request's path; empty, or "/k8s/cluster-1"
  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// Fails with what is wrong with the text, as the end of a sentence that begins with where it stands.
kube::Result<ServerAddress> parseServerAddress(std::string_view text);
std::string toString(const ServerAddress& server);  // always with its port

// A certificate (its chain may follow it) and its private key, both PEM; both are empty: none.
struct KeyPair {
  std::string certificate;
  std::string key;
  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

// A program that is asked for credentials, and answers with an ExecCredential.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
struct ExecPlugin {
  std::string command;  // a path, or a name that is looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside this process's own
  std::string apiVersion;                                        // the form of its answer
  std::string info;                                              // the value of KUBERNETES_EXEC_INFO
  std::string installHint;                                       // for people, when it is not installed
  // Where it was configured, for messages: "users[0].user.exec" at a place of a file.
  std::string path;
  std::string file;
  kube::Position position;
};

// How requests are authenticated; at most one of token or tokenFile, user name, and plugin is there.
struct Authentication {
  KeyPair client;         // shown in the TLS handshake
  std::string token;      // a bearer token
  std::string tokenFile;  // holds one, and is read again as it rotates; before it can be read, `token` counts
  std::string username;   // basic authentication
  std::string password;
  std::optional<ExecPlugin> plugin;
};

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

struct ConnectionConfig {
  ServerAddress server;
  std::string serverName;  // whom its certificate must be for: a host's name or an IP address
  std::string authority;   // PEM certificates that vouch for it; empty: those that the system trusts
  bool insecure = false;   // its certificate is not checked at all
  // This runs in a Pod of that cluster, from where each of its API servers can be reached by itself.
  bool inCluster = false;
  Authentication authentication;
  std::vector<Header> headers;        // of every request: whom it is made as (impersonation)
  std::string defaultNamespace;       // where things are that name no namespace; empty: nothing was said
  std::vector<std::string> warnings;  // for the caller to print, loudly: what makes the connection unsafe
};

}  // namespace lastout::client
