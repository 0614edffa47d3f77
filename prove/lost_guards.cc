#include "prove/lost_guards.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "kube/messages.h"
#include "kube/patterns.h"
#include "prove/lost_protections.h"

namespace lastout::prove {

namespace {

using cluster::Model;
using cluster::Slot;
using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::EnforcementMode;

bool guards(const CriticalService& service) { return service.intent != DeletionIntent::OrphanResources; }

// What one criterion asks, by all services of its provider.
struct GuardingCriterion {
  Criterion criterion;
  bool isAtStart = false;  // false: only once a step has created its CriticalService
  bool isLenient = true;   // it is met where its type is not installed
  // The strongest of those that ask for it, and whose that is.
  DeletionIntent intent = DeletionIntent::OrphanResources;
  std::string service;
};

// Adds one that asks for the same.
void add(GuardingCriterion& known, const GuardingCriterion& other) {
  known.isAtStart = known.isAtStart || other.isAtStart;
  known.isLenient = known.isLenient && other.isLenient;
  if (!isWeaker(other.intent, known.intent)) return;
  known.criterion = other.criterion;
  known.intent = other.intent;
  known.service = other.service;
}

struct GuardedProvider {
  std::vector<std::string> services;
  std::map<std::string, GuardingCriterion> criteria;  // by their words
  std::vector<criticalservice::DependencySpec> dependencies;
  EnforcementMode enforcement = EnforcementMode::Hold;  // one that says Deny is enough
  bool guardsScaling = false;
};

using GuardedProviders = std::map<kube::ObjectKey, GuardedProvider>;

// The providers that are there, with what guards them.
GuardedProviders providersOf(const Model& model) {
  GuardedProviders providers;
  for (size_t i = 0; i < model.serviceSpecs.size(); ++i) {
    const CriticalService& service = model.serviceSpecs[i];
    if (!guards(service) || service.criteria.empty() || !slotOf(model, service.provider)) continue;
    GuardedProvider& provider = providers[service.provider];
    provider.services.push_back(criticalservice::nameInWords(service.meta.name));
    provider.guardsScaling = provider.guardsScaling || service.guardsScaling;
    provider.dependencies.push_back(service.dependencies);
    if (service.enforcement == EnforcementMode::Deny) provider.enforcement = EnforcementMode::Deny;
    const bool isAtStart = model.slots[model.services[i]].presentAtStart;
    for (const Criterion& criterion : criticalservice::writtenCriteria(service)) {
      add(provider.criteria[criticalservice::toString(criterion)],
          {criterion, isAtStart, isMetIfNotInstalled(criterion), service.intent, provider.services.back()});
    }
  }
  return providers;
}

std::vector<Criterion> criteriaOf(const GuardedProvider& provider) {
  std::vector<Criterion> criteria;
  for (const auto& [words, one] : provider.criteria) criteria.push_back(one.criterion);
  return criteria;
}

// Returns what is not asked for any more where one of the criteria asks for the rest, and by which field;
// empty: none does.
std::string narrowed(const GuardedProvider& provider, const Criterion& criterion) {
  const std::vector<Criterion> criteria = criteriaOf(provider);
  const auto* now = narrowedOf(criteria, criterion);
  if (now == nullptr) return {};
  return toString(lostOf(criterion, *now)) + " (`" + std::string(criticalservice::fieldOf(now->scope)) + "`)";
}

// Returns what those criteria guard together that go on asking for what this one asks for; nullopt: none
// does.
std::optional<GuardingCriterion> stillGuarding(const GuardedProvider& provider, const Criterion& criterion) {
  const std::vector<Criterion> still = stillAsking(criteriaOf(provider), criterion);
  if (still.empty()) return std::nullopt;
  GuardingCriterion together;
  for (const Criterion& one : still) add(together, provider.criteria.at(criticalservice::toString(one)));
  return together;
}

// True if what the criterion waits for is there, or could be.
bool isAbout(const Model& model, const Criterion& criterion) {
  if (const auto* resource = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion))
    return slotOf(model, resource->object).has_value();
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  return std::ranges::any_of(model.slots, [&](const cluster::SlotInfo& slot) {
    const bool isCrd = slot.kind == cluster::SlotKind::Crd;
    return kube::meansType(type, isCrd ? kube::definedBy(slot.key.name) : slot.key.type) ||
           slot.key.type == type;
  });
}

class GuardComparer {
 public:
  GuardComparer(const Model& before, const Model& now) : before_(before), now_(now) {}

