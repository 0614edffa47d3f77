#include "replay/unanswered_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/finalizer_removers.h"

namespace lastout::replay {
namespace {

using admission::UnansweredCall;

// A Pod of the object may be Ready.
bool hasPods(const kube::Object& object) {
  if (object.meta.deletionTimestamp) return false;
  const kube::Value* replicas = object.content.at({"spec", "replicas"});
  return replicas == nullptr || replicas->asInteger() == nullptr || *replicas->asInteger() > 0;
}

// Who takes a finalizer off that no workload does; empty: it is not known.
std::string_view builtInRemover(std::string_view finalizer) {
  if (finalizer == kube::kForegroundFinalizer || finalizer == kube::kOrphanFinalizer)
    return "the garbage collector";
  if (finalizer == manifestwork::kWorkFinalizer || finalizer == manifestwork::kAppliedFinalizer)
    return "its agent";
  return finalizer.starts_with(kube::kFinalizerDomain) ? "lastout" : "";
}

class UnansweredFinder {
 public:
  UnansweredFinder(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types)
      : objects_(objects), types_(types) {
    for (const kube::Object* object : objects) byKey_.emplace(object->key, object);
  }

  admission::UnansweredCalls find() {
    for (const kube::Object* object : objects_) {
      const std::vector<kube::CalledWebhook> webhooks = kube::webhooksOf(object->key.type, object->content);
      for (size_t i = 0; i < webhooks.size(); ++i) addWebhook(*object, webhooks[i], i);
      if (object->key.type == kube::kCustomResourceDefinitions) addConversion(*object);
      if (object->key.type == kube::kApiServices) addApiService(*object);
    }
    if (!found_.empty()) addContainers();
    return std::move(found_);
  }

 private:
  const kube::Object* object(const kube::ObjectKey& key) const {
    const auto found = byKey_.find(key);
    return found == byKey_.end() ? nullptr : found->second;
  }

  // Why nobody answers; nullopt: somebody does.
  std::optional<std::string> whyNot(const kube::CallAddress& address) const {
    if (address.isUrl()) return std::nullopt;
    const std::string name = "its Service " + address.service.namespaceName + "/" + address.service.name;
    const kube::Object* service = object(address.service);
    if (service == nullptr) return name + " is not in the files";
    if (const std::string why = kube::whyUnreachable(service->content, address.port); !why.empty())
      return name + " " + why;
    if (kube::endpointSourceOf(service->content) != kube::EndpointSource::Pods) return std::nullopt;
    const std::string portName = kube::targetPortName(service->content, address.port);
    bool selectsPods = false;
    for (const kube::Object* one : objects_) {
      if (!criticalservice::isBehind(*service, *one) || !hasPods(*one)) continue;
      if (criticalservice::hasPortNamed(*one, portName)) return std::nullopt;
      selectsPods = true;
    }
    return selectsPods ? name + " " + kube::lacksTargetPort(portName) : "no Pod is behind " + name;
  }

  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook, size_t number) {
    if (webhook.failureIsIgnored) return;
    const auto why = whyNot(webhook.address);
    if (!why || (webhook.isOfLastout() && object(webhook.address.service) == nullptr)) return;
    const std::string name = kube::toString(configuration.key);
    const std::string fails = "the webhook " + webhook.name + " of " + name + " does not answer, because " +
                              *why + "; bring it back, or delete " + name;
    UnansweredCall call{.reason = "WebhookFails",
                        .message = {},
                        .field = name + "#webhooks[" + std::to_string(number) + "]",
                        .caller = name};
    for (const kube::Object* one : objects_) {
      const bool isNamespace = one->key.type == kube::kNamespaces;
      const kube::Object* space = isNamespace ? one : object(kube::namespaceKey(one->key.namespaceName));
      const kube::Object* crd = object(kube::crdKey(one->key.type));
      const kube::ReviewedOperations reviewed = kube::reviewedOperations(
          webhook, one->key, one->meta.labels, space == nullptr ? nullptr : &space->meta.labels,
          kube::servedVersions(one->key.type, crd == nullptr ? nullptr : &crd->content));
      if (reviewed.onDelete) addRefusal(one->key, call, fails);
      for (const std::string& refused : refusedWrites(*one, reviewed)) {
        call.refusesDeletion = false;
        call.message = refused + ": " + fails;
        found_[one->key].push_back(call);
      }
    }
  }

  // The writes that end the object once it is being deleted, of those about which the webhook is asked.
  std::vector<std::string> refusedWrites(const kube::Object& one, const kube::ReviewedOperations& reviewed) {
    std::vector<std::string> refused;
    const bool isStorage =
        one.key.type == kube::kPersistentVolumeClaims || one.key.type == kube::kPersistentVolumes;
    const bool isCarried = std::ranges::any_of(one.meta.finalizers, [](const std::string& finalizer) {
      return finalizer != kube::kCrdCleanupFinalizer;
    });
    if (reviewed.onUpdate && (isCarried || isStorage)) refused.push_back(withoutRemoval(one));
    if (reviewed.onCleanup && one.key.type == kube::kNamespaces)
      refused.emplace_back("the namespace controller cannot take the finalizer kubernetes off it");
    if (reviewed.onCleanup && one.key.type == kube::kCustomResourceDefinitions)
      refused.emplace_back("the finalizer of its clean-up cannot be removed");
    if (reviewed.onDelete && one.key.type == kube::kPods && one.meta.deletionTimestamp)
      refused.emplace_back("its node cannot end it");
    return refused;
  }

