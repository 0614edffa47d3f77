// What all sockets of lastout have in common: how an address with a port is written, and what a write to a
// connection that is gone comes to.
#pragma once

#include <string>
#include <string_view>

namespace lastout::net {

// Returns "example.org:443", "10.1.2.3:443", "[::1]:443": an IPv6 address stands in brackets. `host` has
// none.
std::string joinHostPort(std::string_view host, std::string_view port);
std::string joinHostPort(std::string_view host, int port);

// Makes a write to a connection that the other side has closed an error of that write, not the end of the
// program: SIGPIPE is ignored from now on. Programs that lastout starts are given it back (client/plugin.h).
void ignoreBrokenPipes();

}  // namespace lastout::net
