#include "net/sockets.h"

#include <csignal>

namespace lastout::net {

std::string joinHostPort(std::string_view host, std::string_view port) {
  std::string text(host);
  if (host.find(':') != std::string_view::npos) text = "[" + text + "]";
  return text.append(":").append(port);
}

std::string joinHostPort(std::string_view host, int port) { return joinHostPort(host, std::to_string(port)); }

void ignoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace lastout::net
