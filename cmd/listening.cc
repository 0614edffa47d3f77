#include "cmd/listening.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kube/messages.h"
#include "net/sockets.h"

namespace lastout::cmd {
namespace {

constexpr std::chrono::hours kCertificatesLast{24 * 365};
constexpr rlim_t kOwnDescriptors = 256;
constexpr rlim_t kFewestConnections = 16;
constexpr rlim_t kManyDescriptors = 65'536;  // whatever more is allowed

}  // namespace

kube::Result<ListenAddress> addressOf(const std::string& option, const std::string& text) {
  auto parsed = net::parseHostPort(text, 0);
  if (!parsed || !parsed->port) {
    const std::string why = parsed ? "" : ": " + parsed.error();
    return tl::unexpected(kube::Error{option + ": " + kube::inQuotes(text) + " is no address with a port" +
                                          why + "; write it as 127.0.0.1:PORT or [::1]:PORT",
                                      {},
                                      {}});
  }
  if (parsed->host == "localhost") parsed->host = "127.0.0.1";
  return ListenAddress{std::move(parsed->host), *parsed->port};
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
