// What all sockets of lastout have in common: how an address with a port is written, and what a write to a
// connection that is gone comes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace lastout::net {

// Returns "example.org:443", "10.1.2.3:443", "[::1]:443": an IPv6 address stands in brackets. `host` has
// none.
std::string joinHostPort(std::string_view host, std::string_view port);
std::string joinHostPort(std::string_view host, int port);

struct HostPort {
  std::string host;              // a name or an IP address; an IPv6 address without its brackets
  std::optional<uint16_t> port;  // nullopt: it says none
};

// Reads what joinHostPort() writes; the port may be missing. An IPv6 address has to stand in brackets, since
// its last part could be the port. `lowestPort`: 0 where that means any that is free. Fails with what is
// wrong: "its port is no number from 1 to 65535".
tl::expected<HostPort, std::string> parseHostPort(std::string_view text, uint16_t lowestPort = 1);

// Makes a write to a connection that the other side has closed an error of that write, not the end of the
// program: SIGPIPE is ignored from now on. Programs that lastout starts are given it back (client/plugin.h).
void ignoreBrokenPipes();

}  // namespace lastout::net
