#include "criticalservice/readiness.h"

#include <algorithm>
#include <initializer_list>

#include "kube/builtin_types.h"
#include "kube/messages.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

int64_t countAt(const kube::Value& object, std::initializer_list<std::string_view> path, int64_t otherwise) {
  const kube::Value* value = object.at(path);
  return value == nullptr || value->asInteger() == nullptr ? otherwise : *value->asInteger();
}

std::string textIn(const kube::Value& map, std::string_view key) {
  return kube::printable(kube::textAt(map, {key}));
}

Readiness byPods(const kube::WorkloadType& workload, const kube::Value& object) {
  if (const int64_t ready = countAt(object, {"status", workload.readyCount}, 0); ready > 0)
    return {true, "PodsReady", std::to_string(ready) + (ready == 1 ? " Pod is ready" : " Pods are ready")};
  if (workload.hasReplicas && countAt(object, {"spec", "replicas"}, 1) == 0)
    return {false, "ScaledToZero", "it is scaled to zero"};
  return {false, kNoPodReady, "none of its Pods is ready"};
}

// Jobs of before Kubernetes 1.24 do not say how many of their Pods are ready, only how many there are.
Readiness ofJob(const kube::Value& object) {
  for (const char* end : {"Complete", "Failed"}) {
    const kube::Value* condition = kube::statusCondition(object, end);
    if (condition != nullptr && textIn(*condition, "status") == "True")
      return {false, "Finished", "the Job has ended"};
  }
  const int64_t active = countAt(object, {"status", "active"}, 0);
  const int64_t ready = countAt(object, {"status", "ready"}, active);
  if (ready > 0)
    return {true, "PodsReady", std::to_string(ready) + (ready == 1 ? " Pod is ready" : " Pods are ready")};
  return {false, kNoPodReady, "none of its Pods is ready"};
}

Readiness ofCronJob(const kube::Value& object) {
  const kube::Value* suspended = object.at({"spec", "suspend"});
  if (suspended != nullptr && suspended->asBool() != nullptr && *suspended->asBool())
    return {false, "Suspended", "the CronJob is suspended"};
  return {true, "Present", "it is there; a CronJob has Pods from time to time only"};
}

Readiness byConditions(const kube::Value& object) {
  for (const char* type : {"Ready", "Available"}) {
    const kube::Value* condition = kube::statusCondition(object, type);
    if (condition == nullptr) continue;
    const std::string status = textIn(*condition, "status");
    std::string message =
        "its condition " + std::string(type) + " is " + (status.empty() ? "not set" : status);
    if (const std::string why = textIn(*condition, "message"); !why.empty()) message += ": " + why;
    if (status == "True") return {true, "ConditionTrue", std::move(message)};
    if (status == "False") return {false, "ConditionFalse", std::move(message)};
    return {std::nullopt, "ConditionUnknown", std::move(message)};
  }
  return {true, "Present", "it is there; its type does not say whether it is ready"};
}

}  // namespace

Readiness readinessOf(const kube::GroupResource& type, const kube::Value& object) {
  const kube::WorkloadType* workload = kube::findWorkloadType(type);
  if (workload != nullptr && !workload->readyCount.empty()) return byPods(*workload, object);
  if (type == kube::kJobs) return ofJob(object);
  if (type == kube::kCronJobs) return ofCronJob(object);
  return byConditions(object);
}

}  // namespace lastout::criticalservice
