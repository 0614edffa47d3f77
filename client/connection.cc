#include "client/connection.h"

#include <algorithm>

#include "kube/names.h"
#include "net/sockets.h"

namespace lastout::client {
namespace {

constexpr uint16_t kHttpsPort = 443;
constexpr uint16_t kHttpPort = 80;

tl::unexpected<kube::Error> noAddress(std::string_view why) {
  return tl::unexpected(
      kube::Error{"is no server's address: " + std::string(why) + "; write it as https://HOST:PORT", {}, {}});
}

bool isHostName(std::string_view host) {
  // As DNS has them, and with the "_" that some have nevertheless.
  std::string name = kube::lowerCase(host);
  std::ranges::replace(name, '_', '-');
  if (name.ends_with('.')) name.pop_back();
  return kube::isDnsSubdomain(name);
}

bool isPathCharacter(char c) {
  constexpr std::string_view kElsewhere = "?#\\\"<>^`{|}";
  return c > ' ' && c < '\x7f' && kElsewhere.find(c) == std::string_view::npos;
}

}  // namespace

kube::Result<ServerAddress> parseServerAddress(std::string_view text) {
  ServerAddress server;
  const size_t schemeEnd = text.find("://");
  if (schemeEnd == std::string_view::npos) return noAddress("it begins with neither https:// nor http://");
  const std::string scheme = kube::lowerCase(text.substr(0, schemeEnd));
  if (scheme != "https" && scheme != "http") return noAddress("it begins with neither https:// nor http://");
  server.tls = scheme == "https";
  server.port = server.tls ? kHttpsPort : kHttpPort;

  text.remove_prefix(schemeEnd + 3);
  const size_t pathBegin = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, pathBegin);
  std::string_view path = text.substr(pathBegin);
  if (authority.find('@') != std::string_view::npos)
    return noAddress("a user name does not belong in it");  // it would be a secret in every message
  if (!std::ranges::all_of(path, isPathCharacter)) return noAddress("its path holds what no path may");
  while (path.ends_with('/')) path.remove_suffix(1);
  server.path = path;

  const auto parsed = net::parseHostPort(authority);
  if (!parsed) return noAddress(parsed.error());
  server.host = parsed->host;
  if (!authority.starts_with('[') && !isHostName(server.host)) return noAddress("its host is no host's name");
  server.port = parsed->port.value_or(server.port);
  return server;
}

std::string toString(const ServerAddress& server) {
  return (server.tls ? "https://" : "http://") + net::joinHostPort(server.host, server.port) + server.path;
}

}  // namespace lastout::client
