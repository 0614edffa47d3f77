#include "cluster/unwritten.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "criticalservice/pod_templates.h"
#include "criticalservice/validation.h"
#include "kube/well_known.h"

namespace lastout::cluster {
namespace {

using TypeIn = std::pair<std::string, kube::GroupResource>;  // in the Namespace of that name

class UnwrittenFinder {
 public:
  UnwrittenFinder(const Model& model, const std::vector<const kube::Object*>& sources)
      : model_(model), sources_(sources) {
    for (const SlotInfo& info : model.slots) {
      there_.emplace(info.key.namespaceName, info.key.type);
      const kube::Labels& labels = info.forms.front().labels;
      const auto service = labels.find(std::string(kube::kServiceNameLabel));
      if (info.key.type == kube::kEndpointSlices && service != labels.end())
        sliced_.emplace(info.key.namespaceName, service->second);
    }
  }

  std::vector<UnwrittenObject> find() {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const SlotInfo& info = model_.slots[slot];
      if (info.kind == SlotKind::Namespace) addContent(slot);
      if (info.namespaceSlot != kNone && info.presentAtStart && sources_[slot] != nullptr) addBeside(slot);
    }
    return std::move(found_);
  }

 private:
  void addContent(Slot space) {
    const std::string& name = model_.slots[space].key.name;
    add({kube::kConfigMaps, name, std::string(kube::kRootCaConfigMap)}, {}, space, Certainty::Stays);
    add({kube::kServiceAccounts, name, std::string(criticalservice::kDefaultAccount)}, {}, space,
        Certainty::Stays);
    if (!there_.contains({name, kube::kPods})) return;
    for (const kube::GroupResource& type : {kube::kEvents, kube::kLeases})  // leaders have Leases
      if (!there_.contains({name, type})) add({type, name, "*"}, {}, space, Certainty::Maybe);
  }

  void addBeside(Slot slot) {
    const kube::GroupResource& type = model_.slots[slot].key.type;
    const kube::Object& source = *sources_[slot];
    if (type == kube::kServices && kube::endpointSourceOf(source.content) == kube::EndpointSource::Pods)
      addEndpoints(slot, source);
    if (criticalservice::typeOfEarlierTemplates(type) == kube::kControllerRevisions)
      addRevision(slot, source);
    if (type == kube::kCronJobs) addJobs(slot, source);
    if (const kube::Value* podTemplate = criticalservice::podTemplateOf(source))
      addClaims(slot, *podTemplate);
  }

  // A Service has them if it has a selector, also while it selects no Pod.
  void addEndpoints(Slot service, const kube::Object& source) {
    const SlotInfo& info = model_.slots[service];
    const std::string& space = info.key.namespaceName;
    kube::Labels labels = info.forms.front().labels;
    if (kube::isHeadless(source.content)) labels.insert_or_assign(std::string(kube::kHeadlessLabel), "");
    add({kube::kEndpoints, space, info.key.name}, labels, info.namespaceSlot, Certainty::Stays);
    if (sliced_.contains({space, info.key.name})) return;
    labels.insert_or_assign(std::string(kube::kServiceNameLabel), info.key.name);
    labels.insert_or_assign(std::string(kube::kSliceManagerLabel), std::string(kube::kSliceController));
    add({kube::kEndpointSlices, space, info.key.name + "-*"}, std::move(labels), info.namespaceSlot,
        Certainty::Stays);
  }

  // The Pod template of a StatefulSet or DaemonSet, as it is. Its hash is not known: a selector can only ask
  // whether it has one.
  void addRevision(Slot workload, const kube::Object& source) {
    const SlotInfo& info = model_.slots[workload];
    if (there_.contains({info.key.namespaceName, kube::kControllerRevisions})) return;
    kube::Labels labels =
        criticalservice::labelsAt(source.content, {"spec", "template", "metadata", "labels"});
    const std::string_view hash =
        info.key.type == kube::kDaemonSets ? kube::kDaemonSetRevisionLabel : kube::kStatefulSetRevisionLabel;
    labels.insert_or_assign(std::string(hash), "*");
    add({kube::kControllerRevisions, info.key.namespaceName, info.key.name + "-*"}, std::move(labels),
        info.namespaceSlot, Certainty::Stays);
  }

  void addJobs(Slot cronJob, const kube::Object& source) {
    const SlotInfo& info = model_.slots[cronJob];
    const std::string name = info.key.name + "-*";
    add({kube::kJobs, info.key.namespaceName, name},
        criticalservice::labelsAt(source.content, {"spec", "jobTemplate", "metadata", "labels"}),
        info.namespaceSlot, Certainty::Maybe);
    add({kube::kPods, info.key.namespaceName, name},
        criticalservice::labelsAt(source.content,
                                  {"spec", "jobTemplate", "spec", "template", "metadata", "labels"}),
        info.namespaceSlot, Certainty::Maybe);
  }

