#include "bench/teardown/figures.h"

#include <algorithm>

namespace lastout::bench {
namespace {

const kube::GroupResource kWorkType{"work.open-cluster-management.io", "manifestworks"};

Lifetime lifetimeOf(const std::map<kube::ObjectKey, Lifetime>& all, const kube::ObjectKey& key) {
  const auto found = all.find(key);
  return found == all.end() ? Lifetime() : found->second;
}

// Returns when the last object that the provider waits for was gone; nullopt: one still exists.
std::optional<Milliseconds> freeAt(const Operator& one, const TeardownHistory& history) {
  Milliseconds last{0};
  for (const kube::ObjectKey& object : one.awaited) {
    const Lifetime lifetime = lifetimeOf(history.objects, object);
    if (!lifetime.goneAt) return std::nullopt;
    last = std::max(last, *lifetime.goneAt);
  }
  return last;
}

void addProvider(Figures& figures, const Operator& one, const TeardownHistory& history) {
  const std::optional<Milliseconds> free = freeAt(one, history);
  const Lifetime provider = lifetimeOf(history.objects, one.provider);
  const std::optional<Milliseconds> deleted = provider.deletedAt;
  if (free && !deleted) ++figures.providersStuck;
  if (deleted && (!free || *deleted < *free)) ++figures.providersEarly;
  // A controller whose first DELETE comes later than that need not wait for anybody.
  if (free && deleted)
    figures.waits.push_back(*deleted - std::max(*free, provider.askedAt.value_or(*deleted)));
}

void addWork(Figures& figures, const FleetWork& work, const TeardownHistory& history) {
  const kube::ObjectKey key{kWorkType, kWorksNamespace, work.name};
  const std::optional<Milliseconds> reported = lifetimeOf(history.works, key).goneAt;
  std::string early;
  for (const kube::ObjectKey& object : work.applied) {
    const std::optional<Milliseconds> gone = lifetimeOf(history.objects, object).goneAt;
    if (!gone) figures.left.push_back(toString(object));
    if (gone) figures.total = std::max(figures.total, *gone - history.begunAt);
    if (reported && (!gone || *gone > *reported)) early += (early.empty() ? "" : ", ") + toString(object);
  }
  if (!early.empty()) figures.early.push_back(work.name + ": " + early);
  if (reported) figures.total = std::max(figures.total, *reported - history.begunAt);
  if (reported) return;
  ++figures.worksLeft;
  figures.left.push_back(toString(key));
}

}  // namespace

Figures figuresOf(const Fleet& fleet, const TeardownHistory& history) {
  Figures figures;
  figures.denied = history.denied;
  figures.deletedByLastout = history.deletedByLastout;
  figures.unasked = history.unasked;
  for (const Operator& one : fleet.operators) {
    addProvider(figures, one, history);
    for (const FleetWork& work : one.works) addWork(figures, work, history);
  }
  figures.isEmpty = figures.left.empty();
  return figures;
}

}  // namespace lastout::bench
