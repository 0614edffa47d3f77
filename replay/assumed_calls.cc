// Assumptions about what API servers call: webhooks, conversion webhooks, APIServices and admission policies.
#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "criticalservice/dependencies.h"
#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/selector.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

constexpr size_t kMostUnwritten = 3;  // by name, in one sentence

bool isCondition(const kube::Value& content, std::string_view type, std::string_view status) {
  const kube::Value* condition = kube::statusCondition(content, type);
  return condition != nullptr && kube::textAt(*condition, {"status"}) == status;
}

// {resourceRules, excludeResourceRules, namespaceSelector, objectSelector}; `everything`: no rules are all.
kube::CalledWebhook matchedBy(const kube::Value* resources, bool everything) {
  kube::CalledWebhook matched;
  kube::Errors ignored;  // what cannot be understood is left out
  const auto readRules = [&](std::string_view field, std::vector<kube::RuleWithOperations>& rules) {
    if (resources == nullptr || resources->asMap() == nullptr) return;
    kube::Fields fields(*resources, "", "", ignored);
    for (kube::Fields& rule : fields.items(field)) {
      rules.push_back(kube::readRule(rule));
      rules.back().names = rule.strings("resourceNames");
    }
  };
  readRules("resourceRules", matched.matches.rules);
  readRules("excludeResourceRules", matched.matches.excluded);
  if (resources != nullptr) {
    matched.matches.namespaceSelector = kube::selectorIn(*resources, "namespaceSelector");
    matched.matches.objectSelector = kube::selectorIn(*resources, "objectSelector");
  }
  if (everything && matched.matches.rules.empty()) {
    kube::RuleWithOperations& all = matched.matches.rules.emplace_back();
    all.operations = all.groups = all.versions = all.resources = {"*"};
  }
  return matched;
}

// A MutatingAdmissionPolicy cannot match DELETE; its `*` means all other operations.
void leaveOutDeletes(kube::CalledWebhook& policy) {
  for (kube::RuleWithOperations& rule : policy.matches.rules) {
    if (std::ranges::find(rule.operations, "*") != rule.operations.end())
      rule.operations = {"CREATE", "UPDATE", "CONNECT"};
    std::erase(rule.operations, "DELETE");
  }
}

class CalledByApiServers {
 public:
  explicit CalledByApiServers(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    findReleased();
    findUnwritten();
    for (const auto& [key, object] : notes_.manifests) {
      for (const kube::CalledWebhook& webhook : kube::webhooksOf(key.type, object->content))
        addWebhook(*object, webhook);
      if (key.type == kube::kCustomResourceDefinitions) addConversion(*object);
      if (key.type == kube::kApiServices) addApiService(*object);
      if (key.type == kube::kValidatingAdmissionPolicyBindings)
        addPolicy(*object, kube::kValidatingAdmissionPolicies, "ValidatingAdmissionPolicy");
      if (key.type == kube::kMutatingAdmissionPolicyBindings)
        addPolicy(*object, kube::kMutatingAdmissionPolicies, "MutatingAdmissionPolicy");
    }
  }

 private:
  // Returns true if something updates the object before it goes: a controller that removes a finalizer, or
  // the garbage collector, which removes its own finalizers and single ownerReferences.
  bool isUpdatedToGo(const SlotInfo& info, Slot slot) const {
    return !info.removals.empty() || info.heldBit != 0 || info.policyBits != 0 || info.keptBit != 0 ||
           info.owners.size() > 1 || released_.contains(slot);
  }

