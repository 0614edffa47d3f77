#include "simulator/service_defaults.h"

#include <string>

#include "kube/encoding.h"
#include "simulator/json_edit.h"

namespace lastout::simulator {
namespace {

constexpr uint64_t kFirstNodePort = 30000;
constexpr uint64_t kNodePorts = 2768;

bool hasAddress(const Json& spec) { return stringAt(spec, {"type"}) != "ExternalName"; }

bool hasNodePorts(const Json& spec) {
  const std::string_view type = stringAt(spec, {"type"});
  return type == "NodePort" || type == "LoadBalancer";
}

void fillServicePort(Json& port) {
  setDefault(port, "protocol", "TCP");
  const Json* target = at(port, {"targetPort"});
  const bool isSet = target != nullptr && !target->is_null() && *target != 0 && *target != "";
  if (!isSet && port.contains("port")) port["targetPort"] = port["port"];
}

void allocateNodePorts(const Json& metadata, Json& spec) {
  const std::string name =
      std::string(stringAt(metadata, {"namespace"})) + "/" + std::string(stringAt(metadata, {"name"}));
  forEachObject(spec, "ports", [&name](Json& port) {
    if (integerAt(port, {"nodePort"}) != 0) return;
    const uint64_t hash = kube::stableHash(name + "/" + std::to_string(integerAt(port, {"port"})) + "/" +
                                           std::string(stringAt(port, {"protocol"})));
    port["nodePort"] = kFirstNodePort + hash % kNodePorts;
  });
}

}  // namespace

void fillService(Json& service) {
  Json* spec = objectIn(service, "spec");
  if (spec == nullptr) return;
  setDefault(*spec, "type", "ClusterIP");
  setDefault(*spec, "sessionAffinity", "None");
  forEachObject(*spec, "ports", fillServicePort);
  if (hasAddress(*spec)) setDefault(*spec, "internalTrafficPolicy", "Cluster");
  if (hasNodePorts(*spec)) setDefault(*spec, "externalTrafficPolicy", "Cluster");
  if (stringAt(*spec, {"type"}) == "LoadBalancer") setDefault(*spec, "allocateLoadBalancerNodePorts", true);
}

void allocateService(Json& service, const ClusterIpSource& clusterIp) {
  Json* spec = objectIn(service, "spec");
  if (spec == nullptr || !hasAddress(*spec)) return;
  dropEmpty(*spec, {"clusterIP"});
  if (!spec->contains("clusterIP")) (*spec)["clusterIP"] = clusterIp(service);
  setDefault(*spec, "clusterIPs", Json::array({(*spec)["clusterIP"]}));
  setDefault(*spec, "ipFamilies", Json::array({"IPv4"}));
  setDefault(*spec, "ipFamilyPolicy", "SingleStack");
  if (hasNodePorts(*spec)) allocateNodePorts(service["metadata"], *spec);
}

void keepAllocated(const Json& old, Json& service) {
  Json* spec = objectIn(service, "spec");
  const Json* oldSpec = at(old, {"spec"});
  if (spec == nullptr || oldSpec == nullptr || !hasAddress(*spec)) return;
  for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    dropEmpty(*spec, {key});
    if (!spec->contains(key)) copyKey(*oldSpec, *spec, key);
  }
  const Json* oldPorts = at(*oldSpec, {"ports"});
  if (!hasNodePorts(*spec) || oldPorts == nullptr || !oldPorts->is_array()) return;
  forEachObject(*spec, "ports", [oldPorts](Json& port) {
    if (integerAt(port, {"nodePort"}) != 0) return;
    for (const Json& before : *oldPorts) {
      if (integerAt(before, {"port"}) == integerAt(port, {"port"})) copyKey(before, port, "nodePort");
    }
  });
}

}  // namespace lastout::simulator
