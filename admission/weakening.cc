#include "admission/weakening.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "kube/messages.h"

namespace lastout::admission {
namespace {

using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::DependencyMode;

// "a, b, c and 2 more".
constexpr size_t kMostNamed = 3;

template <class Items>
std::string listOf(const Items& items) {
  return kube::listed(kube::wordsOf(items), kMostNamed);
}

template <class Item>
std::vector<Item> without(const std::vector<Item>& items, const std::vector<Item>& others) {
  std::vector<Item> left;
  std::ranges::copy_if(items, std::back_inserter(left),
                       [&](const Item& item) { return std::ranges::find(others, item) == others.end(); });
  return left;
}

void addCriteria(const CriticalService& former, const CriticalService& now, std::vector<std::string>& found) {
  if (!now.notUnderstood.empty()) return;  // it has one that is never met
  const std::vector<Criterion> criteria = writtenCriteria(now);
  for (const Criterion& criterion : writtenCriteria(former)) {
    const std::vector<Criterion> still = stillAsking(criteria, criterion);
    if (const auto* narrowed = narrowedOf(criteria, criterion); still.empty() && narrowed != nullptr)
      found.push_back("spec.criteria has " + std::string(criticalservice::fieldOf(narrowed->scope)) +
                      " for " + toString(criterion));
    else if (still.empty())
      found.push_back("spec.criteria does not have " + toString(criterion) + " any more");
    else if (std::ranges::all_of(still, criticalservice::isMetIfNotInstalled) &&
             !isMetIfNotInstalled(criterion))
      found.push_back("spec.criteria has ifNotInstalled: Met for " + toString(criterion));
  }
}

void addDependencies(const CriticalService& former, const CriticalService& now,
                     std::vector<std::string>& found) {
  const std::string field(criticalservice::kDependenciesField);
  const auto& before = former.dependencies;
  const auto& after = now.dependencies;
  if (after.mode == DependencyMode::None && before.mode != DependencyMode::None)
    found.push_back(field + " is None");
  if (after.mode != DependencyMode::Listed) return;
  if (before.mode == DependencyMode::Auto) found.push_back(field + " is a list");
  if (const auto gone = without(before.listed, after.listed); !gone.empty())
    found.push_back(field + " does not list " + listOf(gone) + " any more");
}

}  // namespace

std::string_view toString(Weakening::Kind kind) {
  return kind == Weakening::Kind::Dependency ? "dependency" : "criticalservice";
}

Reliance relianceOf(const CriticalService& service, const criticalservice::Needed& needed,
                    std::vector<std::string> apis) {
  Reliance found;
  for (const criticalservice::Dependency& dependency : needed.guarded)
    found.needed.push_back(dependency.object);
  std::ranges::copy(needed.leftOut, std::back_inserter(found.needed));
  for (const Criterion& criterion : service.criteria) {
    if (std::holds_alternative<criticalservice::InstancesCriterion>(criterion))
      found.converted.push_back(typeOf(criterion));
  }
  found.apis = std::move(apis);
  return found;
}

std::string lostOf(const Reliance& former, const Reliance& now) {
  std::vector<std::string> lost;
  if (const auto needed = without(former.needed, now.needed); !needed.empty())
    lost.push_back("the provider is not seen to need " + listOf(needed) +
                   " any more, so that nothing guards " + (needed.size() == 1 ? "it" : "them"));
  if (const auto converted = without(former.converted, now.converted); !converted.empty())
    lost.push_back("the provider does not wait for " + listOf(converted) +
                   " any more, as it is not seen to convert " + (converted.size() == 1 ? "it" : "them"));
  for (const std::string& api : without(former.apis, now.apis))
    lost.push_back("APIService " + api + " does not lead to the provider any more");
  std::string text;
  for (const std::string& one : lost) text += (text.empty() ? "" : "; ") + one;
  return text;
}

std::vector<std::string> weakerThan(const CriticalService& former, const CriticalService& now) {
  std::vector<std::string> found;
  if (former.intent == DeletionIntent::OrphanResources) return found;
  if (now.provider != former.provider) {
    found.push_back("spec.provider is not " + toString(former.provider) + " any more");
    return found;
  }
  if (isWeaker(former.intent, now.intent))
    found.push_back("spec.deletionIntent is " + std::string(toString(now.intent)));
  addCriteria(former, now, found);
  if (isWeaker(former.enforcement, now.enforcement))
    found.push_back("spec.enforcement is " + std::string(toString(now.enforcement)));
  addDependencies(former, now, found);
  if (former.guardsScaling && !now.guardsScaling) found.emplace_back("spec.guard.scaleToZero is off");
  return found;
}

}  // namespace lastout::admission
