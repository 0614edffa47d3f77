#include "replay/controller_needs.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "criticalservice/pod_needs.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "replay/resolve.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::RemovalNeeds;
using cluster::Slot;

// Flux's convention, which its Kustomizations and HelmReleases follow, and others after it.
const kube::FieldPath& usualAccountField() {
  static const kube::FieldPath kPath{.keys = {"spec", "serviceAccountName"},
                                     .text = "spec.serviceAccountName"};
  return kPath;
}

std::vector<std::string> textsIn(const kube::Object& object, const kube::FieldPath& path) {
  std::vector<std::string> texts;
  kube::addTexts(object.content, path.keys, texts);
  return texts;
}

// Returns what the item means for one object: patterns, each of which has to be met. `manifest`: that
// object's; nullptr: it has none.
std::vector<kube::ObjectPattern> wantedFor(const ControllerNeed& need, const kube::ObjectKey& object,
                                           const kube::Object* manifest) {
  kube::ObjectPattern pattern = need.of.pattern;
  if (need.inSameNamespace) {
    pattern.anyNamespace = false;
    pattern.key.namespaceName = object.type == kube::kNamespaces ? object.name : object.namespaceName;
  }
  if (!need.named) return {pattern};
  std::vector<kube::ObjectPattern> patterns;
  if (manifest == nullptr) return patterns;
  for (const std::string& name : textsIn(*manifest, *need.named)) {
    patterns.push_back(pattern);
    patterns.back().key.name = name;
  }
  return patterns;
}

// "secrets/tenant/credentials", "projects.example.com in namespace tenant".
std::string described(const kube::ObjectPattern& pattern) {
  if (pattern.key.name != "*" && !pattern.anyNamespace) return kube::toString(pattern.key);
  if (pattern.key.name != "*") return kube::toString(pattern.key.type) + "/" + pattern.key.name;
  const std::string type = kube::toString(pattern.key.type);
  return pattern.key.namespaceName.empty() ? "any of " + type
                                           : "any of " + type + " in namespace " + pattern.key.namespaceName;
}

}  // namespace

std::vector<std::string> whatLacks(const ScenarioController& controller, const kube::Object& object,
                                   const std::vector<const kube::Object*>& objects) {
  constexpr size_t kMostAwaited = 3;  // by name
  const auto matching = [&](const kube::ObjectPattern& pattern) {
    std::vector<std::string> found;
    for (const kube::Object* one : objects)
      if (one->key != object.key && pattern.matches(one->key)) found.push_back(kube::toString(one->key));
    return found;
  };
  std::vector<std::string> clauses;
  std::vector<std::string> awaited;
  for (const ControllerNeed& need : controller.needs) {
    for (const kube::ObjectPattern& pattern : wantedFor(need, object.key, &object)) {
      if (matching(pattern).empty()) clauses.push_back("needs " + described(pattern) + ", and there is none");
    }
  }
  for (const ControllerNeed& need : controller.waitsFor) {
    for (const kube::ObjectPattern& pattern : wantedFor(need, object.key, &object))
      std::ranges::move(matching(pattern), std::back_inserter(awaited));
  }
  std::ranges::sort(awaited);
  awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
  if (!awaited.empty()) clauses.push_back("waits for " + kube::listed(awaited, kMostAwaited));
  return clauses;
}

ControllerNeeds::ControllerNeeds(const cluster::Model& model,
                                 const std::vector<const kube::Object*>& manifests)
    : model_(model) {
  for (const kube::Object* object : manifests) {
    manifests_.try_emplace(object->key, object);
    rights_.put(*object);
  }
}

std::vector<std::string> ControllerNeeds::namesAt(const kube::ObjectKey& object,
                                                  const kube::FieldPath& path) const {
  const auto manifest = manifests_.find(object);
  return manifest == manifests_.end() ? std::vector<std::string>() : textsIn(*manifest->second, path);
}

std::vector<kube::ObjectPattern> ControllerNeeds::wanted(const ControllerNeed& need,
                                                         const kube::ObjectKey& object) const {
  const auto manifest = manifests_.find(object);
  return wantedFor(need, object, manifest == manifests_.end() ? nullptr : manifest->second);
}

