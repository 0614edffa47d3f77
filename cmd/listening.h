// What commands that listen have in common: addresses on the command line, certificates made at the start,
// and the signals that end them.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kube/result.h"
#include "simulator/certificates.h"

namespace lastout::cmd {

struct ListenAddress {
  std::string host;  // an IPv6 address without its brackets; of localhost, 127.0.0.1
  uint16_t port = 0;
};

// "127.0.0.1:6443", "[::1]:6443". Fails with a message that names the option.
kube::Result<ListenAddress> addressOf(const std::string& option, const std::string& text);

// Allows the program all open files that it may have. How many connections there is room for then, beside so
// many others and what it needs itself.
size_t roomForConnections(size_t others);

// Rather an IP address than a name.
bool isIpAddress(const std::string& host);

// Everything that is secret or signed, made at each start: an authority, and what it vouches for. They
// last a year.
struct MadeIdentity {
  simulator::Validity validity;
  simulator::CertifiedKey authority;
  simulator::CertifiedKey server;  // for `host`, and for names.hosts and names.addresses
};
kube::Result<MadeIdentity> makeIdentity(const std::string& authorityName, const std::string& host,
                                        simulator::ServerNames names);

// SIGINT and SIGTERM are waited for by one thread, and interrupt no other: to be called before there is any.
sigset_t blockEndingSignals();

}  // namespace lastout::cmd
