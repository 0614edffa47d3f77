#include "replay/assumptions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "criticalservice/default_roles.h"
#include "criticalservice/dependencies.h"
#include "kube/api_calls.h"
#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/selector.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/controller_needs.h"
#include "replay/names.h"
#include "replay/needed_workloads.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

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

class AssumptionFinder {
 public:
  AssumptionFinder(const Scenario& scenario, const Compiled& compiled)
      : scenario_(scenario), compiled_(compiled), model_(compiled.model), names_(compiled.model) {
    for (const kube::Object& object : scenario.objects) objects_.emplace(object.key, &object);
    for (const cluster::WorkSpec& work : scenario.works) {
      for (const kube::Object& object : work.manifests) objects_.emplace(object.key, &object);
    }
    for (const kube::Object& object : scenario.later) objects_.emplace(object.key, &object);
  }

  std::vector<Assumption> find() {
    findReleased();
    for (const auto& [key, object] : objects_) {
      const std::vector<kube::CalledWebhook> webhooks = kube::webhooksOf(key.type, object->content);
      for (const kube::CalledWebhook& webhook : webhooks) addWebhook(*object, webhook);
      if (key.type == kube::kCustomResourceDefinitions) addConversion(*object);
      if (key.type == kube::kApiServices) addApiService(*object);
      if (key.type == kube::kValidatingAdmissionPolicyBindings)
        addPolicy(*object, kube::kValidatingAdmissionPolicies, "ValidatingAdmissionPolicy");
      if (key.type == kube::kMutatingAdmissionPolicyBindings)
        addPolicy(*object, kube::kMutatingAdmissionPolicies, "MutatingAdmissionPolicy");
    }
    for (const Slot slot : compiled_.goal) {
      addOutside(slot);
      addUnknownOwners(slot);
    }
    addControllers();
    addAgent();
    std::ranges::move(assumedOfNeededWorkloads(compiled_, objects_), std::back_inserter(found_));
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) addFinished(slot);
    addReplicaSets();
    std::ranges::sort(found_);
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  const kube::Object* object(const kube::ObjectKey& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }

  std::string nameOf(const kube::ObjectKey& key) const {
    const auto slot = model_.find(key);
    return slot ? names_.of(*slot) : kube::toString(key);
  }

  void add(const kube::ObjectKey& key, const std::string& text) { add(key, text, text); }
  void add(const kube::ObjectKey& key, std::string text, std::string claim) {
    found_.push_back({nameOf(key), std::move(text), std::move(claim)});
  }

  // Who removes the object's finalizers does so by an UPDATE; so does the garbage collector with its own, and
  // where it strikes an owner from the object's list.
  bool isUpdatedToGo(const SlotInfo& info, Slot slot) const {
    return !info.removals.empty() || info.heldBit != 0 || info.policyBits != 0 || info.keptBit != 0 ||
           info.owners.size() > 1 || released_.contains(slot);
  }

  // The objects that may get a finalizer of the garbage collector's, and those that it lets go with an owner.
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
    // What is deleted in the foreground deletes in the same way what it owns that owns something.
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

  // The manifest of the CRD that defines its type; nullptr: there is none.
  const kube::Value* crdOf(const SlotInfo& info) const {
    const kube::Object* crd = object(kube::crdKey(info.key.type));
    return crd == nullptr ? nullptr : &crd->content;
  }

  // It is asked about a request that ends an object of the goal.
  bool isAskedAbout(const kube::CalledWebhook& webhook, const SlotInfo& info, Slot slot) const {
    const kube::ReviewedOperations reviewed = reviewedOf(webhook, info, slot);
    return reviewed.onDelete || (reviewed.onUpdate && isUpdatedToGo(info, slot)) ||
           (reviewed.onCleanup && info.cleanupBit != 0);
  }
  bool isAskedAboutGoal(const kube::CalledWebhook& webhook) const {
    const auto isAsked = [&](Slot slot) { return isAskedAbout(webhook, model_.slots[slot], slot); };
    const auto isWritten = [&](Slot slot) { return reviewedOf(webhook, model_.slots[slot], slot).onUpdate; };
    return std::ranges::any_of(compiled_.goal, isAsked) || std::ranges::any_of(released_, isWritten);
  }

