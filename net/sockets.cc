#include "net/sockets.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <limits>
#include <utility>

#include "kube/ascii.h"

namespace lastout::net {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool isNameCharacter(char c) { return isLetter(c) || kube::isDigit(c) || c == '.' || c == '-' || c == '_'; }

bool isIpv6(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

}  // namespace

std::string joinHostPort(std::string_view host, std::string_view port) {
  std::string text(host);
  if (host.find(':') != std::string_view::npos) text = "[" + text + "]";
  return text.append(":").append(port);
}

std::string joinHostPort(std::string_view host, int port) { return joinHostPort(host, std::to_string(port)); }

tl::expected<HostPort, std::string> parseHostPort(std::string_view text, uint16_t lowestPort) {
  const auto wrong = [](std::string why) { return tl::unexpected(std::move(why)); };
  HostPort parsed;
  std::string_view behind;  // the host
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("a \"[\" is not closed");
    parsed.host = text.substr(1, end - 1);
    behind = text.substr(end + 1);
    if (!isIpv6(parsed.host)) return wrong("what stands in brackets is no IPv6 address");
    if (!behind.empty() && behind.front() != ':') return wrong("after the \"]\" comes the port");
  } else {
    parsed.host = text.substr(0, text.find(':'));
    behind = text.substr(parsed.host.size());
    if (isIpv6(text) && std::ranges::count(text, ':') > 1)
      return wrong("an IPv6 address has to stand in brackets");
    if (parsed.host.empty()) return wrong("it names no host");
    if (!std::ranges::all_of(parsed.host, isNameCharacter)) return wrong("its host is no host's name");
  }
  if (behind.empty()) return parsed;
  behind.remove_prefix(1);
  const char* const end = behind.data() + behind.size();
  const auto [last, error] = std::from_chars(behind.data(), end, parsed.port.emplace());
  if (error != std::errc() || last != end || *parsed.port < lowestPort)
    return wrong("its port is no number from " + std::to_string(lowestPort) + " to " +
                 std::to_string(std::numeric_limits<uint16_t>::max()));
  return parsed;
}

void ignoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace lastout::net