  GuardComparison compare() {
    if (!before_.guarded) return std::move(result_);
    former_ = providersOf(before_);
    if (!now_.guarded) {
      if (!former_.empty() || protectsAny(before_))
        lose("", "lastout is not there any more (`guard: false`), so nothing is guarded");
      return std::move(result_);
    }
    current_ = providersOf(now_);
    for (const auto& [key, provider] : former_) compareProvider(key, provider);
    compareDeferral();
    compareOthers();
    std::vector<LostGuard> protections = lostProtections(before_, now_);
    std::ranges::move(protections, std::back_inserter(result_.lost));
    return std::move(result_);
  }

 private:
  void lose(std::string object, std::string text) {
    result_.lost.push_back({std::move(object), std::move(text)});
  }

  void compareProvider(const kube::ObjectKey& key, const GuardedProvider& provider) {
    const std::string name = kube::toString(key);
    if (!slotOf(now_, key)) return comparePlace(key, provider);
    const auto current = current_.find(key);
    if (current == current_.end()) {
      std::vector<std::string> criteria;
      for (const auto& [words, criterion] : provider.criteria) criteria.push_back(words);
      return lose(name, name +
                            " may be deleted at any time: no CriticalService guards it any more. Before, " +
                            kube::listed(provider.services, kMostGuarded) + " kept it while there was " +
                            kube::listed(criteria, kMostGuarded));
    }
    for (const auto& [words, criterion] : provider.criteria)
      compareCriterion(name, words, criterion, current->second);
    compareIntents(name, provider, current->second);
    if (isWeaker(provider.enforcement, current->second.enforcement))
      lose(name, current->second.enforcement == EnforcementMode::Hold
                     ? name +
                           " may be deleted before its criteria hold, and then waits by its finalizer: that "
                           "cannot be taken back, and was denied before (`enforcement: Hold`)"
                     : "no finalizer keeps " + name +
                           " any more where API servers do not ask lastout (`enforcement: Deny`)");
    if (provider.guardsScaling && !current->second.guardsScaling)
      lose(name, name + " may be scaled to zero at any time: that is guarded no longer");
  }

  // Compares which of the CriticalServices may go before their provider, after which nothing guards it.
  void compareIntents(const std::string& provider, const GuardedProvider& former,
                      const GuardedProvider& current) {
    std::map<std::string, std::vector<std::string>> criteria;  // by the CriticalService that may go
    for (const auto& [words, criterion] : former.criteria) {
      const std::optional<GuardingCriterion> found = stillGuarding(current, criterion.criterion);
      if (found && isWeaker(criterion.intent, found->intent))
        criteria[found->service].push_back(criticalservice::toString(found->criterion));
    }
    for (const auto& [service, words] : criteria)
      lose(service, service + " may be deleted before " + provider + " (`deletionIntent: " +
                        std::string(toString(current.criteria.at(words.front()).intent)) +
                        "`), and no longer waits for " + kube::listed(words, kMostGuarded) + " then");
  }

  // Compares whether lastout deletes later what it denied; of use where it denies something in both.
  void compareDeferral() {
    if (!before_.runsDeferredDeletions || now_.runsDeferredDeletions) return;
    if ((former_.empty() && !protectsAny(before_)) || (current_.empty() && !protectsAny(now_))) return;
    lose("",
         "lastout no longer deletes later, by itself, what it denied to controllers, nor keeps works until "
         "then "
         "(`carryOut: false`)");
  }