  // Finds the objects that may get a finalizer of the garbage collector, and the dependents that it orphans.
  void findReleased() {
    std::vector<Slot> foreground;
    const auto orphan = [this](Slot slot) {
      released_.insert(slot);
      for (const Slot dependent : model_.slots[slot].dependents) released_.insert(dependent);
    };
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const uint16_t bits = model_.slots[slot].finalizersAtCreation;
      if ((bits & cluster::kOrphanBit) != 0) orphan(slot);
      const bool isJob = model_.slots[slot].kind == cluster::SlotKind::Job;
      if ((bits & cluster::kForegroundBit) != 0 || (isJob && model_.slots[slot].timeToLive))
        foreground.push_back(slot);
    }
    for (const cluster::ClientStep& step : model_.steps) {
      if (model_.orphans(step)) orphan(step.object);
      if (step.verb == cluster::ClientStep::Verb::Delete && step.hasPolicy &&
          step.policy == cluster::PropagationPolicy::Foreground)
        foreground.push_back(step.object);
    }
    // A foreground deletion goes on in the foreground with the dependents that have dependents themselves.
    std::set<Slot> seen;
    for (size_t i = 0; i < foreground.size(); ++i) {
      const Slot slot = foreground[i];
      if (!seen.insert(slot).second) continue;
      for (const Slot owned : model_.slots[slot].dependents)
        if (!model_.slots[owned].dependents.empty()) foreground.push_back(owned);
    }
    released_.insert(seen.begin(), seen.end());
  }

  kube::ReviewedOperations reviewedOf(const kube::CalledWebhook& webhook, const SlotInfo& info,
                                      Slot slot) const {
    const Slot space = info.key.type == kube::kNamespaces ? slot : info.namespaceSlot;
    return kube::reviewedOperations(webhook, info.key, info.forms.front().labels,
                                    space == kNone ? nullptr : &model_.slots[space].forms.front().labels,
                                    kube::servedVersions(info.key.type, crdOf(info)));
  }

  // Returns the manifest of the CRD that defines the object's type; nullptr: there is none.
  const kube::Value* crdOf(const SlotInfo& info) const {
    const kube::Object* crd = notes_.object(kube::crdKey(info.key.type));
    return crd == nullptr ? nullptr : &crd->content;
  }

  // Returns true if the API server asks it about a request by which the object ends.
  bool isAskedAbout(const kube::CalledWebhook& webhook, const SlotInfo& info, Slot slot) const {
    const kube::ReviewedOperations reviewed = reviewedOf(webhook, info, slot);
    return reviewed.onDelete || (reviewed.onUpdate && isUpdatedToGo(info, slot)) ||
           (reviewed.onCleanup && info.cleanupBit != 0);
  }
  bool isAskedAboutGoal(const kube::CalledWebhook& webhook) const {
    const auto isAsked = [&](Slot slot) { return isAskedAbout(webhook, model_.slots[slot], slot); };
    const auto isWritten = [&](Slot slot) { return reviewedOf(webhook, model_.slots[slot], slot).onUpdate; };
    return std::ranges::any_of(notes_.compiled.goal, isAsked) || std::ranges::any_of(released_, isWritten);
  }

  // Returns how the address is reached, if the machine cannot tell whether anybody answers there: "it is
  // reached by URL"; empty: it can tell.
  std::string reachedBy(const kube::CallAddress& address) const {
    if (address.isUrl()) return "it is reached by URL";
    const std::string service = address.service.namespaceName + "/" + address.service.name;
    const kube::Object* source = notes_.object(address.service);
    if (source == nullptr || !kube::whyUnreachable(source->content, address.port).empty()) return {};
    switch (kube::endpointSourceOf(source->content)) {
      case kube::EndpointSource::ByHand:
        return "its Service " + service + " has no selector, so somebody writes its endpoints";
      case kube::EndpointSource::External:
        return "its Service " + service + " leads out of the cluster";
      case kube::EndpointSource::Pods:
        break;
    }
    for (const auto& [key, one] : notes_.manifests) {
      if (isUnfollowed(key) && isBehind(*source, address.port, *one))
        return "the Pods of " + notes_.nameOf(key) + ", behind its Service " + service + ", are not followed";
    }
    return {};
  }

  // Returns true if calls to that port of the Service reach Pods of the object.
  static bool isBehind(const kube::Object& service, int64_t port, const kube::Object& object) {
    return criticalservice::isBehind(service, object) &&
           criticalservice::hasPortNamed(object, kube::targetPortName(service.content, port));
  }

  // Returns true if the machine does not run the Pods of the object's type; Transition::fails() goes by the
  // same.
  bool isUnfollowed(const kube::ObjectKey& key) const {
    const auto slot = model_.find(key);
    return slot && model_.slots[*slot].kind == cluster::SlotKind::Plain;
  }

  bool hasPodsBehind(const kube::CallAddress& address) const {
    const kube::Object* source = notes_.object(address.service);
    return source != nullptr && kube::whyUnreachable(source->content, address.port).empty() &&
           std::ranges::any_of(notes_.manifests,
                               [&](const auto& one) { return isBehind(*source, address.port, *one.second); });
  }

  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook) {
    if (webhook.isOfLastout()) return;
    const std::string name = "the webhook " + configuration.key.name + "/" + webhook.name;
    if (!webhook.failureIsIgnored) addJobTracking(configuration, webhook, name);
    if (!webhook.failureIsIgnored && !webhook.address.isUrl()) addLeases(configuration, webhook, name);
    const std::vector<std::string> unwritten = unwrittenFor({&webhook});
    if (!isAskedAboutGoal(webhook) && unwritten.empty()) return;
    const std::string reached = reachedBy(webhook.address);
    if (!reached.empty()) {
      notes_.add(
          configuration.key,
          name + (webhook.failureIsIgnored ? " allows, if it answers: " : " answers and allows: ") + reached);
    } else if (hasPodsBehind(webhook.address)) {
      notes_.add(configuration.key,
                 name + " allows what it is asked about: its Pods are followed, not its answers");
    }
    if (reached.empty() && !webhook.failureIsIgnored)
      addWhatItIsAskedAbout(configuration, webhook, name, unwritten);
  }

  // Adds what the machine does not follow of a webhook whose failures count, and of whose Pods it knows.
  void addWhatItIsAskedAbout(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                             const std::string& name, const std::vector<std::string>& unwritten) {
    if (!unwritten.empty())
      notes_.add(configuration.key, name + " answers when " + kube::listed(unwritten, kMostUnwritten) +
                                        (unwritten.size() == 1 ? " is" : " are") +
                                        " deleted: Kubernetes makes that by itself, and no file has it");
    if (webhook.hasMatchConditions)
      notes_.add(configuration.key,
                 name + " is asked about all that its rules match: its matchConditions are not evaluated");
    if (webhook.matchesExactly && namesVersions(webhook))
      notes_.add(configuration.key,
                 name +
                     " is asked about requests of each version: its matchPolicy is Exact, and "
                     "the versions of requests are not followed");
  }

  // Returns the names of what all of these are asked about when it is deleted, of findUnwritten().
  std::vector<std::string> unwrittenFor(std::initializer_list<const kube::CalledWebhook*> asked) const {
    std::vector<std::string> names;
    for (const auto& made : unwritten_) {
      const kube::Labels& labels = model_.slots[made.second].forms.front().labels;
      const auto isAsked = [&](const kube::CalledWebhook* one) {
        return kube::reviewedOperations(*one, made.first, {}, &labels, {"v1"}).onDelete;
      };
      if (std::ranges::all_of(asked, isAsked)) names.push_back(kube::toString(made.first));
    }
    return names;
  }

  // Finds what Kubernetes makes in the Namespaces that are to end, and no file has: a ConfigMap and a
  // ServiceAccount in each, EndpointSlices beside Services, and Events beside Pods.
  void findUnwritten() {
    std::set<std::pair<std::string, kube::GroupResource>>
        there;  // types by the Namespace that has some of them
    for (const SlotInfo& info : model_.slots) there.emplace(info.key.namespaceName, info.key.type);
    for (const Slot slot : notes_.compiled.goal) {
      if (model_.slots[slot].kind != cluster::SlotKind::Namespace) continue;
      const std::string& space = model_.slots[slot].key.name;
      const auto add = [&](const kube::GroupResource& type, const char* name) {
        const kube::ObjectKey key{type, space, name};
        if (notes_.object(key) == nullptr) unwritten_.emplace_back(key, slot);
      };
      const auto has = [&](const kube::GroupResource& type) { return there.contains({space, type}); };
      add(kube::kConfigMaps, "kube-root-ca.crt");
      add(kube::kServiceAccounts, "default");
      if (has(kube::kServices) && !has(kube::kEndpointSlices)) add(kube::kEndpointSlices, "*");
      if (has(kube::kPods) && !has(kube::kEvents)) add(kube::kEvents, "*");
    }
  }

  // Adds the webhook if it may keep kube-controller-manager, which deletes the content of Namespaces and
  // collects garbage, from renewing its Lease.
  void addLeases(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                 const std::string& name) {
    const kube::ObjectKey lease{kube::kLeases, "kube-system", "kube-controller-manager"};
    const kube::Labels labels{{std::string(kube::kNamespaceNameLabel), lease.namespaceName}};
    if (kube::reviewedOperations(webhook, lease, {}, &labels, {"v1"}).onUpdate)
      notes_.add(configuration.key, name + " answers as long as anything is deleted: it is asked about " +
                                        kube::toString(lease) +
                                        ", without which kube-controller-manager ends");
  }

  // Adds the webhook if it may keep the Job controller from removing its finalizer, which the machine leaves
  // out.
  void addJobTracking(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                      const std::string& name) {
    std::vector<Slot> pods;
    for (const Slot slot : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      if (isTracked(info) && reviewedOf(webhook, info, slot).onUpdate) pods.push_back(slot);
    }
    if (!pods.empty())
      notes_.add(configuration.key, name + " lets the Job controller take finalizer " +
                                        std::string(kube::kJobTrackingFinalizer) + " off " +
                                        notes_.names.list(pods) + ": that request is not followed");
  }

  // Returns true for a Pod of a Job, or of a Job that is gone.
  bool isTracked(const SlotInfo& info) const {
    if (info.kind != cluster::SlotKind::Pod) return false;
    const auto isJob = [this](const cluster::OwnerLink& link) {
      return link.owner != kNone && model_.slots[link.owner].kind == cluster::SlotKind::Job;
    };
    const kube::Object* pod = notes_.object(info.key);
    return std::ranges::any_of(info.owners, isJob) ||
           (pod != nullptr && kube::hasFinalizer(pod->meta, kube::kJobTrackingFinalizer));
  }

  static bool namesVersions(const kube::CalledWebhook& webhook) {
    return std::ranges::any_of(webhook.matches.rules, [](const kube::RuleWithOperations& rule) {
      return std::ranges::find(rule.versions, "*") == rule.versions.end();
    });
  }

  void addConversion(const kube::Object& crd) {
    const auto address = kube::calledConversionOf(crd.content);
    const auto slot = model_.find(crd.key);
    const bool concerns = slot && std::ranges::any_of(notes_.compiled.goal, [&](Slot goal) {
                            return model_.slots[goal].crd == *slot;
                          });
    const std::string reached = address && concerns ? reachedBy(*address) : std::string();
    if (!reached.empty())
      notes_.add(crd.key, "the conversion webhook of " + notes_.nameOf(crd.key) + " answers: " + reached);
    if (address && slot && kube::collectorWaitsForAllTypes(model_.kubernetes) && typesGo() &&
        collectorIsNeeded())
      notes_.add(crd.key, "the garbage collector goes on while " + notes_.nameOf(crd.key) +
                              " cannot be listed: in 1.26 it stops then, once a type has come or gone");
  }

  // Returns true if discovery changes: a type goes, or an APIService.
  bool typesGo() const {
    return std::ranges::any_of(notes_.compiled.goal, [this](Slot slot) {
      const kube::GroupResource& type = model_.slots[slot].key.type;
      return type == kube::kCustomResourceDefinitions || type == kube::kApiServices;
    });
  }

  // Returns true if the garbage collector has something of the goal to delete, or to orphan.
  bool collectorIsNeeded() const {
    return std::ranges::any_of(notes_.compiled.goal, [this](Slot slot) {
      return !model_.slots[slot].owners.empty() || released_.contains(slot);
    });
  }

  void addApiService(const kube::Object& apiService) {
    const auto address = kube::aggregatedServerOf(apiService.content);
    const bool endsNamespaces = std::ranges::any_of(notes_.compiled.goal, [&](Slot slot) {
      return model_.slots[slot].kind == cluster::SlotKind::Namespace;
    });
    const std::string reached = address && endsNamespaces ? reachedBy(*address) : std::string();
    if (!reached.empty()) notes_.add(apiService.key, notes_.nameOf(apiService.key) + " answers: " + reached);
    if (reached.empty() && address && endsNamespaces && hasPodsBehind(*address) &&
        isCondition(apiService.content, "Available", "False"))
      notes_.add(apiService.key,
                 notes_.nameOf(apiService.key) + " answers: its condition Available is False");
  }

  // Adds the policy of a binding, by which alone it does something. A mutating policy refuses a request if
  // its expressions fail.
  void addPolicy(const kube::Object& binding, const kube::GroupResource& type, const std::string& kind) {
    const kube::Value::List& actions = kube::listAt(binding.content, {"spec", "validationActions"});
    const bool denies = actions.empty() || std::ranges::any_of(actions, [](const kube::Value& action) {
                          return action.asString() != nullptr && *action.asString() == "Deny";
                        });
    const kube::Object* policy =
        notes_.object({type, "", kube::textAt(binding.content, {"spec", "policyName"})});
    if (policy == nullptr || !denies) return;
    kube::CalledWebhook matched = matchedBy(policy->content.at({"spec", "matchConstraints"}), false);
    if (type == kube::kMutatingAdmissionPolicies) leaveOutDeletes(matched);
    const kube::CalledWebhook bound = matchedBy(binding.content.at({"spec", "matchResources"}), true);
    const bool concerns = std::ranges::any_of(notes_.compiled.goal, [&](Slot slot) {
      const SlotInfo& info = model_.slots[slot];
      return isAskedAbout(matched, info, slot) && isAskedAbout(bound, info, slot);
    });
    if (concerns || !unwrittenFor({&matched, &bound}).empty())
      notes_.add(policy->key, "the " + kind + " " + policy->key.name +
                                  " allows what it matches: its expressions are not evaluated");
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  std::set<Slot> released_;                                  // of findReleased()
  std::vector<std::pair<kube::ObjectKey, Slot>> unwritten_;  // of findUnwritten(), each with its Namespace
};

}  // namespace

void assumeOfCalls(AssumptionNotes& notes) { CalledByApiServers(notes).find(); }

}  // namespace lastout::replay
