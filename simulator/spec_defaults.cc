#include "simulator/spec_defaults.h"

#include <algorithm>
#include <array>
#include <string>

#include "kube/encoding.h"
#include "simulator/json.h"

namespace lastout::simulator {
namespace {

constexpr int kReadableByAll = 0644;
constexpr int kLostNodeSeconds = 300;

// "Always" for the tag latest, or none; a digest is no tag.
std::string_view pullPolicyOf(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const size_t colon = last.rfind(':');
  const bool latest = colon == std::string_view::npos || last.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void fillProbe(Json& container, const char* name) {
  const auto probe = container.find(name);
  if (probe == container.end() || !probe->is_object()) return;
  setDefault(*probe, "timeoutSeconds", 1);
  setDefault(*probe, "periodSeconds", 10);
  setDefault(*probe, "successThreshold", 1);
  setDefault(*probe, "failureThreshold", 3);
  const auto httpGet = probe->find("httpGet");
  if (httpGet == probe->end() || !httpGet->is_object()) return;
  setDefault(*httpGet, "path", "/");
  setDefault(*httpGet, "scheme", "HTTP");
}

void fillEnvironment(Json& container) {
  forEachObject(container, "env", [](Json& variable) {
    const auto source = variable.find("valueFrom");
    if (source == variable.end() || !source->is_object()) return;
    const auto field = source->find("fieldRef");
    if (field != source->end()) setDefault(*field, "apiVersion", "v1");
  });
}

// A limit without a request is a request of as much.
void fillRequests(Json& resources) {
  const auto limits = resources.find("limits");
  if (limits == resources.end() || !limits->is_object() || limits->empty()) return;
  const Json wanted = *limits;
  Json* requests = objectIn(resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, quantity] : wanted.items()) setDefault(*requests, name, quantity);
}

void fillContainer(Json& container) {
  Json* resources = objectIn(container, "resources");
  if (resources != nullptr) fillRequests(*resources);
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "imagePullPolicy", pullPolicyOf(stringAt(container, {"image"})));
  forEachObject(container, "ports", [](Json& port) { setDefault(port, "protocol", "TCP"); });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) fillProbe(container, probe);
  fillEnvironment(container);
}

void fillVolume(Json& volume) {
  for (const char* source : {"configMap", "secret", "projected", "downwardAPI"}) {
    const auto found = volume.find(source);
    if (found != volume.end()) setDefault(*found, "defaultMode", kReadableByAll);
  }
  const auto path = volume.find("hostPath");
  if (path != volume.end()) setDefault(*path, "type", "");
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = Json::object();
}

Json toleration(const char* key) {
  return {
      {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kLostNodeSeconds}};
}

bool tolerates(const Json& tolerations, std::string_view key) {
  return std::ranges::any_of(tolerations, [key](const Json& present) {
    const std::string_view effect = stringAt(present, {"effect"});
    const std::string_view presentKey = stringAt(present, {"key"});
    return (effect.empty() || effect == "NoExecute") && (presentKey.empty() || presentKey == key);
  });
}

// The deprecated name of the same field is kept in step.
void fillServiceAccount(Json& spec) {
  if (!spec.is_object()) return;
  const std::string name(stringAt(spec, {"serviceAccountName"}));
  const std::string deprecated(stringAt(spec, {"serviceAccount"}));
  if (!name.empty()) {
    spec["serviceAccount"] = name;
  } else if (!deprecated.empty()) {
    spec["serviceAccountName"] = deprecated;
  }
}

}  // namespace

void fillPodSpec(Json& spec) {
  if (!spec.is_object()) return;
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "securityContext", Json::object());
  setDefault(spec, "schedulerName", "default-scheduler");
  fillServiceAccount(spec);
  for (const char* containers : {"containers", "initContainers", "ephemeralContainers"})
    forEachObject(spec, containers, fillContainer);
  forEachObject(spec, "volumes", fillVolume);
}

void fillPodTemplate(Json& podTemplate) {
  if (Json* metadata = objectIn(podTemplate, "metadata")) (*metadata)["creationTimestamp"] = nullptr;
  if (Json* spec = objectIn(podTemplate, "spec")) fillPodSpec(*spec);
}

void fillPod(Json& spec) {
  if (!spec.is_object()) return;
  setDefault(spec, "enableServiceLinks", true);
  setDefault(spec, "priority", 0);
  setDefault(spec, "preemptionPolicy", "PreemptLowerPriority");
  setDefault(spec, "tolerations", Json::array());
  Json* tolerations = listIn(spec, "tolerations");
  if (tolerations == nullptr) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (!tolerates(*tolerations, key)) tolerations->push_back(toleration(key));
  }
}

std::string_view qosClassOf(const Json& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const Json* containers = at(spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : *containers) {
      for (const std::string_view resource : {"cpu", "memory"}) {
        const Json* request = at(container, {"resources", "requests", resource});
        const Json* limit = at(container, {"resources", "limits", resource});
        any = any || request != nullptr || limit != nullptr;
        guaranteed = guaranteed && limit != nullptr && request != nullptr && *request == *limit;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

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
