// What Pods cannot start without, and what the controllers in them act through.
#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"

namespace lastout::cluster {

namespace {

using criticalservice::Dependency;

// Those of them that are in the model.
std::vector<Slot> slotsOf(const Model& model, const std::vector<Dependency>& needed) {
  std::vector<Slot> slots;
  for (const Dependency& dependency : needed) {
    if (const auto slot = model.find(dependency.object)) slots.push_back(*slot);
  }
  return slots;
}

}  // namespace

criticalservice::DependencyFinder whatIsNeeded(const Builder& builder) {
  criticalservice::DependencyFinder finder;
  for (const kube::Object* source : builder.sources) {
    if (source != nullptr) finder.put(*source);
  }
  return finder;
}

void wireNeeds(Builder& builder) {
  Model& model = builder.model;
  const criticalservice::DependencyFinder finder = whatIsNeeded(builder);
  const auto wire = [&](Slot slot) {
    const kube::Object* source = builder.sources[slot];
    const kube::Value* podTemplate = source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
    const ModelRole role = model.slots[slot].role;
    if (podTemplate == nullptr || (!isWorkload(role) && role != ModelRole::Pod)) return;
    model.slots[slot].rights = slotsOf(model, finder.rightsOf(source->key));
    const std::vector<Slot> startsWith = slotsOf(model, finder.startingNeedsOf(source->key));
    for (const Slot pod : role == ModelRole::Pod ? std::vector<Slot>{slot} : podsOf(model, slot))
      model.slots[pod].startsWith = startsWith;
  };
  // A ReplicaSet that is written down may have another Pod template than its Deployment has by now.
  for (const bool ofDeployments : {true, false}) {
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if ((model.slots[slot].role == ModelRole::Deployment) == ofDeployments) wire(slot);
    }
  }
}

}  // namespace lastout::cluster
