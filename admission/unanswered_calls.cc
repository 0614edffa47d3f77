#include "admission/unanswered_calls.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "criticalservice/finalizer_removers.h"
#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/messages.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::admission {
namespace {

class UnansweredFinder {
 public:
  UnansweredFinder(const SpecObjects& objects, const FinalizerRemovals& removals, SpecBlockers& found)
      : objects_(objects), removals_(removals), found_(found) {
    for (const kube::Object* object : objects.all)
      if (object->key.type == kube::kEndpointSlices) slices_.push_back(object);
  }

  void find() {
    for (const kube::Object* object : objects_.all) {
      const std::vector<kube::CalledWebhook> webhooks = kube::webhooksOf(object->key.type, object->content);
      for (size_t i = 0; i < webhooks.size(); ++i) addWebhook(*object, webhooks[i], i);
      if (object->key.type == kube::kCustomResourceDefinitions) addConversion(*object);
      if (object->key.type == kube::kApiServices) addApiService(*object);
    }
  }

 private:
  // Returns why nobody answers; nullopt: somebody does.
  std::optional<std::string> whyNot(const kube::CallAddress& address) const {
    if (address.isUrl() || objects_.isUnknown(address.service)) return std::nullopt;
    const std::string name = "its Service " + address.service.namespaceName + "/" + address.service.name;
    const kube::Object* service = objects_.find(address.service);
    if (service == nullptr)
      return name + (objects_.source.isCluster ? " does not exist" : " is not in the files");
    if (const std::string why = kube::whyUnreachable(service->content, address.port); !why.empty())
      return name + " " + why;
    const kube::EndpointSource endpoints = kube::endpointSourceOf(service->content);
    if (endpoints == kube::EndpointSource::External) return std::nullopt;
    const std::vector<const kube::Object*> slices = slicesOf(address.service);
    if (objects_.source.isCluster || !slices.empty())
      return whyNoEndpoint(slices, *service, address.port, name);
    if (endpoints == kube::EndpointSource::ByHand) return std::nullopt;
    return whyNoPod(*service, address.port, name);
  }

  // The same of the Pods that there are, and of those that workloads make.
  std::optional<std::string> whyNoPod(const kube::Object& service, int64_t port,
                                      const std::string& name) const {
    const std::string portName = kube::targetPortName(service.content, port);
    bool selectsPods = false;
    for (const kube::Object* one : objects_.all) {
      if (!criticalservice::isBehind(service, *one) || !criticalservice::mayHavePods(*one)) continue;
      if (criticalservice::hasPortNamed(*one, portName)) return std::nullopt;
      selectsPods = true;
    }
    return selectsPods ? name + " " + kube::lacksTargetPort(portName) : "no Pod is behind " + name;
  }

  // The same of the Service's EndpointSlices.
  static std::optional<std::string> whyNoEndpoint(const std::vector<const kube::Object*>& slices,
                                                  const kube::Object& service, int64_t port,
                                                  const std::string& name) {
    bool isReady = false;
    for (const kube::Object* slice : slices) {
      if (std::ranges::none_of(kube::listAt(slice->content, {"endpoints"}), kube::mayAnswer)) continue;
      if (kube::hasEndpointPort(slice->content, service.content, port)) return std::nullopt;
      isReady = true;
    }
    if (!isReady) return "no endpoint of " + name + " is Ready";
    const std::string portName = kube::targetPortName(service.content, port);
    return name + " " +
           (portName.empty() ? "has no endpoint for its port " + std::to_string(port)
                             : kube::lacksTargetPort(portName));
  }

