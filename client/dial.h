// dial: a TCP connection, given up when its line is cut.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "kube/result.h"
#include "net/cutter.h"

namespace lastout::client {

// Each address of the host in turn, each for that long; the socket blocks, and is held by `line`. `host` is a
// name or an IP address without brackets. Looking up a name takes as long as the system's resolver takes, and
// cannot be cut. Fails with the words of the last address.
kube::Result<int> dial(const std::string& host, uint16_t port, std::chrono::milliseconds patience,
                       net::Cutter::Line& line);

}  // namespace lastout::client