// An object neither needs itself nor waits for itself.
std::vector<Slot> ControllerNeeds::matches(const kube::ObjectPattern& pattern, Slot but) const {
  std::vector<Slot> slots = replay::matches(model_, {.pattern = pattern, .text = {}, .where = {}});
  std::erase(slots, but);
  return slots;
}

// Leaves out each way that takes more than another. Nothing of Kubernetes' own roles may be in the scenario.
std::vector<std::vector<Slot>> ControllerNeeds::slotsOf(
    const criticalservice::WritingRights::Ways& ways) const {
  std::vector<std::vector<Slot>> result;
  for (const std::vector<kube::ObjectKey>& way : ways) {
    std::vector<Slot> slots;
    for (const kube::ObjectKey& key : way) {
      if (const auto slot = model_.find(key)) slots.push_back(*slot);
    }
    const auto takesMore = [](const std::vector<Slot>& more, const std::vector<Slot>& less) {
      return std::ranges::all_of(less,
                                 [&](Slot slot) { return std::ranges::find(more, slot) != more.end(); });
    };
    if (std::ranges::any_of(result, [&](const auto& other) { return takesMore(slots, other); })) continue;
    std::erase_if(result, [&](const auto& other) { return takesMore(other, slots); });
    result.push_back(std::move(slots));
  }
  return result;
}

// As whom the Pods run in which it runs; of Pods and ReplicaSets without a manifest, those of their owners.
std::optional<criticalservice::WritingRights::Account> ControllerNeeds::accountOf(Slot runsIn) const {
  for (Slot slot = runsIn; slot != kNone;) {
    const kube::ObjectKey& key = model_.slots[slot].key;
    if (const auto manifest = manifests_.find(key); manifest != manifests_.end()) {
      const kube::Value* podTemplate = criticalservice::podTemplateOf(*manifest->second);
      if (podTemplate == nullptr) return std::nullopt;
      return std::pair(key.namespaceName, criticalservice::serviceAccountOf(*podTemplate));
    }
    const std::vector<cluster::OwnerLink>& owners = model_.slots[slot].owners;
    const auto owner = std::ranges::find_if(owners, &cluster::OwnerLink::controller);
    slot = owner == owners.end() ? kNone : owner->owner;
  }
  return std::nullopt;
}

bool ControllerNeeds::lacksRights(Slot runsIn, const kube::ObjectKey& object,
                                  const std::string& finalizer) const {
  const auto account = accountOf(runsIn);
  return account && rights_.isAnyKnown() && !rights_.mayUpdate(*account, updated(object, finalizer));
}

kube::ObjectKey ControllerNeeds::updated(const kube::ObjectKey& object, const std::string& finalizer) const {
  const auto manifest = manifests_.find(object);
  return manifest == manifests_.end() ? object
                                      : criticalservice::updatedToRemove(*manifest->second, finalizer);
}

// Of what the controller needs for all objects SlotInfo::rights tells.
void ControllerNeeds::addRights(Slot runsIn, const kube::ObjectKey& object, RemovalNeeds& out) const {
  const auto account = accountOf(runsIn);
  if (!account) return;
  std::vector<std::vector<Slot>> ways = slotsOf(rights_.toUpdate(*account, object));
  const std::vector<cluster::Ways>& always = model_.slots[runsIn].rights;
  const auto isAlways = [&](Slot slot) {
    return std::ranges::any_of(always, [slot](const cluster::Ways& ways) {
      return ways.size() == 1 && std::ranges::find(ways.front(), slot) != ways.front().end();
    });
  };
  if (std::ranges::all_of(ways, [&](const auto& way) { return std::ranges::all_of(way, isAlways); })) return;
  out.needs.push_back({.what = "a RoleBinding", .ways = std::move(ways)});
}

std::vector<kube::ObjectKey> ControllerNeeds::actingAccounts(const ScenarioController& controller,
                                                             const kube::ObjectKey& object) const {
  const bool isInferred = !controller.actsAs.has_value();
  std::vector<kube::ObjectKey> accounts;
  // What Pods and their templates have there is the account that they run as themselves.
  if (isInferred && kube::ResourceMap::builtIn().find(object.type) != nullptr) return accounts;
  for (const std::string& name : namesAt(object, controller.actsAs.value_or(usualAccountField()))) {
    const kube::ObjectKey key{kube::kServiceAccounts, object.namespaceName, name};
    if (!isInferred || model_.find(key)) accounts.push_back(key);
  }
  return accounts;
}

