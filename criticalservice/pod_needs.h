// What Pods name in their own specification.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {

// Something that a provider needs.
struct Dependency {
  kube::ObjectKey object;
  std::string why;            // "volume certs", "Service of its Pods": what it is to the provider
  bool ownsProvider = false;  // the provider goes because it does, and not before it
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// Returns true if a Pod of the object may be there now: it is not being deleted, and spec.replicas is not 0.
bool mayHavePods(const kube::Object& object);

// From which the object's Pods are made, or were, or the Pod itself: {metadata, spec}; nullptr: it makes
// none.
const kube::Value* podTemplateOf(const kube::Object& object);

// The ServiceAccount of Pods that name none. Kubernetes recreates it at once, so it needs no protection.
inline constexpr std::string_view kDefaultAccount = "default";

// The name of the ServiceAccount that the Pods run as.
std::string serviceAccountOf(const kube::Value& podTemplate);

// So many are looked at in one Pod template.
inline constexpr size_t kMostRead = 2'000;

// The objects that a new Pod of `object` cannot start without, in its namespace: its ServiceAccount,
// ConfigMaps, Secrets and claims; kMostRead at most, one maybe twice. What is marked optional is none of
// them.
std::vector<Dependency> podNeeds(const kube::Object& object, const kube::Value& podTemplate);

// The strings of a map of strings; what is none is left out.
kube::Labels labelsAt(const kube::Value& value, std::initializer_list<std::string_view> path);
// True if a Service with that spec.selector selects Pods with those labels; an empty one selects none.
bool selects(const kube::Labels& selector, const kube::Labels& podLabels);
// True if the Service selects a Pod with that name and these labels.
bool selectsPod(const kube::Object& service, const kube::ObjectKey& pod, const kube::Labels& labels);
// True if the Service selects Pods of the object: a Pod, or what has a Pod template.
bool isBehind(const kube::Object& service, const kube::Object& object);
// True if Pods of the object have a port of that name over TCP, as targetPort of a Service finds it; true of
// what does not say its containers, and of an empty name.
bool hasPortNamed(const kube::Object& object, std::string_view name);
// The strings of a list; what is none is left out.
std::vector<std::string> textsAt(const kube::Value& value, std::initializer_list<std::string_view> path);
// Calls visit(item) for the items of a list, and not at all where there is none.
void forEachItem(const kube::Value* list, const std::function<void(const kube::Value& item)>& visit);

}  // namespace lastout::criticalservice
