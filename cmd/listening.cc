#include "cmd/listening.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

#include "kube/quoting.h"

namespace lastout::cmd {
namespace {

constexpr std::chrono::hours kCertificatesLast{24 * 365};
constexpr rlim_t kOwnDescriptors = 256;
constexpr rlim_t kFewestConnections = 16;
constexpr rlim_t kManyDescriptors = 65'536;  // whatever more is allowed

}  // namespace

// An IPv6 address stands in brackets, which are not part of it.
kube::Result<ListenAddress> addressOf(const std::string& option, const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + colon + 1, end, port).ptr != end) port = -1;
  }
  if (port < 0 || port > std::numeric_limits<uint16_t>::max() || colon == 0)
    return tl::unexpected(
        kube::Error{option + ": " + kube::inQuotes(text) +
                        " is no address with a port; write it as 127.0.0.1:PORT or [::1]:PORT",
                    {},
                    {}});
  const bool inBrackets = text.front() == '[' && text[colon - 1] == ']';
  std::string host = inBrackets ? text.substr(1, colon - 2) : text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  return ListenAddress{std::move(host), static_cast<uint16_t>(port)};
}

size_t roomForConnections(size_t others) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return kFewestConnections;
  const rlimit wanted{std::max(files.rlim_cur, std::min(files.rlim_max, kManyDescriptors)), files.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) files = wanted;
  const rlim_t taken = kOwnDescriptors + others;
  return std::max(files.rlim_cur, taken + kFewestConnections) - taken;
}

bool isIpAddress(const std::string& host) {
  return host.find(':') != std::string::npos || host.find_first_not_of("0123456789.") == std::string::npos;
}

kube::Result<MadeIdentity> makeIdentity(const std::string& authorityName, const std::string& host,
                                        simulator::ServerNames names) {
  const int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  MadeIdentity identity;
  identity.validity = {now - 60, now + std::chrono::seconds(kCertificatesLast).count()};
  auto authority = simulator::makeAuthority(authorityName, identity.validity);
  if (!authority) return tl::unexpected(std::move(authority.error()));
  identity.authority = std::move(*authority);
  if (host != "127.0.0.1") (isIpAddress(host) ? names.addresses : names.hosts).push_back(host);
  auto server = simulator::makeServerCertificate(identity.authority, names, identity.validity);
  if (!server) return tl::unexpected(std::move(server.error()));
  identity.server = std::move(*server);
  return identity;
}

sigset_t blockEndingSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

}  // namespace lastout::cmd
