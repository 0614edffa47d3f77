// Which Pods answer at the addresses that API servers call, as far as the machine follows them.
#include <algorithm>
#include <string>

#include "cluster/unwritten.h"
#include "criticalservice/pod_needs.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

// Returns true if calls to that port of the Service reach Pods of the object.
bool isBehind(const kube::Object& service, int64_t port, const kube::Object& object) {
  return criticalservice::isBehind(service, object) &&
         criticalservice::hasPortNamed(object, kube::targetPortName(service.content, port));
}

// Returns true if the machine does not run the Pods of the object's type; Transition::fails() goes by the
// same.
bool isUnfollowed(const cluster::Model& model, const kube::ObjectKey& key) {
  const auto slot = model.find(key);
  return slot && model.slots[*slot].kind == cluster::SlotKind::Plain;
}

// Returns true if the Service selects a Pod that no file has.
bool selectsMadePods(const AssumptionNotes& notes, const kube::Object& service) {
  return std::ranges::any_of(notes.model.slots, [&](const cluster::SlotInfo& info) {
    return notes.object(info.key) == nullptr && cluster::selectsPlaceOf(service, info);
  });
}

bool selectsPods(const AssumptionNotes& notes, const kube::Object& service) {
  return selectsMadePods(notes, service) || std::ranges::any_of(notes.manifests, [&](const auto& one) {
           return criticalservice::isBehind(service, *one.second);
         });
}

}  // namespace

std::string AssumptionNotes::reachedBy(const kube::CallAddress& address) const {
  if (address.isUrl()) return "it is reached by URL";
  const std::string service = address.service.namespaceName + "/" + address.service.name;
  const kube::Object* source = object(address.service);
  if (source == nullptr || !kube::whyUnreachable(source->content, address.port).empty()) return {};
  switch (kube::endpointSourceOf(source->content)) {
    case kube::EndpointSource::ByHand:
      return "its Service " + service + " has no selector, so somebody writes its endpoints";
    case kube::EndpointSource::External:
      return "its Service " + service + " leads out of the cluster";
    case kube::EndpointSource::Pods:
      break;
  }
  for (const auto& [key, one] : manifests) {
    if (isUnfollowed(model, key) && isBehind(*source, address.port, *one))
      return "the Pods of " + nameOf(key) + ", behind its Service " + service + ", are not followed";
  }
  if (selectsPods(*this, *source)) return {};
  for (const auto& [key, one] : manifests) {
    if (kube::hasAnsweringEndpoint(*one, *source, address.port))
      return "the Pods that " + nameOf(key) + " lists for its Service " + service + " are not in the files";
  }
  return {};
}

bool AssumptionNotes::hasPodsBehind(const kube::CallAddress& address) const {
  const kube::Object* source = object(address.service);
  if (source == nullptr || !kube::whyUnreachable(source->content, address.port).empty()) return false;
  const auto isGiven = [&](const auto& one) { return isBehind(*source, address.port, *one.second); };
  return std::ranges::any_of(manifests, isGiven) || selectsMadePods(*this, *source);
}

bool AssumptionNotes::mayNotAnswer(const kube::CallAddress& address) const {
  if (address.isUrl()) return false;
  const kube::Object* service = object(address.service);
  return service == nullptr || isGoal(address.service) ||
         std::ranges::any_of(manifests, [&](const auto& one) {
           return isGoal(one.first) && isBehind(*service, address.port, *one.second);
         });
}

}  // namespace lastout::replay
