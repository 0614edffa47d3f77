// Assumptions about what API servers call: webhooks, conversion webhooks, APIServices and admission policies.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cluster/unwritten.h"
#include "criticalservice/dependencies.h"
#include "criticalservice/validation.h"
#include "kube/api_calls.h"
#include "kube/messages.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

constexpr size_t kMostUnwritten = 3;  // by name, in one sentence
const std::string kSystemNamespace(criticalservice::kExcludedNamespace);

bool isCondition(const kube::Value& content, std::string_view type, std::string_view status) {
  const kube::Value* condition = kube::statusCondition(content, type);
  return condition != nullptr && kube::textAt(*condition, {"status"}) == status;
}

class CalledByApiServers {
 public:
  explicit CalledByApiServers(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    findReleased();
    const bool isAnybodyAsked = std::ranges::any_of(notes_.manifests, [](const auto& one) {
      return one.first.type.group == kube::kAdmissionRegistrationGroup;
    });
    if (isAnybodyAsked) findUnwritten();
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
  // Returns true if something updates the object before it goes: a controller that removes a finalizer, also
  // that of Jobs, or the garbage collector, which removes its own finalizers and single ownerReferences.
  bool isUpdatedToGo(const SlotInfo& info, Slot slot) const {
    return !info.removals.empty() || info.heldBit != 0 || info.policyBits != 0 || info.keptBit != 0 ||
           info.owners.size() > 1 || released_.contains(slot) ||
           cluster::isTrackedByJob(model_, slot, notes_.object(info.key));
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
    const Slot space = notes_.spaceOf(slot);
    return kube::reviewedOperations(webhook, info.key, info.forms.front().labels,
                                    space == kNone ? nullptr : &model_.slots[space].forms.front().labels,
                                    notes_.servedVersionsOf(info.key.type));
  }

  // Returns true if the API server asks it about a request by which the object ends.
  bool isAskedAbout(const kube::CalledWebhook& webhook, const SlotInfo& info, Slot slot) const {
    const kube::ReviewedOperations reviewed = reviewedOf(webhook, info, slot);
    return reviewed.onDelete || reviewed.onStop || (reviewed.onUpdate && isUpdatedToGo(info, slot)) ||
           (reviewed.onCleanup && hasCleanup(info)) || (reviewed.onVolumeRelease && isReleasedToGo(info));
  }

  bool isReleasedToGo(const SlotInfo& volume) const {
    const kube::Object* source = notes_.object(volume.key);
    return kube::hasToBeReleased(source == nullptr ? nullptr : &source->content, !volume.children.empty());
  }

  // Returns true if a controller of Kubernetes, of the cloud or of works takes its own finalizer off the
  // object, or off the Pods of the Job.
  static bool hasCleanup(const SlotInfo& info) {
    return info.cleanupBit != 0 || info.kind == cluster::SlotKind::Job ||
           std::ranges::any_of(info.finalizers, [&](const std::string& finalizer) {
             return kube::isRemovedByStatus(info.key.type, finalizer);
           });
  }

  // All of these: a webhook, or a policy and its binding.
  using Asked = std::initializer_list<const kube::CalledWebhook*>;
  bool areAskedAboutGoal(Asked all) const {
    const auto areAsked = [&](Slot slot) {
      return std::ranges::all_of(
          all, [&](const kube::CalledWebhook* one) { return isAskedAbout(*one, model_.slots[slot], slot); });
    };
    const auto areAskedToRelease = [&](Slot slot) {
      return std::ranges::all_of(all, [&](const kube::CalledWebhook* one) {
        return reviewedOf(*one, model_.slots[slot], slot).onUpdate;
      });
    };
    return std::ranges::any_of(notes_.compiled.goal, areAsked) ||
           std::ranges::any_of(released_, areAskedToRelease);
  }

  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook) {
    if (webhook.isOfLastout()) return;
    const std::string name = "the webhook " + configuration.key.name + "/" + webhook.name;
    if (!webhook.failureIsIgnored && !webhook.address.isUrl())
      addControllers(configuration, {&webhook}, name + " answers",
                     endsWithNamespaces() && notes_.reachedBy(webhook.address).empty());
    if (!webhook.failureIsIgnored && notes_.mayNotAnswer(webhook.address))
      addStatusWrites(configuration, webhook, name);
    const std::vector<cluster::UnwrittenObject> unwritten = unwrittenFor({&webhook});
    if (!areAskedAboutGoal({&webhook}) && unwritten.empty()) return;
    const std::string reached = notes_.reachedBy(webhook.address);
    if (!reached.empty()) {
      notes_.add(
          configuration.key,
          name + (webhook.failureIsIgnored ? " allows, if it answers: " : " answers and allows: ") + reached);
    } else if (notes_.hasPodsBehind(webhook.address)) {
      notes_.add(configuration.key,
                 name + " allows what it is asked about: its Pods are followed, not its answers");
    }
    if (reached.empty() && !webhook.failureIsIgnored)
      addWhatItIsAskedAbout(configuration, webhook, name, unwritten);
  }

