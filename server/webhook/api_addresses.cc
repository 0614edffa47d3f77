#include "server/webhook/api_addresses.h"

#include <arpa/inet.h>

#include <array>
#include <optional>
#include <string>

#include "kube/api_calls.h"
#include "kube/value.h"

namespace lastout::server {
namespace {

tl::unexpected<kube::Error> noSlice(const char* why) {
  return tl::unexpected(kube::Error{std::string("EndpointSlice default/kubernetes: ") + why, {}, {}});
}

bool isIpAddress(const std::string& text) {
  std::array<unsigned char, 16> address{};
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

std::optional<uint16_t> portOf(const kube::Value& slice) {
  std::optional<uint16_t> first;
  for (const kube::Value& port : kube::listAt(slice, {"ports"})) {
    const kube::Value* number = port.find("port");
    if (number == nullptr || number->asInteger() == nullptr) continue;
    if (*number->asInteger() < 1 || *number->asInteger() > 65535) continue;
    const auto found = static_cast<uint16_t>(*number->asInteger());
    if (kube::textAt(port, {"name"}) == "https") return found;
    if (!first) first = found;
  }
  return first;
}

}  // namespace

client::ApiRequest requestForApiAddresses() {
  client::ApiRequest request;
  request.target = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
  return request;
}

kube::Result<std::vector<client::ServerAddress>> apiAddressesIn(const kube::Value& slice) {
  if (kube::textAt(slice, {"kind"}) != "EndpointSlice") return noSlice("it is none");
  const auto port = portOf(slice);
  if (!port) return noSlice("it names no port");
  std::vector<client::ServerAddress> found;
  for (const kube::Value& endpoint : kube::listAt(slice, {"endpoints"})) {
    if (!kube::isReadyEndpoint(endpoint)) continue;
    for (const kube::Value& address : kube::listAt(endpoint, {"addresses"})) {
      if (found.size() == kMostApiServers) return found;
      if (address.asString() != nullptr && isIpAddress(*address.asString()))
        found.push_back({true, *address.asString(), *port, ""});
    }
  }
  return found;
}

}  // namespace lastout::server
