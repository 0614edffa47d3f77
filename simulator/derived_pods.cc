#include "simulator/derived_pods.h"

#include <utility>

#include "kube/encoding.h"
#include "simulator/conditions.h"
#include "simulator/defaults.h"
#include "simulator/json_edit.h"

namespace lastout::simulator {
namespace {

// Conditions of a Pod also have lastProbeTime, and empty words are left out.
void setPodCondition(Json& status, const Condition& condition, std::string_view now) {
  Json& entry = setCondition(status["conditions"], condition, now);
  entry["lastProbeTime"] = nullptr;
  dropEmpty(entry, {"reason", "message"});
}

std::string containerNames(const Json& pod) {
  std::string names;
  const Json* containers = at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return names;
  for (const Json& container : *containers)
    names += (names.empty() ? "" : " ") + std::string(stringAt(container, {"name"}));
  return names;
}

// One entry for each container, in `state`.
Json containerStatuses(const Json& pod, const Json& state, bool ready) {
  Json statuses = Json::array();
  const Json* containers = at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return statuses;
  for (const Json& container : *containers)
    statuses.push_back({{"name", stringAt(container, {"name"})},
                        {"state", state},
                        {"lastState", Json::object()},
                        {"ready", ready},
                        {"restartCount", 0},
                        {"image", stringAt(container, {"image"})},
                        {"imageID", ""}});
  return statuses;
}

bool hasEnded(const Json& status) {
  const Json* containers = at(status, {"containerStatuses"});
  return containers != nullptr && containers->is_array() && !containers->empty() &&
         at(containers->front(), {"state", "terminated"}) != nullptr;
}

}  // namespace

std::string podIpOf(std::string_view uid) {
  const uint64_t host =
      2 + kube::stableHash(uid) % (65536 - 3);  // not the network's own address, nor broadcast
  return "10.244." + std::to_string(host / 256) + "." + std::to_string(host % 256);
}

Json readyPod(Json pod, std::string_view now) {
  Json* status = objectIn(pod, "status");
  if (status == nullptr || stringAt(*status, {"phase"}) == "Running") return pod;
  const std::string address = podIpOf(stringAt(pod, {"metadata", "uid"}));
  (*status)["phase"] = "Running";
  const Json before = *status;
  (*status)["conditions"] = Json::array();
  for (const char* type : {"Ready", "ContainersReady", "PodScheduled"}) {
    if (const Json* known = findCondition(before, type)) (*status)["conditions"].push_back(*known);
    setPodCondition(*status, {type, true, "", ""}, now);
  }
  setDefault(*status, "startTime", now);
  (*status)["podIP"] = address;
  (*status)["podIPs"] = Json::array({Json::object({{"ip", address}})});
  const Json running = {{"running", {{"startedAt", now}}}};
  (*status)["containerStatuses"] = containerStatuses(pod, running, true);
  return pod;
}

Json stoppedPod(Json pod, std::string_view now) {
  Json* status = objectIn(pod, "status");
  if (status == nullptr || hasEnded(*status)) return pod;
  const std::string message = "containers with unready status: [" + containerNames(pod) + "]";
  for (const char* type : {"Ready", "ContainersReady"})
    setPodCondition(*status, {type, false, "ContainersNotReady", message}, now);
  const std::string started(stringAt(*status, {"startTime"}));
  const Json ended = {{"exitCode", 0},
                      {"reason", "Completed"},
                      {"startedAt", started.empty() ? Json(nullptr) : Json(started)},
                      {"finishedAt", now}};
  (*status)["containerStatuses"] = containerStatuses(pod, {{"terminated", ended}}, false);
  return pod;
}

}  // namespace lastout::simulator