  std::string withoutRemoval(const kube::Object& one) {
    return "its finalizers cannot be removed" + removersOf(one);
  }

  // " (example.com/f by deployments.apps/operator/controller)", as far as it is known.
  std::string removersOf(const kube::Object& one) {
    if (!removers_) removers_ = findFinalizerRemovers(objects_, types_);
    std::vector<std::string> known;
    for (const std::string& finalizer : one.meta.finalizers) {
      const std::string_view builtIn = builtInRemover(finalizer);
      if (!builtIn.empty()) known.push_back(finalizer + " by " + std::string(builtIn));
      for (const FinalizerRemover& remover : *removers_) {
        if (remover.from == one.key.type && remover.finalizer == finalizer)
          known.push_back(finalizer + " by " + kube::toString(remover.workload));
      }
    }
    return known.empty() ? std::string() : " (" + kube::listed(known) + ")";
  }

  void addRefusal(const kube::ObjectKey& key, UnansweredCall call, const std::string& fails) {
    call.refusesDeletion = true;
    call.message = "the API server refuses its deletion: " + fails;
    found_[key].push_back(std::move(call));
  }

  // Of an object that is being deleted, nobody can write the removal of its finalizers.
  void addRefusedWrite(const kube::Object& one, UnansweredCall call, const std::string& fails) {
    call.message = withoutRemoval(one) + ": " + fails;
    found_[one.key].push_back(std::move(call));
  }

  // The clean-up of a CRD cannot delete what it cannot read.
  void addConversion(const kube::Object& crd) {
    const auto address = kube::calledConversionOf(crd.content);
    const auto why = address ? whyNot(*address) : std::nullopt;
    if (!why) return;
    const std::string name = kube::toString(crd.key);
    const std::string fails = "the conversion webhook of " + name + " does not answer, because " + *why +
                              "; bring it back, or set spec.conversion.strategy to None";
    const UnansweredCall call{
        .reason = "ConversionFails", .message = {}, .field = name + "#spec.conversion", .caller = name};
    for (const kube::Object* one : objects_) {
      if (one->key.type != kube::definedBy(crd.key.name)) continue;
      if (one->meta.deletionTimestamp)
        addRefusedWrite(*one, call, fails);
      else
        addRefusal(one->key, call, fails);
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
    const UnansweredCall call{.reason = "DiscoveryFails",
                              .message = "no Namespace ends while " + name + " does not answer, because " +
                                         *why + "; delete " + name + ", or bring it back",
                              .field = name + "#spec.service",
                              .caller = name};
    for (const kube::Object* one : objects_) {
      if (one->key.type == kube::kNamespaces) found_[one->key].push_back(call);
    }
  }

  // A Namespace or CRD stays while something in it does.
  struct Kept {
    UnansweredCall call;
    std::vector<kube::ObjectKey> objects;
  };

  void addContainers() {
    std::map<std::pair<kube::ObjectKey, std::string>, Kept> kept;  // by container and the call's field
    for (const kube::Object* one : objects_) {
      const auto found = found_.find(one->key);
      if (found == found_.end()) continue;
      for (const UnansweredCall& call : found->second) {
        if (call.reason == "DiscoveryFails" || (call.refusesDeletion && one->meta.deletionTimestamp))
          continue;
        const bool keepsCrd = !call.refusesDeletion || (call.reason == "ConversionFails" && isKept(*one));
        keep(kept, kube::namespaceKey(one->key.namespaceName), call, one->key);
        if (keepsCrd) keep(kept, kube::crdKey(one->key.type), call, one->key);
      }
    }
    for (auto& [container, what] : kept) {
      what.call.refusesDeletion = false;
      const size_t count = what.objects.size();
      const std::string more = count == 1 ? "" : " and " + std::to_string(count - 1) + " more in it";
      what.call.message =
          "it would keep " + kube::toString(what.objects.front()) + more + ": " + what.call.message;
      found_[container.first].push_back(std::move(what.call));
    }
  }

  // A CRD's clean-up asks no webhook about a DELETE. It may have to convert the object; or who removes its
  // finalizers has.
  bool isKept(const kube::Object& one) const {
    const kube::Object* crd = object(kube::crdKey(one.key.type));
    return !one.meta.finalizers.empty() || (crd != nullptr && kube::cleanupConverts(crd->content));
  }

  void keep(std::map<std::pair<kube::ObjectKey, std::string>, Kept>& kept, const kube::ObjectKey& container,
            const UnansweredCall& call, const kube::ObjectKey& one) const {
    if (object(container) == nullptr) return;
    Kept& here = kept[{container, call.field}];
    if (here.objects.empty()) here.call = call;
    if (here.objects.empty() || here.objects.back() != one) here.objects.push_back(one);
  }

  const std::vector<const kube::Object*>& objects_;
  const kube::ResourceMap& types_;
  std::unordered_map<kube::ObjectKey, const kube::Object*> byKey_;
  std::optional<std::vector<FinalizerRemover>> removers_;  // looked for where they are first asked for
  admission::UnansweredCalls found_;
};

}  // namespace

admission::UnansweredCalls unansweredCalls(const std::vector<const kube::Object*>& objects,
                                           const kube::ResourceMap& types) {
  return UnansweredFinder(objects, types).find();
}

}  // namespace lastout::replay
