#include "client/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <system_error>

namespace lastout::client {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// A peer that is gone without a word, as when its machine or the network died, is noticed within 25 s: a
// watch may be silent for longer, and must not be believed meanwhile.
constexpr int kProbeAfter = 10;  // seconds of silence
constexpr int kProbeEvery = 5;   // seconds
constexpr int kProbes = 3;
constexpr int kUnansweredFor = 25'000;  // milliseconds, of what was sent

kube::Error dialError(std::string message) { return {std::move(message), {}, {}}; }

std::string wordsOf(int error) { return std::generic_category().message(error); }

kube::Result<Addresses> lookUp(const std::string& host, uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0)
    return tl::unexpected(dialError("the host is not found: " + std::string(gai_strerror(failed))));
  return Addresses(found);
}

// 0, or an error number.
int waitUntilConnected(int socket, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  pollfd wanted{socket, POLLOUT, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready > 0) break;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

// 0, or an error number.
int connectTo(int socket, const addrinfo& address, std::chrono::milliseconds patience,
              net::Cutter::Line& line) {
  if (!line.hold(socket)) return EMFILE;
  int error = connect(socket, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  // Cut before it began to connect, the socket has not noticed.
  if (line.why() != net::Cut::No) return ECANCELED;
  if (error == EINPROGRESS) error = waitUntilConnected(socket, patience);
  if (line.why() != net::Cut::No) return ECANCELED;
  if (error != 0) return error;
  const int flags = fcntl(socket, F_GETFL);
  if (flags < 0 || fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) != 0) return errno;
  const auto set = [socket](int level, int option, int value) {
    return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
  };
  const bool areSet =
      set(IPPROTO_TCP, TCP_NODELAY, 1) && set(SOL_SOCKET, SO_KEEPALIVE, 1) &&
      set(IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfter) && set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeEvery) &&
      set(IPPROTO_TCP, TCP_KEEPCNT, kProbes) && set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredFor);
  return areSet ? 0 : errno;
}

}  // namespace

kube::Result<int> dial(const std::string& host, uint16_t port, std::chrono::milliseconds patience,
                       net::Cutter::Line& line) {
  const auto addresses = lookUp(host, port);
  if (!addresses) return tl::unexpected(addresses.error());
  int error = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    const int made = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
      error = errno;
      continue;
    }
    error = connectTo(made, *address, patience, line);
    if (error == 0) return made;
    close(made);
    if (line.why() != net::Cut::No) break;
  }
  return tl::unexpected(dialError(wordsOf(error)));
}

}  // namespace lastout::client
