// The criteria once more, read from the documents' text: every object is looked at. Deliberately not by way
// of the rules and conditions that decide() uses, so that a mistake in those cannot hide a commit that was
// not safe.
#include <algorithm>

#include "cluster/machine.h"
#include "kube/object_references.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::InstancesCriterion;
using criticalservice::ReferenceCriterion;
using criticalservice::SpecificResourceCriterion;

class CriteriaReader {
 public:
  CriteriaReader(const Model& model, StateRef state) : model_(model), state_(state) {}

  bool exists(const kube::ObjectKey& key) const {
    return any([&](Slot, const SlotInfo& info) { return isKeyOf(info, key); });
  }

  bool met(const Criterion& criterion) const {
    if (!criticalservice::doubtOf(criterion).empty()) return false;
    if (const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
      return !exists(specific->object);
    if (const auto* instances = std::get_if<InstancesCriterion>(&criterion))
      return !any([&](Slot, const SlotInfo& info) { return info.key.type == instances->type; });
    if (const auto* reference = std::get_if<ReferenceCriterion>(&criterion))
      return !any([&](Slot, const SlotInfo& info) {
        return info.key.type == reference->type && kube::namesAny(info.references, reference->reference);
      });
    const auto& finalizer = std::get<FinalizerCriterion>(criterion);
    return !any([&](Slot slot, const SlotInfo& info) {
      return isOfType(finalizer.type, info.key.type) && !isLeftOut(finalizer, info.key) &&
             carries(slot, finalizer.finalizerName);
    });
  }

  bool allMet(const CriticalService& service) const {
    return std::all_of(service.criteria.begin(), service.criteria.end(),
                       [&](const Criterion& criterion) { return met(criterion); });
  }

  // The verdict table's lines for one service (docs/verdicts.md).
  bool lets(size_t number, const kube::ObjectKey& object) const {
    const CriticalService& service = model_.serviceSpecs[number];
    const Slot serviceSlot = model_.services[number];
    if (state_.presence(serviceSlot) == Presence::Absent) return true;
    const auto intent = static_cast<DeletionIntent>(state_.object(serviceSlot).value);
    const bool providerGone = !exists(service.provider);
    const kube::GroupResource own = criticalservice::criticalServiceType();
    const bool isService = object == model_.slots[serviceSlot].key || isCrdOf(object, own);
    if (isService && intent == DeletionIntent::Ordered && !providerGone) return false;
    if (object == model_.lastoutNamespace) return false;
    const criticalservice::Dependency* needed = dependency(number, object);
    const bool guards = intent != DeletionIntent::OrphanResources;
    const bool goesAfter = needed != nullptr && !needed->ownsProvider && !awaitsOwned(service.provider);
    if (goesAfter && guards && !providerGone) return false;
    const bool holdsProvider = isNamespace(object, service.provider.namespaceName) ||
                               isCrdOf(object, service.provider.type) || needed != nullptr;
    const bool concerned = object == service.provider || (holdsProvider && !providerGone);
    return !concerned || !guards || allMet(service);
  }

 private:
  // Looks at the name first, in which most keys differ.
  static bool isKeyOf(const SlotInfo& info, const kube::ObjectKey& key) {
    return info.key.name == key.name && info.key == key;
  }

  // It is deleted in the foreground, and its finalizer for that is the last one.
  bool awaitsOwned(const kube::ObjectKey& key) const {
    return any([&](Slot slot, const SlotInfo& info) {
      return isKeyOf(info, key) && state_.presence(slot) == Presence::Terminating &&
             state_.finalizers(slot) == kForegroundBit;
    });
  }

  // What the object is to the service's provider.
  const criticalservice::Dependency* dependency(size_t number, const kube::ObjectKey& object) const {
    const admission::Dependencies& all = model_.dependencies[number];
    const auto found = std::ranges::find(all, object, &criticalservice::Dependency::object);
    return found == all.end() ? nullptr : &*found;
  }

  template <class Predicate>
  bool any(Predicate predicate) const {
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (predicate(slot, model_.slots[slot]) && state_.presence(slot) != Presence::Absent) return true;
    }
    return false;
  }

