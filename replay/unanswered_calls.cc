#include "replay/unanswered_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/well_known.h"

namespace lastout::replay {
namespace {

using admission::UnansweredCall;

// A Pod of the object may be Ready.
bool hasPods(const kube::Object& object) {
  if (object.meta.deletionTimestamp) return false;
  const kube::Value* replicas = object.content.at({"spec", "replicas"});
  return replicas == nullptr || replicas->asInteger() == nullptr || *replicas->asInteger() > 0;
}

class UnansweredFinder {
 public:
  explicit UnansweredFinder(const std::vector<const kube::Object*>& objects) : objects_(objects) {
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
    if (kube::endpointSourceOf(service->content) != kube::EndpointSource::Pods) return std::nullopt;
    const bool isBacked = std::ranges::any_of(objects_, [&](const kube::Object* one) {
      return criticalservice::isBehind(*service, *one) && hasPods(*one);
    });
    return isBacked ? std::nullopt : std::optional<std::string>("no Pod is behind " + name);
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
      const kube::ReviewedOperations reviewed = kube::reviewedOperations(
          webhook, one->key, one->meta.labels, space == nullptr ? nullptr : &space->meta.labels);
      if (reviewed.onDelete) addRefusal(one->key, call, fails);
      if (reviewed.onUpdate && !one->meta.finalizers.empty()) {
        call.refusesDeletion = false;
        call.message = "its finalizers cannot be removed: " + fails;
        found_[one->key].push_back(call);
      }
    }
  }

  void addRefusal(const kube::ObjectKey& key, UnansweredCall call, const std::string& fails) {
    call.refusesDeletion = true;
    call.message = "the API server refuses its deletion: " + fails;
    found_[key].push_back(std::move(call));
  }

  // The clean-up of a CRD cannot delete what it cannot read.
  void addConversion(const kube::Object& crd) {
    const auto address = kube::conversionOf(crd.content);
    const auto why = address ? whyNot(*address) : std::nullopt;
    if (!why) return;
    const std::string name = kube::toString(crd.key);
    const std::string fails = "the conversion webhook of " + name + " does not answer, because " + *why +
                              "; bring it back, or set spec.conversion.strategy to None";
    const UnansweredCall call{
        .reason = "ConversionFails", .message = {}, .field = name + "#spec.conversion", .caller = name};
    for (const kube::Object* one : objects_) {
      if (one->key.type == kube::definedBy(crd.key.name)) addRefusal(one->key, call, fails);
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

  // A Namespace or CRD stays while something in it cannot be deleted.
  void addContainers() {
    std::map<std::pair<kube::ObjectKey, std::string>, std::vector<kube::ObjectKey>> refused;  // by its field
    std::map<std::string, UnansweredCall> calls;                                              // by its field
    for (const kube::Object* one : objects_) {
      const auto found = found_.find(one->key);
      if (found == found_.end() || one->meta.deletionTimestamp) continue;
      for (const UnansweredCall& call : found->second) {
        if (!call.refusesDeletion) continue;
        calls.emplace(call.field, call);
        // A CRD's clean-up asks no webhook, but has to convert.
        const bool isConversion = call.reason == "ConversionFails";
        for (const kube::ObjectKey& container :
             {kube::namespaceKey(one->key.namespaceName), kube::crdKey(one->key.type)}) {
          if (container.type == kube::kCustomResourceDefinitions && !isConversion) continue;
          if (object(container) != nullptr) refused[{container, call.field}].push_back(one->key);
        }
      }
    }
    for (const auto& [container, objects] : refused) {
      UnansweredCall call = calls.at(container.second);
      call.refusesDeletion = false;
      const std::string more =
          objects.size() == 1 ? "" : " and " + std::to_string(objects.size() - 1) + " more in it";
      call.message = "it would keep " + kube::toString(objects.front()) + more + ": " + call.message;
      found_[container.first].push_back(std::move(call));
    }
  }

  const std::vector<const kube::Object*>& objects_;
  std::unordered_map<kube::ObjectKey, const kube::Object*> byKey_;
  admission::UnansweredCalls found_;
};

}  // namespace

admission::UnansweredCalls unansweredCalls(const std::vector<const kube::Object*>& objects) {
  return UnansweredFinder(objects).find();
}

}  // namespace lastout::replay
