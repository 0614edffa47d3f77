#include "simulator/webhook_url.h"

#include <algorithm>
#include <charconv>

namespace lastout::simulator {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr std::string_view kDesired = "; desired format: https://host[/path]";

// What stands between the scheme and the path.
std::string_view authorityOf(std::string_view url) {
  const std::string_view rest = url.substr(kScheme.size());
  return rest.substr(0, rest.find_first_of("/?#"));
}

bool isHostCharacter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '.' || character == '-' || character == '_';
}

// "host:443", "[::1]"; nothing when it is no such thing.
std::optional<WebhookUrl> hostAndPort(std::string_view authority) {
  WebhookUrl url;
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (url.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos) return std::nullopt;
  } else {
    url.host = authority.substr(0, authority.find(':'));
    port = authority.substr(url.host.size());
    if (!std::ranges::all_of(url.host, isHostCharacter)) return std::nullopt;
  }
  if (port.empty()) return url;
  if (port.front() != ':') return std::nullopt;
  port.remove_prefix(1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (error != std::errc() || end != port.data() + port.size() || url.port < 1 || url.port > 65535)
    return std::nullopt;
  return url;
}

}  // namespace

std::optional<WebhookUrlProblem> webhookUrlProblem(std::string_view url) {
  const auto problem = [](std::string_view value, std::string_view message, bool withForm) {
    return WebhookUrlProblem{std::string(value),
                             std::string(message) + std::string(withForm ? kDesired : "")};
  };
  if (!url.starts_with(kScheme)) {
    const size_t end = url.find("://");
    return problem(end == std::string_view::npos ? "" : url.substr(0, end),
                   "'https' is the only allowed URL scheme", true);
  }
  const std::string_view authority = authorityOf(url);
  if (authority.empty()) return problem("", "host must be specified", true);
  const size_t user = authority.find('@');
  if (user != std::string_view::npos)
    return problem(authority.substr(0, user), "user information is not permitted in the URL", false);
  const size_t fragment = url.find('#');
  if (fragment != std::string_view::npos)
    return problem(url.substr(fragment + 1), "fragments are not permitted in the URL", false);
  const size_t query = url.find('?');
  if (query != std::string_view::npos)
    return problem(url.substr(query + 1), "query parameters are not permitted in the URL", false);
  const auto parts = hostAndPort(authority);
  const std::string_view path = url.substr(kScheme.size() + authority.size());
  if (!parts || (!path.empty() && !isUrlPath(path))) return problem(url, "url must be a valid URL", true);
  if (parts->host.empty()) return problem("", "host must be specified", true);
  return std::nullopt;
}

std::optional<WebhookUrl> parseWebhookUrl(std::string_view url) {
  if (webhookUrlProblem(url)) return std::nullopt;
  const std::string_view authority = authorityOf(url);
  auto parts = hostAndPort(authority);
  if (parts) parts->path = url.substr(kScheme.size() + authority.size());
  return parts;
}

bool isUrlPath(std::string_view path) {
  return path.starts_with('/') && std::ranges::all_of(path, [](char character) {
           return character > ' ' && character < 0x7F && character != '?' && character != '#';
         });
}

}  // namespace lastout::simulator