  std::vector<const kube::Object*> slicesOf(const kube::ObjectKey& service) const {
    std::vector<const kube::Object*> slices;
    std::ranges::copy_if(slices_, std::back_inserter(slices),
                         [&](const kube::Object* slice) { return kube::isSliceOf(*slice, service); });
    return slices;
  }

  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook, size_t number) {
    if (webhook.failureIsIgnored) return;
    const auto why = whyNot(webhook.address);
    const bool isElsewhere = !objects_.source.isCluster && webhook.isOfLastout() &&
                             objects_.find(webhook.address.service) == nullptr;
    if (!why || isElsewhere) return;
    const std::string name = kube::toString(configuration.key);
    SpecBlocker call{
        .reason = "WebhookFails",
        .message = "the webhook " + webhook.name + " of " + name + " does not answer, because " + *why +
                   "; bring it back, or delete " + name +
                   (webhook.hasMatchConditions ? " (its matchConditions, which are not evaluated, may "
                                                 "leave the request out)"
                                               : ""),
        .field = name + "#webhooks[" + std::to_string(number) + "]",
        .cause = "its webhook " + webhook.name + " does not answer, because " + *why,
        .objects = {configuration.key}};
    for (const kube::Object* one : objects_.all) {
      const bool isNamespace = one->key.type == kube::kNamespaces;
      const kube::Object* space =
          isNamespace ? one : objects_.find(kube::namespaceKey(one->key.namespaceName));
      if (space == nullptr && mayBeLeftOut(webhook, one->key)) continue;
      const kube::Object* crd = objects_.find(kube::crdKey(one->key.type));
      const kube::ReviewedOperations reviewed = kube::reviewedOperations(
          webhook, one->key, one->meta.labels, space == nullptr ? nullptr : &space->meta.labels,
          kube::servedVersions(one->key.type, crd == nullptr ? nullptr : &crd->content));
      add(*one, reviewed.onDelete, refusedWrites(*one, reviewed), call);
    }
  }

  // The webhook selects Namespaces, and the object's could not be read.
  bool mayBeLeftOut(const kube::CalledWebhook& webhook, const kube::ObjectKey& one) const {
    return !one.namespaceName.empty() && objects_.isUnknown(kube::namespaceKey(one.namespaceName)) &&
           webhook.matches.namespaceSelector != kube::LabelSelector();
  }

  // Adds one blocker for everything that the call refuses for this object. The message of `call` says why
  // nobody answers it.
  void add(const kube::Object& one, bool refusesDeletion, std::vector<std::string> refused,
           SpecBlocker call) {
    call.keeps = !refused.empty();
    call.refusesDeletion = refusesDeletion && !one.meta.deletionTimestamp;
    if (call.refusesDeletion) refused.insert(refused.begin(), "the API server refuses its deletion");
    if (refused.empty()) return;
    call.message = kube::listed(refused) + ": " + call.message;
    found_[one.key].push_back(std::move(call));
  }

  // The writes that end the object once it is being deleted, of those about which the webhook is asked.
  std::vector<std::string> refusedWrites(const kube::Object& one, const kube::ReviewedOperations& reviewed) {
    std::vector<std::string> refused;
    if (isRemovalRefused(one, reviewed)) refused.push_back(withoutRemoval(one));
    if (reviewed.onCleanup && one.key.type == kube::kNamespaces)
      refused.emplace_back("the namespace controller cannot take the finalizer kubernetes off it");
    if (reviewed.onCleanup && one.key.type == kube::kCustomResourceDefinitions)
      refused.emplace_back("the finalizer of its clean-up cannot be removed");
    const bool mayHaveNode = one.meta.uid.empty() || !kube::nodeThatEnds(one).empty();
    if (reviewed.onStop && mayHaveNode && (one.meta.deletionTimestamp || !reviewed.onDelete))
      refused.emplace_back("its node cannot end it");
    return refused;
  }

  bool isRemovalRefused(const kube::Object& one, const kube::ReviewedOperations& reviewed) const {
    // Claims and volumes get theirs from Kubernetes.
    if (one.key.type == kube::kPersistentVolumeClaims) return reviewed.onUpdate;
    if (one.key.type == kube::kPersistentVolumes)
      return reviewed.onCleanup || (reviewed.onVolumeRelease && isReleasedBefore(one));
    return std::ranges::any_of(one.meta.finalizers, [&](const std::string& finalizer) {
      const bool isOfStatus =
          kube::isRemovedByStatus(one.key.type, finalizer) || finalizer == manifestwork::kAppliedFinalizer;
      return isOfStatus ? reviewed.onCleanup : finalizer != kube::kCrdCleanupFinalizer && reviewed.onUpdate;
    });
  }