  // How somebody is reached of whom the machine cannot say whether he answers; empty: otherwise, or nobody is
  // there.
  std::string reachedBy(const kube::CallAddress& address) const {
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
    for (const auto& [key, one] : objects_) {
      if (isUnfollowed(key) && isBehind(*source, address.port, *one))
        return "the Pods of " + nameOf(key) + ", behind its Service " + service + ", are not followed";
    }
    return {};
  }

  // Calls of that port of the Service get to Pods of the object.
  static bool isBehind(const kube::Object& service, int64_t port, const kube::Object& object) {
    return criticalservice::isBehind(service, object) &&
           criticalservice::hasPortNamed(object, kube::targetPortName(service.content, port));
  }

  // Of a type that the machine does not run, as Transition::fails() has it.
  bool isUnfollowed(const kube::ObjectKey& key) const {
    const auto slot = model_.find(key);
    return slot && model_.slots[*slot].kind == cluster::SlotKind::Plain;
  }

  bool hasPodsBehind(const kube::CallAddress& address) const {
    const kube::Object* source = object(address.service);
    return source != nullptr && kube::whyUnreachable(source->content, address.port).empty() &&
           std::ranges::any_of(objects_,
                               [&](const auto& one) { return isBehind(*source, address.port, *one.second); });
  }

  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook) {
    if (webhook.isOfLastout()) return;
    const std::string name = "the webhook " + configuration.key.name + "/" + webhook.name;
    if (!webhook.failureIsIgnored) addJobTracking(configuration, webhook, name);
    if (!isAskedAboutGoal(webhook)) return;
    const std::string reached = reachedBy(webhook.address);
    if (!reached.empty()) {
      add(configuration.key,
          name + (webhook.failureIsIgnored ? " allows, if it answers: " : " answers and allows: ") + reached);
    } else if (hasPodsBehind(webhook.address)) {
      add(configuration.key, name + " allows what it is asked about: its Pods are followed, not its answers");
    }
    if (reached.empty() && !webhook.failureIsIgnored && webhook.hasMatchConditions)
      add(configuration.key,
          name + " is asked about all that its rules match: its matchConditions are not evaluated");
    if (reached.empty() && !webhook.failureIsIgnored && webhook.matchesExactly && namesVersions(webhook))
      add(configuration.key, name +
                                 " is asked about requests of each version: its matchPolicy is Exact, and "
                                 "the versions of requests are not followed");
  }

  // The Job controller's finalizer keeps nothing in the machine.
  void addJobTracking(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                      const std::string& name) {
    std::vector<Slot> pods;
    for (const Slot slot : compiled_.goal) {
      const SlotInfo& info = model_.slots[slot];
      if (isTracked(info) && reviewedOf(webhook, info, slot).onUpdate) pods.push_back(slot);
    }
    if (!pods.empty())
      add(configuration.key, name + " lets the Job controller take finalizer " +
                                 std::string(kube::kJobTrackingFinalizer) + " off " + names_.list(pods) +
                                 ": that request is not followed");
  }

  // A Pod of a Job, or of one that is gone.
  bool isTracked(const SlotInfo& info) const {
    if (info.kind != cluster::SlotKind::Pod) return false;
    const auto isJob = [this](const cluster::OwnerLink& link) {
      return link.owner != kNone && model_.slots[link.owner].kind == cluster::SlotKind::Job;
    };
    const kube::Object* pod = object(info.key);
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
    const bool concerns = slot && std::ranges::any_of(compiled_.goal, [&](Slot goal) {
                            return model_.slots[goal].crd == *slot;
                          });
    const std::string reached = address && concerns ? reachedBy(*address) : std::string();
    if (!reached.empty())
      add(crd.key, "the conversion webhook of " + nameOf(crd.key) + " answers: " + reached);
    if (address && slot && kube::collectorWaitsForAllTypes(model_.kubernetes) && typesGo() &&
        collectorIsNeeded())
      add(crd.key, "the garbage collector goes on while " + nameOf(crd.key) +
                       " cannot be listed: in 1.26 it stops then, once a type has come or gone");
  }

  // Discovery changes with each of them.
  bool typesGo() const {
    return std::ranges::any_of(compiled_.goal, [this](Slot slot) {
      const kube::GroupResource& type = model_.slots[slot].key.type;
      return type == kube::kCustomResourceDefinitions || type == kube::kApiServices;
    });
  }

  // It has something of the goal to delete, or to let go.
  bool collectorIsNeeded() const {
    return std::ranges::any_of(compiled_.goal, [this](Slot slot) {
      return !model_.slots[slot].owners.empty() || released_.contains(slot);
    });
  }

  void addApiService(const kube::Object& apiService) {
    const auto address = kube::aggregatedServerOf(apiService.content);
    const bool endsNamespaces = std::ranges::any_of(
        compiled_.goal, [&](Slot slot) { return model_.slots[slot].kind == cluster::SlotKind::Namespace; });
    const std::string reached = address && endsNamespaces ? reachedBy(*address) : std::string();
    if (!reached.empty()) add(apiService.key, nameOf(apiService.key) + " answers: " + reached);
    if (reached.empty() && address && endsNamespaces && hasPodsBehind(*address) &&
        isCondition(apiService.content, "Available", "False"))
      add(apiService.key, nameOf(apiService.key) + " answers: its condition Available is False");
  }

  // An admission policy does something by its bindings alone; one that mutates refuses what its expressions
  // fail for.
  void addPolicy(const kube::Object& binding, const kube::GroupResource& type, const std::string& kind) {
    const kube::Value::List& actions = kube::listAt(binding.content, {"spec", "validationActions"});
    const bool denies = actions.empty() || std::ranges::any_of(actions, [](const kube::Value& action) {
                          return action.asString() != nullptr && *action.asString() == "Deny";
                        });
    const kube::Object* policy = object({type, "", kube::textAt(binding.content, {"spec", "policyName"})});
    if (policy == nullptr || !denies) return;
    kube::CalledWebhook matched = matchedBy(policy->content.at({"spec", "matchConstraints"}), false);
    if (type == kube::kMutatingAdmissionPolicies) leaveOutDeletes(matched);
    const kube::CalledWebhook bound = matchedBy(binding.content.at({"spec", "matchResources"}), true);
    const bool concerns = std::ranges::any_of(compiled_.goal, [&](Slot slot) {
      const SlotInfo& info = model_.slots[slot];
      return isAskedAbout(matched, info, slot) && isAskedAbout(bound, info, slot);
    });
    if (concerns)
      add(policy->key, "the " + kind + " " + policy->key.name +
                           " allows what it matches: its expressions are not evaluated");
  }

  // The garbage collector leaves alone what has an owner of a type that it cannot look for.
  void addUnknownOwners(Slot slot) {
    const kube::Object* source = object(model_.slots[slot].key);
    if (source == nullptr) return;
    for (const kube::OwnerReference& owner : source->meta.ownerReferences) {
      const std::string group(kube::groupOf(owner.apiVersion));
      const kube::ResourceType* type = scenario_.types.findKind(group, owner.kind);
      const std::string named = owner.kind + (group.empty() ? "" : "." + group);
      if (type == nullptr)
        add(source->key, "no API server serves " + named + ", the type of its owner " + owner.name +
                             ": no file defines it");
      else
        addUnservedVersion(*source, owner, *type, named);
    }
  }

  void addUnservedVersion(const kube::Object& dependent, const kube::OwnerReference& owner,
                          const kube::ResourceType& type, const std::string& named) {
    const kube::Object* crd = object(kube::crdKey(type.type));
    const std::vector<std::string> served =
        kube::servedVersions(type.type, crd == nullptr ? nullptr : &crd->content, model_.kubernetes);
    const std::string_view version = kube::versionOf(owner.apiVersion);
    if (served.empty() || std::ranges::find(served, version) != served.end()) return;
    add(dependent.key, "no API server serves " + named + " in " + std::string(version) +
                           ", by which it names its owner " + owner.name + ": " +
                           (crd == nullptr ? "Kubernetes " + std::string(toString(model_.kubernetes)) +
                                                 " has it in " + kube::listed(served)
                                           : nameOf(crd->key) + " serves " + kube::listed(served)));
  }

  // Finalizers that a controller which runs outside of the files removes: it has put them on the object, or
  // is to put them there.
  void addOutside(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = object(info.key);
    if (source == nullptr) return;
    const kube::Value& content = source->content;
    const std::string& driver = kube::textAt(content, {"spec", "csi", "driver"});
    if (info.key.type == kube::kServices)
      addOutside(slot, "the cloud", kube::kLoadBalancerFinalizer,
                 kube::textAt(content, {"spec", "type"}) == "LoadBalancer"
                     ? "which its controller puts on a Service of type LoadBalancer"
                     : "");
    if (info.key.type == kube::kPersistentVolumes)
      addOutside(
          slot, "the provisioner" + (driver.empty() ? driver : " of " + driver), kube::kProvisionerFinalizer,
          !driver.empty() && kube::textAt(content, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete"
              ? "which it puts on a volume that it is to delete"
              : "");
  }

  // `gets`: why an object gets it that does not carry it; empty: it does not.
  void addOutside(Slot slot, const std::string& who, std::string_view finalizer, const std::string& gets) {
    const SlotInfo& info = model_.slots[slot];
    const std::string claim = who + " lets " + nameOf(info.key) + " go";
    const bool isRemoved = std::ranges::any_of(info.removals, [&](const cluster::Removal& removal) {
      return isOutside(removal.controller) && model_.controllers[removal.controller].finalizer == finalizer;
    });
    const bool carries = std::ranges::find(info.finalizers, finalizer) != info.finalizers.end();
    if (isRemoved)
      add(info.key, claim + ": no file has the controller that removes finalizer " + std::string(finalizer),
          claim);
    else if (!carries && !gets.empty())
      add(info.key, claim + ": finalizer " + std::string(finalizer) + ", " + gets + ", is not in the files",
          claim);
  }

  // findOutsideRemovers() found it.
  bool isOutside(uint32_t controller) const {
    return model_.controllers[controller].runsIn == kNone &&
           !scenario_.controllers[controller].evidence.empty();
  }

  void addControllers() {
    criticalservice::DependencyFinder finder;
    std::vector<const kube::Object*> manifests;
    for (const auto& [key, source] : objects_) {
      finder.put(*source);
      manifests.push_back(source);
    }
    const ControllerNeeds needs(model_, manifests);
    for (uint32_t number = 0; number < model_.controllers.size(); ++number) {
      if (workOf(number).empty()) continue;
      const cluster::FinalizerController& controller = model_.controllers[number];
      if (isOutside(number)) {
        addUsageRemover(number);
        continue;
      }
      const std::string name = "controller " + controller.name;
      const std::string& evidence = scenario_.controllers[number].evidence;
      const std::string claim =
          name + " removes finalizer " + controller.finalizer + " from " + toString(controller.from);
      if (!evidence.empty()) add(model_.slots[controller.runsIn].key, claim + ": " + evidence, claim);
      const std::string outside = name + " always works: it runs outside of the files";
      if (controller.runsIn == kNone)
        found_.push_back({name, outside, outside});
      else
        addRights(finder, name, model_.slots[controller.runsIn].key);
      if (controller.runsIn != kNone) addJob(name, controller.runsIn);
      if (controller.runsIn != kNone) addMissingRights(needs, number);
      addActingWithoutRights(needs, number);
    }
  }

  // The agent of ManifestWorks always works in the machine.
  void addAgent() {
    std::set<std::string> spaces;  // of works
    bool works = false;
    for (const Slot slot : compiled_.goal) {
      const SlotInfo& info = model_.slots[slot];
      works = works || info.work != kNone;
      if (info.kind == cluster::SlotKind::ManifestWork) spaces.insert(info.key.namespaceName);
    }
    if (!works) return;
    for (const Slot slot : compiled_.goal) {
      const SlotInfo& info = model_.slots[slot];
      if (info.kind == cluster::SlotKind::Pod || info.kind == cluster::SlotKind::ReplicaSet) continue;
      const kube::ObjectKey& key = info.key;
      const bool runsIt =
          kube::isPartOfNamespace(manifestwork::kAgentNamespace, key.type, key.namespaceName, key.name);
      const bool letsIt = key.type == kube::kRoleBindings && spaces.contains(key.namespaceName);
      if (runsIt || letsIt)
        add(key, "the agent finishes its ManifestWorks without " + nameOf(key) +
                     ": what it needs is not followed");
    }
  }

  // What Pods, volumes or addresses make use of an object is not followed.
  void addUsageRemover(uint32_t number) {
    const cluster::FinalizerController& controller = model_.controllers[number];
    if (!kube::isUsageFinalizer(controller.from, controller.finalizer)) return;
    for (const Slot slot : workOf(number))
      add(model_.slots[slot].key, "Kubernetes removes finalizer " + controller.finalizer + " from " +
                                      names_.of(slot) +
                                      " once nothing uses it: whether something does is not followed");
  }

  // The machine lets it finish at some moment; no file says that it does. It matters where something waits
  // for its end.
  void addFinished(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    if (!info.timeToLive || info.timeToLive->finishesAnyway || isAsked(slot) || !isAwaited(slot)) return;
    add(info.key, nameOf(info.key) + " finishes some time: it is deleted by its ttlSecondsAfterFinished");
  }

  // A client deletes it, or what it is in.
  bool isAsked(Slot slot) const {
    const SlotInfo& info = model_.slots[slot];
    const auto deletes = [&](Slot wanted) {
      return wanted != kNone && std::ranges::any_of(model_.slots[wanted].steps, [&](uint32_t step) {
               return model_.steps[step].verb == cluster::ClientStep::Verb::Delete &&
                      !model_.steps[step].dryRun;
             });
    };
    return deletes(slot) || deletes(info.namespaceSlot) || deletes(info.crd) || deletes(info.replicaSet);
  }

  // Something waits until it is gone, or until what goes with it is.
  bool isAwaited(Slot slot) const {
    std::vector<Slot> going{slot};
    for (size_t i = 0; i < going.size(); ++i) {
      const SlotInfo& info = model_.slots[going[i]];
      const auto add = [&](Slot more) {
        if (more != kNone && std::ranges::find(going, more) == going.end()) going.push_back(more);
      };
      for (const Slot dependent : info.dependents) add(dependent);
      if (info.kind != cluster::SlotKind::ManifestWork) continue;
      const cluster::Work& work = model_.works[info.work];
      add(work.applied);
      for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link)
        add(model_.links[link].object);
    }
    return std::ranges::any_of(going, [this](Slot one) { return isWaitedFor(one); });
  }

  bool isWaitedFor(Slot slot) const {
    const auto holds = [slot](const std::vector<cluster::ConditionHolder>& holders) {
      return std::ranges::any_of(
          holders, [slot](const cluster::ConditionHolder& holder) { return holder.slot == slot; });
    };
    const auto waits = [&](Slot goal) {
      const SlotInfo& info = model_.slots[goal];
      const auto has = [slot](const std::vector<Slot>& slots) {
        return std::ranges::find(slots, slot) != slots.end();
      };
      const bool isStorage = info.kind == cluster::SlotKind::PersistentVolumeClaim ||
                             info.kind == cluster::SlotKind::PersistentVolume;
      return goal == slot || (isStorage && has(info.children)) ||
             std::ranges::any_of(info.removals,
                                 [&](const cluster::Removal& one) { return has(one.needs.waitsFor); });
    };
    return std::ranges::any_of(model_.conditions, holds) || std::ranges::any_of(compiled_.goal, waits);
  }

  // A controller in a Job works while that runs.
  void addJob(const std::string& name, Slot runsIn) {
    const SlotInfo& info = model_.slots[runsIn];
    if (info.kind != cluster::SlotKind::Job && info.kind != cluster::SlotKind::CronJob) return;
    add(info.key,
        name + " has done its work before " + nameOf(info.key) + " ends: when that is, the files do not say");
  }

  // Which clusters a placement selects, other controllers decide.
  void addReplicaSets() {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const SlotInfo& info = model_.slots[slot];
      if (info.kind != cluster::SlotKind::ManifestWorkReplicaSet) continue;
      const bool concerns = std::ranges::any_of(
          compiled_.goal, [&](Slot goal) { return goal == slot || model_.slots[goal].replicaSet == slot; });
      if (concerns)
        add(info.key, nameOf(info.key) +
                          " has the ManifestWorks that are in the files, and no others: its "
                          "placements are not followed");
    }
  }

  // What a controller acts through and is not in the files counts as there.
  void addRights(const criticalservice::DependencyFinder& finder, const std::string& name,
                 const kube::ObjectKey& workload) {
    for (const criticalservice::Dependency& right : finder.rightsOf(workload)) {
      if (model_.find(right.object) || criticalservice::isDefaultRole(right.object)) continue;
      const bool isAccount = right.object.type == kube::kServiceAccounts;
      add(right.object,
          name + " has the rights that it needs: " + nameOf(right.object) +
              (isAccount ? ", as which it runs, is not in the files"
                         : ", which a binding of its ServiceAccount names, is not in the files"));
    }
  }

  // The objects of the goal from which the controller removes its finalizer.
  std::vector<Slot> workOf(uint32_t number) const {
    std::vector<Slot> work;
    for (const Slot slot : compiled_.goal) {
      const bool isRemoved =
          std::ranges::any_of(model_.slots[slot].removals,
                              [&](const cluster::Removal& removal) { return removal.controller == number; });
      if (isRemoved) work.push_back(slot);
    }
    return work;
  }

  // Rights that no file gives may come from elsewhere, or nowhere.
  void addMissingRights(const ControllerNeeds& needs, uint32_t number) {
    const cluster::FinalizerController& controller = model_.controllers[number];
    std::vector<Slot> lacking = workOf(number);
    std::erase_if(lacking,
                  [&](Slot slot) { return !needs.lacksRights(controller.runsIn, model_.slots[slot].key); });
    if (lacking.empty()) return;
    add(model_.slots[controller.runsIn].key, "controller " + controller.name + " may take finalizer " +
                                                 controller.finalizer + " off " + names_.list(lacking) +
                                                 ": no binding in the files lets its ServiceAccount update " +
                                                 (lacking.size() == 1 ? "it" : "them"));
  }

  // The same of the ServiceAccounts as which it acts.
  void addActingWithoutRights(const ControllerNeeds& needs, uint32_t number) {
    std::map<kube::ObjectKey, std::vector<Slot>> lacking;
    for (const Slot slot : workOf(number)) {
      for (const kube::ObjectKey& account :
           needs.actingWithoutRights(scenario_.controllers[number], model_.slots[slot].key))
        lacking[account].push_back(slot);
    }
    for (const auto& [account, objects] : lacking)
      add(account, "controller " + model_.controllers[number].name + " may do its work for " +
                       names_.list(objects) + " as " + nameOf(account) +
                       ": no binding in the files lets that ServiceAccount write in its namespace");
  }

  const Scenario& scenario_;
  const Compiled& compiled_;
  const cluster::Model& model_;
  Names names_;
  ManifestsByKey objects_;
  std::set<Slot> released_;  // as of findReleased()
  std::vector<Assumption> found_;
};

}  // namespace

std::vector<Assumption> assumptionsOf(const Scenario& scenario, const Compiled& compiled) {
  return AssumptionFinder(scenario, compiled).find();
}

}  // namespace lastout::replay