  // The provider is gone. A service that meant it, and stays, has to mean something else that is there.
  void comparePlace(const kube::ObjectKey& key, const GuardedProvider& provider) {
    const std::string name = kube::toString(key);
    for (const CriticalService& service : now_.serviceSpecs) {
      const std::string words = criticalservice::nameInWords(service.meta.name);
      if (std::ranges::find(provider.services, words) == provider.services.end()) continue;
      if (!guards(service) || current_.contains(service.provider)) continue;
      return lose(kube::toString(service.provider), words + " guards nothing any more: its provider " +
                                                        kube::toString(service.provider) + " is not there");
    }
    result_.notes.push_back(name + " is not there any more, and was guarded by " +
                            kube::listed(provider.services, kMostGuarded));
  }

  void compareCriterion(const std::string& provider, const std::string& words,
                        const GuardingCriterion& criterion, const GuardedProvider& current) {
    const std::optional<GuardingCriterion> found = stillGuarding(current, criterion.criterion);
    if (!found) {
      if (!isAbout(now_, criterion.criterion))
        result_.notes.push_back(provider + " no longer waits for " + words + ", which is not there either");
      else if (const std::string lost = narrowed(current, criterion.criterion); !lost.empty())
        lose(provider, provider + " may be deleted while there is " + lost);
      else
        lose(provider, provider + " may be deleted while there is " + words + ": no criterion of " +
                           kube::listed(current.services, kMostGuarded) + " names that any more");
      return;
    }
    if (criterion.isAtStart && !found->isAtStart)
      lose(provider, provider + " may be deleted while there is " + words +
                         ", until a step creates the CriticalService that names it");
    if (!criterion.isLenient && found->isLenient)
      lose(provider, provider + " no longer waits for " + words +
                         " where that type is not installed (`ifNotInstalled: Met`)");
  }

  // True if lastout decides the DELETE for the sake of a provider that is guarded in both models.
  bool isGuardedFor(const Model& model, Slot slot, const kube::ObjectKey& provider) const {
    return std::ranges::any_of(model.slots[slot].guardEntries, [&](const admission::GuardEntry& entry) {
      return entry.service < model.serviceSpecs.size() && guards(model.serviceSpecs[entry.service]) &&
             model.serviceSpecs[entry.service].provider == provider;
    });
  }

  // Compares the objects that are guarded because a provider needs them.
  void compareOthers() {
    for (const auto& [key, provider] : former_) {
      const auto current = current_.find(key);
      if (current == current_.end()) continue;
      std::vector<std::string> objects;
      for (Slot slot = 0; slot < before_.slots.size(); ++slot) {
        const kube::ObjectKey& object = before_.slots[slot].key;
        if (object.type == criticalservice::criticalServiceType() || !isGuardedFor(before_, slot, key))
          continue;
        const std::optional<Slot> now = slotOf(now_, object);
        if (now && !isGuardedFor(now_, *now, key)) objects.push_back(kube::toString(object));
      }
      if (objects.empty()) continue;
      const bool isWanted = provider.dependencies == current->second.dependencies;
      const std::string words = kube::listed(objects, kMostGuarded);
      const std::string name = kube::toString(key);
      if (isWanted)
        result_.notes.push_back(name + " no longer needs " + words + ", so that is guarded no longer");
      else
        lose(objects.front(), words + " may be deleted at any time: `guard.dependencies` of " +
                                  kube::listed(current->second.services, kMostGuarded) + " leaves out that " +
                                  name + " needs it");
    }
  }

  const Model& before_;
  const Model& now_;
  GuardedProviders former_;
  GuardedProviders current_;
  GuardComparison result_;
};

}  // namespace

GuardComparison compareGuards(const Model& before, const Model& now) {
  return GuardComparer(before, now).compare();
}

}  // namespace lastout::prove