std::vector<kube::ObjectKey> ControllerNeeds::actingWithoutRights(const ScenarioController& controller,
                                                                  const kube::ObjectKey& object) const {
  if (!rights_.isAnyKnown()) return {};
  std::vector<kube::ObjectKey> accounts = actingAccounts(controller, object);
  std::erase_if(accounts, [&](const kube::ObjectKey& account) {
    return !rights_.toActIn({account.namespaceName, account.name}, account.namespaceName).empty();
  });
  return accounts;
}

bool ControllerNeeds::addActing(const ScenarioController& controller, const kube::ObjectKey& object,
                                RemovalNeeds& out) const {
  bool isKnown = true;
  for (const kube::ObjectKey& key : actingAccounts(controller, object)) {
    const auto account = model_.find(key);
    // Kubernetes makes this one, and makes it again.
    const bool isDefault = key.name == criticalservice::kDefaultAccount;
    isKnown = isKnown && (account || isDefault);
    if (account)
      out.needs.push_back({.what = kube::toString(key), .ways = {{*account}}});
    else if (!isDefault)
      out.needs.push_back({.what = kube::toString(key), .ways = {}});
    std::vector<std::vector<Slot>> ways =
        slotsOf(rights_.toActIn({key.namespaceName, key.name}, key.namespaceName));
    if (!ways.empty())
      out.needs.push_back({.what = "a binding of " + kube::toString(key), .ways = std::move(ways)});
  }
  return isKnown;
}

ControllerNeeds::ByObject ControllerNeeds::of(const ScenarioController& controller, Slot runsIn,
                                              const std::string& file, kube::Errors& warnings) const {
  ByObject result;
  std::vector<bool> isFound(controller.needs.size());
  std::vector<bool> isAwaited(controller.waitsFor.size());
  bool isEveryAccountKnown = true;
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    const kube::ObjectKey& object = model_.slots[slot].key;
    if (object.type != controller.from) continue;
    RemovalNeeds needs;
    for (size_t i = 0; i < controller.needs.size(); ++i) {
      for (const kube::ObjectPattern& pattern : wanted(controller.needs[i], object)) {
        RemovalNeeds::Need& need = needs.needs.emplace_back();
        need.what = described(pattern);
        for (const Slot found : matches(pattern, slot)) need.ways.push_back({found});
        if (!need.ways.empty()) isFound[i] = true;
      }
    }
    for (size_t i = 0; i < controller.waitsFor.size(); ++i) {
      for (const kube::ObjectPattern& pattern : wanted(controller.waitsFor[i], object)) {
        for (const Slot found : matches(pattern, slot)) {
          isAwaited[i] = true;
          if (std::ranges::find(needs.waitsFor, found) == needs.waitsFor.end())
            needs.waitsFor.push_back(found);
        }
      }
    }
    addRights(runsIn, updated(object, controller.finalizer), needs);
    isEveryAccountKnown = addActing(controller, object, needs) && isEveryAccountKnown;
    if (!needs.needs.empty() || !needs.waitsFor.empty()) result.emplace(slot, std::move(needs));
  }
  const auto warn = [&](const ControllerNeed& need, const std::string& does) {
    warnings.push_back({"controller " + controller.name + " " + does + " " + need.of.text +
                            (need.named ? " named by " + need.named->text : "") +
                            (need.inSameNamespace ? " in the same namespace" : "") +
                            ", and nothing in this scenario is that",
                        file, need.of.where});
  };
  for (size_t i = 0; i < isFound.size(); ++i) {
    if (!isFound[i]) warn(controller.needs[i], "needs");
  }
  for (size_t i = 0; i < isAwaited.size(); ++i) {
    if (!isAwaited[i]) warn(controller.waitsFor[i], "waits for");
  }
  if (!isEveryAccountKnown)
    warnings.push_back({"controller " + controller.name + " acts as a ServiceAccount, by " +
                            controller.actsAs->text + ", that is not in this scenario",
                        file, controller.where});
  return result;
}

}  // namespace lastout::replay
