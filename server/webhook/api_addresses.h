// Where each API server of a cluster can be reached by itself: the EndpointSlice of the Service `kubernetes`,
// which API servers keep by themselves
// (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/).
#pragma once

#include <cstddef>
#include <vector>

#include "client/api_server.h"
#include "client/connection.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::server {

inline constexpr size_t kMostApiServers = 16;  // more are not looked at

client::ApiRequest requestForApiAddresses();

// IP addresses with the port that is called https, or else the first; those that are said not to be ready are
// left out. Fails when the object is no EndpointSlice that names a port.
kube::Result<std::vector<client::ServerAddress>> apiAddressesIn(const kube::Value& slice);

}  // namespace lastout::server