  bool carries(Slot slot, const std::string& finalizer) const {
    const std::vector<std::string>& names = model_.slots[slot].finalizers;
    for (size_t i = 0; i < names.size(); ++i) {
      const bool isOfSpec = (specFinalizers(model_.slots[slot]) >> i & 1) != 0;
      const bool isMeant = finalizer.back() == '*'
                               ? names[i].starts_with(finalizer.substr(0, finalizer.size() - 1))
                               : names[i] == finalizer;
      if (isMeant && !isOfSpec && (state_.finalizers(slot) >> i & 1) != 0) return true;
    }
    if (finalizer == kube::kForegroundFinalizer) return (state_.finalizers(slot) & kForegroundBit) != 0;
    return finalizer == kube::kOrphanFinalizer && (state_.finalizers(slot) & kOrphanBit) != 0;
  }

  // "*" stands for all of a group, "*.example.com" for all groups below that domain.
  static bool isOfType(const kube::GroupResource& named, const kube::GroupResource& type) {
    if (named.resource != "*") return named == type;
    return named.group.front() == '*' ? type.group.ends_with(named.group.substr(1))
                                      : type.group == named.group;
  }

  // It is in a namespace, or is one, that the criterion is not about.
  static bool isLeftOut(const FinalizerCriterion& criterion, const kube::ObjectKey& object) {
    using Kind = kube::NamespaceScope::Kind;
    const bool isPlaced = !object.namespaceName.empty() || object.type == kube::kNamespaces;
    if (criterion.scope.kind == Kind::All || !isPlaced) return false;
    const bool isNamed = std::ranges::any_of(criterion.scope.names, [&](const std::string& space) {
      return object.namespaceName == space || isNamespace(object, space);
    });
    return isNamed == (criterion.scope.kind == Kind::Outside);
  }

  static bool isNamespace(const kube::ObjectKey& object, const std::string& name) {
    return !name.empty() && object.type == kube::kNamespaces && object.name == name;
  }

  static bool isCrdOf(const kube::ObjectKey& object, const kube::GroupResource& type) {
    return object == kube::crdKey(type);
  }

  const Model& model_;
  StateRef state_;
};

// The objects that some line of the verdict table is about; all others no CriticalService keeps.
std::vector<bool> namedSlots(const Model& model) {
  std::vector<bool> named(model.slots.size(), false);
  const auto mark = [&](const kube::ObjectKey& key) {
    if (const auto slot = model.find(key)) named[*slot] = true;
  };
  for (size_t i = 0; i < model.services.size(); ++i) {
    const kube::ObjectKey& provider = model.serviceSpecs[i].provider;
    named[model.services[i]] = true;
    mark(provider);
    mark(kube::namespaceKey(provider.namespaceName));
    mark(kube::crdKey(provider.type));
    mark(kube::crdKey(criticalservice::criticalServiceType()));
    for (const criticalservice::Dependency& dependency : model.dependencies[i]) mark(dependency.object);
  }
  if (model.lastoutNamespace) mark(*model.lastoutNamespace);
  return named;
}

}  // namespace

Machine::Machine(const Model& model) : Machine(model, Layout(model)) {}

Machine::Machine(const Model& model, const Layout& layout)
    : model_(&model), layout_(layout), named_(namedSlots(model)) {}

bool Machine::criteriaAreMet(StateRef state, Slot slot) const {
  const CriteriaReader reader(*model_, state);
  for (size_t service = 0; service < model_->services.size(); ++service) {
    if (!reader.lets(service, model_->slots[slot].key)) return false;
  }
  return true;
}

bool Machine::isHeldBack(Slot slot, uint16_t finalizers) const {
  const std::vector<std::string>& names = model_->slots[slot].finalizers;
  const auto found = std::ranges::find(names, kube::kCriteriaFinalizer);
  if (found == names.end() || (finalizers & kForegroundBit) != 0) return false;
  return (finalizers >> (found - names.begin()) & 1) != 0;
}

}  // namespace lastout::cluster