  bool isReleasedBefore(const kube::Object& volume) const {
    const auto claimOfVolume = kube::claimOf(volume.content);
    const bool hasClaim = std::ranges::any_of(objects_.all, [&](const kube::Object* one) {
      return one->key.type == kube::kPersistentVolumeClaims &&
             kube::isBound(one->key, kube::volumeOf(one->content), volume.key, claimOfVolume);
    });
    return kube::mayBeInUse(volume.content) && kube::hasToBeReleased(&volume.content, hasClaim);
  }

  std::string withoutRemoval(const kube::Object& one) {
    return "its finalizers cannot be removed" + removersOf(one);
  }

  // " (example.com/f by deployments.apps/operator/controller)", as far as it is known.
  std::string removersOf(const kube::Object& one) const {
    std::vector<std::string> known;
    for (const std::string& finalizer : one.meta.finalizers) {
      const std::string_view builtIn = criticalservice::builtInRemoverOf(finalizer);
      if (!builtIn.empty()) known.push_back(finalizer + " by " + std::string(builtIn));
      const FinalizerRemoval* removal = findRemoval(removals_, one.key, finalizer);
      if (removal != nullptr && !removal->removers.empty())
        known.push_back(finalizer + " by " + kube::listed(removal->removers));
    }
    return known.empty() ? std::string() : " (" + kube::listed(known) + ")";
  }

  // The clean-up of a CRD cannot delete what it cannot read: it may have to convert the object, or who
  // removes the finalizers of that has.
  void addConversion(const kube::Object& crd) {
    const auto address = kube::calledConversionOf(crd.content);
    const auto why = address ? whyNot(*address) : std::nullopt;
    if (!why) return;
    const std::string name = kube::toString(crd.key);
    SpecBlocker call{.reason = "ConversionFails",
                     .message = "the conversion webhook of " + name + " does not answer, because " + *why +
                                "; bring it back, or set spec.conversion.strategy to None",
                     .field = name + "#spec.conversion",
                     .cause = "its conversion webhook does not answer, because " + *why,
                     .objects = {crd.key}};
    const bool cleanupConverts = kube::cleanupConverts(crd.content);
    const bool refusesDeletion = kube::preferredVersionConverts(crd.content);
    for (const kube::Object* one : objects_.all) {
      if (one->key.type != kube::definedBy(crd.key.name)) continue;
      call.stopsCleanup = cleanupConverts || !one->meta.finalizers.empty();
      const bool isWritten =
          one->meta.deletionTimestamp || (!refusesDeletion && !one->meta.finalizers.empty());
      add(*one, refusesDeletion, isWritten ? std::vector{withoutRemoval(*one)} : std::vector<std::string>(),
          call);
    }
  }

  // What was read from a cluster says itself whether it answered there.
  void addApiService(const kube::Object& apiService) {
    const auto address = kube::aggregatedServerOf(apiService.content);
    const kube::Value* available = kube::statusCondition(apiService.content, "Available");
    const std::string status = available == nullptr ? std::string() : kube::textAt(*available, {"status"});
    if (!address || status == "True") return;
    auto why = whyNot(*address);
    if (!why && status == "False") why = "its condition Available is False";
    if (!why) return;
    const std::string name = kube::toString(apiService.key);
    const SpecBlocker call{.keeps = true,
                           .reason = "DiscoveryFails",
                           .message = "no Namespace ends while " + name + " does not answer, because " +
                                      *why + "; delete " + name + ", or bring it back",
                           .field = name + "#spec.service",
                           .cause = "it does not answer, because " + *why,
                           .objects = {apiService.key}};
    for (const kube::Object* one : objects_.all) {
      if (one->key.type == kube::kNamespaces) found_[one->key].push_back(call);
    }
  }

  const SpecObjects& objects_;
  const FinalizerRemovals& removals_;
  std::vector<const kube::Object*> slices_;  // EndpointSlices
  SpecBlockers& found_;
};

}  // namespace

void addUnansweredCalls(const SpecObjects& objects, const FinalizerRemovals& removals, SpecBlockers& found) {
  UnansweredFinder(objects, removals, found).find();
}

}  // namespace lastout::admission