  // Adds the claims that are made for each Pod: for its ephemeral volumes, and for devices.
  void addClaims(Slot workload, const kube::Value& podTemplate) {
    const SlotInfo& info = model_.slots[workload];
    const auto addClaim = [&](const kube::GroupResource& type, const kube::Value& named,
                              kube::Labels labels) {
      add({type, info.key.namespaceName, info.key.name + "-*" + kube::textAt(named, {"name"})},
          std::move(labels), info.namespaceSlot, Certainty::Maybe);
    };
    criticalservice::forEachItem(podTemplate.at({"spec", "volumes"}), [&](const kube::Value& volume) {
      if (volume.at({"ephemeral", "volumeClaimTemplate"}) != nullptr)
        addClaim(
            kube::kPersistentVolumeClaims, volume,
            criticalservice::labelsAt(volume, {"ephemeral", "volumeClaimTemplate", "metadata", "labels"}));
    });
    criticalservice::forEachItem(podTemplate.at({"spec", "resourceClaims"}), [&](const kube::Value& claim) {
      if (claim.find("resourceClaimTemplateName") != nullptr) addClaim(kube::kResourceClaims, claim, {});
    });
  }

  enum class Certainty : uint8_t { Stays, Maybe };

  void add(kube::ObjectKey key, kube::Labels labels, Slot space, Certainty certainty) {
    if (model_.find(key)) return;
    const bool stays = certainty == Certainty::Stays && !model_.slots[space].terminatingAtStart;
    found_.push_back({std::move(key), std::move(labels), space, stays});
  }

  const Model& model_;
  const std::vector<const kube::Object*>& sources_;
  std::set<TypeIn> there_;
  std::set<std::pair<std::string, std::string>> sliced_;  // Services by Namespace and name
  std::vector<UnwrittenObject> found_;
};

}  // namespace

std::vector<UnwrittenObject> unwrittenObjects(const Model& model,
                                              const std::vector<const kube::Object*>& sources) {
  return UnwrittenFinder(model, sources).find();
}

bool isReviewedAtEnd(const Model& model, const kube::CalledWebhook& webhook, const UnwrittenObject& object) {
  const kube::Labels& labelsOfNamespace = model.slots[object.space].forms.front().labels;
  return kube::reviewedOperations(webhook, object.key, object.labels, &labelsOfNamespace, {"v1"}).onDelete;
}

kube::ReviewedOperations reviewsOfUnwritten(const Model& model, const kube::CalledWebhook& webhook,
                                            const kube::ObjectKey& key) {
  const auto space = model.find(kube::namespaceKey(key.namespaceName));
  const kube::Labels own{{std::string(kube::kNamespaceNameLabel), key.namespaceName}};
  const kube::Labels& labels = space ? model.slots[*space].forms.front().labels : own;
  return kube::reviewedOperations(webhook, key, {}, &labels, {"v1"});
}

bool selectsPlaceOf(const kube::Object& service, const SlotInfo& pod) {
  return pod.kind == SlotKind::Pod && criticalservice::selectsPod(service, pod.key, pod.forms.front().labels);
}

bool isAskedAboutLeader(const Model& model, const kube::CalledWebhook& webhook) {
  const kube::ObjectKey lease{kube::kLeases, std::string(criticalservice::kExcludedNamespace),
                              "kube-controller-manager"};
  return reviewsOfUnwritten(model, webhook, lease).onUpdate;
}

bool isTrackedByJob(const Model& model, Slot slot, const kube::Object* source) {
  const SlotInfo& info = model.slots[slot];
  if (info.kind != SlotKind::Pod) return false;
  if (source != nullptr && kube::hasFinalizer(source->meta, kube::kJobTrackingFinalizer)) return true;
  if (source != nullptr && !source->meta.uid.empty()) return false;
  return std::ranges::any_of(info.owners, [&](const OwnerLink& link) {
    return link.owner != kNone && model.slots[link.owner].kind == SlotKind::Job;
  });
}

Slot reviewedJobOf(const Model& model, Slot pod) {
  for (const OwnerLink& link : model.slots[pod].owners) {
    if (link.owner != kNone && model.slots[link.owner].kind == SlotKind::Job &&
        std::ranges::any_of(model.slots[link.owner].interceptions, &Interception::onCleanup))
      return link.owner;
  }
  return kNone;
}

}  // namespace lastout::cluster