  // Adds the controllers that may write the status of an object before they remove its finalizer.
  void addStatusWrites(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                       const std::string& name) {
    std::map<uint32_t, std::vector<Slot>> written;  // by controller
    for (const Slot slot : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      const kube::ReviewedOperations reviewed = reviewedOf(webhook, info, slot);
      if (!reviewed.onStatus || reviewed.onUpdate || info.crd == kNone) continue;
      for (const cluster::Removal& removal : info.removals)
        if (removal.isCandidate()) written[removal.controller].push_back(slot);
    }
    for (const auto& [controller, objects] : written)
      notes_.add(configuration.key,
                 name + " answers, or controller " + model_.controllers[controller].name +
                     " removes its finalizer from " + notes_.names.list(objects) +
                     " without writing a status first: the files do not say whether it does");
  }

  // Adds what the machine does not follow of a webhook whose failures count, and of whose Pods it knows.
  void addWhatItIsAskedAbout(const kube::Object& configuration, const kube::CalledWebhook& webhook,
                             const std::string& name,
                             const std::vector<cluster::UnwrittenObject>& unwritten) {
    std::vector<std::string> mayGo;  // the machine follows the others
    for (const cluster::UnwrittenObject& one : unwritten)
      if (!one.stays) mayGo.push_back(kube::toString(one.key));
    if (!mayGo.empty())
      notes_.add(configuration.key, name + " answers when " + kube::listed(mayGo, kMostUnwritten) +
                                        (mayGo.size() == 1 ? " is" : " are") +
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

  // Returns those of findUnwritten() whose deletion all of these are asked about.
  std::vector<cluster::UnwrittenObject> unwrittenFor(Asked asked) const {
    std::vector<cluster::UnwrittenObject> found;
    for (const cluster::UnwrittenObject& made : unwritten_) {
      const auto isAsked = [&](const kube::CalledWebhook* one) {
        return cluster::isReviewedAtEnd(model_, *one, made);
      };
      if (std::ranges::all_of(asked, isAsked)) found.push_back(made);
    }
    return found;
  }

  // Finds what Kubernetes makes in the Namespaces that are to end, and no file has.
  void findUnwritten() {
    std::vector<const kube::Object*> sources;
    for (const SlotInfo& info : model_.slots) sources.push_back(notes_.object(info.key));
    unwritten_ = cluster::unwrittenObjects(model_, sources);
    std::erase_if(unwritten_,
                  [this](const cluster::UnwrittenObject& one) { return !notes_.isGoal(one.space); });
  }

  // Adds what may keep kube-controller-manager, which deletes the content of Namespaces and collects garbage,
  // from working, or a controller of the files from renewing its Lease. `answers`: "the webhook
  // checks/c.example.com answers". `isFollowed`: the machine stops with kube-controller-manager.
  void addControllers(const kube::Object& about, Asked asked, const std::string& answers,
                      bool isFollowed = false) {
    const bool areAskedAboutLeader = std::ranges::all_of(
        asked, [&](const kube::CalledWebhook* one) { return cluster::isAskedAboutLeader(model_, *one); });
    if (areAskedAboutLeader && !isFollowed)
      notes_.add(about.key, answers +
                                " as long as anything is deleted: it is asked about the Lease of "
                                "kube-controller-manager, which ends without it");
    const kube::ObjectKey account{kube::kServiceAccounts, kSystemNamespace, "generic-garbage-collector"};
    if (areAsked(asked, account, &kube::ReviewedOperations::onToken))
      notes_.add(about.key, answers +
                                " as long as anything is deleted: it is asked about tokens of the "
                                "ServiceAccounts in namespace " +
                                kSystemNamespace + ", as which kube-controller-manager may work");
    for (const cluster::FinalizerController& controller : model_.controllers) {
      if (controller.runsIn == kNone) continue;
      const std::string& space = model_.slots[controller.runsIn].key.namespaceName;
      if (areAsked(asked, {kube::kLeases, space, controller.name}, &kube::ReviewedOperations::onUpdate))
        notes_.add(about.key, answers + " while controller " + controller.name +
                                  " has work: it is asked about the Leases in namespace " + space +
                                  ", by which replicas elect one that works");
    }
  }

  // Returns true if all of the goal are Namespaces, or go with one of them: the machine ends no Namespace
  // without kube-controller-manager.
  bool endsWithNamespaces() const {
    return std::ranges::all_of(notes_.compiled.goal, [this](Slot slot) {
      const SlotInfo& info = model_.slots[slot];
      return info.kind == cluster::SlotKind::Namespace ||
             (info.namespaceSlot != kNone && notes_.isGoal(info.namespaceSlot));
    });
  }

  // Returns true if all are asked about the request for an object that is in no file.
  bool areAsked(Asked asked, const kube::ObjectKey& key, bool kube::ReviewedOperations::*request) const {
    return std::ranges::all_of(asked, [&](const kube::CalledWebhook* one) {
      return cluster::reviewsOfUnwritten(model_, *one, key).*request;
    });
  }

  static bool namesVersions(const kube::CalledWebhook& webhook) {
    return std::ranges::any_of(webhook.matches.rules, [](const kube::RuleWithOperations& rule) {
      return std::ranges::find(rule.versions, "*") == rule.versions.end();
    });
  }

  void addConversion(const kube::Object& crd) {
    const auto address = kube::calledConversionOf(crd.content);
    const auto slot = model_.find(crd.key);
    const bool preferredConverts = address && kube::preferredVersionConverts(crd.content);
    const bool concerns = slot && std::ranges::any_of(notes_.compiled.goal, [&](Slot goal) {
                            return model_.slots[goal].crd == *slot &&
                                   (preferredConverts || isUpdatedToGo(model_.slots[goal], goal));
                          });
    const std::string reached = address && concerns ? notes_.reachedBy(*address) : std::string();
    if (!reached.empty())
      notes_.add(crd.key, "the conversion webhook of " + notes_.nameOf(crd.key) + " answers: " + reached);
    else if (address)
      addConvertedOwners(crd);
    if (address && slot && kube::collectorWaitsForAllTypes(model_.kubernetes) && typesGo() &&
        collectorIsNeeded())
      notes_.add(crd.key, "the garbage collector goes on while " + notes_.nameOf(crd.key) +
                              " cannot be listed: in 1.26 it stops then, once a type has come or gone");
  }

  // Adds the owners of the type that the garbage collector looks for while they are there, in a version that
  // has to be converted: that which the ownerReference names.
  void addConvertedOwners(const kube::Object& crd) {
    const kube::GroupResource type = kube::definedBy(crd.key.name);
    const std::vector<std::string> served = notes_.servedVersionsOf(type);
    for (const auto& [key, dependent] : notes_.manifests) {
      for (const kube::OwnerReference& owner : dependent->meta.ownerReferences) {
        const std::string version(kube::versionOf(owner.apiVersion));
        const bool converts =
            kube::cleanupConverts(crd.content) || version != kube::storageVersionOf(crd.content);
        const auto slot = ownerOfType(key, owner, type);
        if (slot && converts && std::ranges::find(served, version) != served.end() &&
            isLookedFor(*slot, *dependent))
          notes_.add(crd.key, "the conversion webhook of " + notes_.nameOf(crd.key) +
                                  " answers when the garbage collector looks for " +
                                  notes_.nameOf(model_.slots[*slot].key) + ", which " + notes_.nameOf(key) +
                                  " names as its owner in " + version);
      }
    }
  }

  // Returns the owner if it is of the type and in the model.
  std::optional<Slot> ownerOfType(const kube::ObjectKey& dependent, const kube::OwnerReference& owner,
                                  const kube::GroupResource& type) const {
    const kube::ResourceType* named =
        notes_.scenario.types.findKind(kube::groupOf(owner.apiVersion), owner.kind);
    if (named == nullptr || named->type != type) return std::nullopt;
    return model_.find({type, named->namespaced ? dependent.namespaceName : std::string(), owner.name});
  }

  // Returns true if the goal depends on whether the collector finds this owner: it waits for the dependent in
  // the foreground, or the dependent has other owners, too.
  bool isLookedFor(Slot owner, const kube::Object& dependent) const {
    const bool isLookedAt = released_.contains(owner) || dependent.meta.ownerReferences.size() > 1;
    return isLookedAt && (notes_.isGoal(owner) || notes_.isGoal(dependent.key));
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
    const bool endsNamespaces = notes_.hasGoal(cluster::SlotKind::Namespace);
    const std::string reached = address && endsNamespaces ? notes_.reachedBy(*address) : std::string();
    if (!reached.empty()) notes_.add(apiService.key, notes_.nameOf(apiService.key) + " answers: " + reached);
    if (reached.empty() && address && endsNamespaces && notes_.hasPodsBehind(*address) &&
        isCondition(apiService.content, "Available", "False"))
      notes_.add(apiService.key,
                 notes_.nameOf(apiService.key) + " answers: its condition Available is False");
    if (address) addShadowedTypes(apiService);
  }

  // Adds the types of the goal whose CRD serves what the APIService sends to another API server: API servers
  // follow the APIService.
  void addShadowedTypes(const kube::Object& apiService) {
    const std::string& group = kube::textAt(apiService.content, {"spec", "group"});
    const std::string& version = kube::textAt(apiService.content, {"spec", "version"});
    std::set<kube::GroupResource> types;
    for (const Slot slot : notes_.compiled.goal) {
      const kube::GroupResource& type = model_.slots[slot].key.type;
      if (type.group != group || types.contains(type)) continue;
      const std::vector<std::string> served = notes_.servedVersionsOf(type);
      if (std::ranges::find(served, version) != served.end()) types.insert(type);
    }
    for (const kube::GroupResource& type : types)
      notes_.add(apiService.key, kube::toString(type) + " can be deleted: " + notes_.nameOf(apiService.key) +
                                     " sends the requests in " + group + "/" + version +
                                     " to another API server, which is not followed");
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
    const bool failsWithoutParameters = policy != nullptr &&
                                        policy->content.at({"spec", "paramKind"}) != nullptr &&
                                        kube::textAt(policy->content, {"spec", "failurePolicy"}) != "Ignore";
    if (policy == nullptr || (!denies && !failsWithoutParameters)) return;
    const kube::CalledWebhook matched = requestsOfPolicy(*policy);
    const kube::CalledWebhook bound = requestsOfBinding(binding);
    const std::string name = "the " + kind + " " + policy->key.name;
    addControllers(*policy, {&matched, &bound}, name + " allows what it matches");
    if (!areAskedAboutGoal({&matched, &bound}) && unwrittenFor({&matched, &bound}).empty()) return;
    if (denies)
      notes_.add(policy->key, name + " allows what it matches: its expressions are not evaluated");
    else
      notes_.add(policy->key, name +
                                  " finds its parameters: without them it denies what it matches, also "
                                  "where its binding only audits or warns");
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  std::set<Slot> released_;                          // of findReleased()
  std::vector<cluster::UnwrittenObject> unwritten_;  // of findUnwritten()
};

}  // namespace

void assumeOfCalls(AssumptionNotes& notes) { CalledByApiServers(notes).find(); }

}  // namespace lastout::replay
