#include "admission/denial_text.h"

#include <algorithm>
#include <utility>

namespace lastout::admission {

const criticalservice::CriticalService& DenialText::serviceOf(const Blocker& blocker) const {
  return index_.service(guardEntries_[blocker.guardEntry].service);
}

// What it is that blocks: a criterion, or the provider.
graph::ConditionId DenialText::conditionOf(const Blocker& blocker) const {
  const ServiceRules& rules = index_.rules();
  const ServiceRule& rule = rules.services[guardEntries_[blocker.guardEntry].service];
  return graph::ConditionId{
      waitsForProvider(blocker) ? rule.provider : rules.criteria[rule.firstCriterion + blocker.criterion]};
}

DenialText::DenialText(ExplanationReader reader, const graph::Graph& graph, const GuardIndex& index,
                       const KeyView& object, DeletionEffect deletionEffect)
    : reader_(reader),
      graph_(graph),
      index_(index),
      object_(object),
      guardEntries_(index.guardEntries(object)),
      causes_(reader),
      roots_(graph) {
  gather(deletionEffect);
  phrase();
}

void DenialText::gather(DeletionEffect deletionEffect) {
  uint32_t last = graph::kNone;
  forEachBlocker(
      GraphFacts(graph_, index_), index_.rules(), guardEntries_,
      [&](uint32_t guardEntry, uint32_t criterion, Reason reason) {
        const Blocker blocker{guardEntry, criterion, reason};
        total_++;
        guards_ += guardEntry != last ? 1 : 0;
        last = guardEntry;
        if (shown_ == first_.size()) {
          if (!comesBefore(blocker, first_.back())) return true;
          shown_--;
        }
        size_t at = shown_++;
        for (; at > 0 && comesBefore(blocker, first_[at - 1]); --at) first_[at] = first_[at - 1];
        first_[at] = blocker;
        return true;
      },
      deletionEffect);
}

void DenialText::phrase() {
  for (size_t i = 0; i < shown_; ++i) {
    TextWriter& text = causes_.start(toString(first_[i].reason));
    text.forgetLongestName();
    writeBlocker(text, first_[i], phrases_[i], false);
    phrases_[i].longestName = text.longestName();
    writeField(causes_.startField(), first_[i]);
  }
  findRoots();
  addReplaced();
  if (total_ == shown_) return;
  causes_.start(kMoreBlockers).number(total_ - shown_) << " more";
}

void DenialText::findRoots() {
  for (size_t i = 0; i < shown_; ++i) {
    if (phrases_[i].holders.count == 1) roots_.leaveOut(phrases_[i].holders.examples[0]);
  }
  for (size_t i = 0; i < shown_; ++i) {
    const Holders& holders = phrases_[i].holders;
    for (size_t k = 0; k < holders.shown; ++k) {
      const size_t before = roots_.size();
      if (roots_.follow(holders.examples[k]) && holders.count == 1) {
        phrases_[i].remedy.live = false;
        phrases_[i].remedy.waiting = true;
      }
      for (size_t root = before; root < roots_.size(); ++root) {
        roots_.writeChain(causes_.start(kRootBlocker), root);
        writeField(causes_.startField(), first_[i]);
      }
    }
  }
}

bool DenialText::comesBefore(const Blocker& a, const Blocker& b) const {
  const GuardEntry& left = guardEntries_[a.guardEntry];
  const GuardEntry& right = guardEntries_[b.guardEntry];
  if (left.service != right.service) return serviceOf(a).meta.name < serviceOf(b).meta.name;
  return std::pair(left.guardedAs, a.criterion) < std::pair(right.guardedAs, b.criterion);
}

// Two services may wait for the same thing; the sentence says it once.
bool DenialText::sameWords(const Blocker& a, const Blocker& b) const {
  const bool isCriterion = a.reason == Reason::CriterionUnmet || a.reason == Reason::CriterionUnknown;
  return isCriterion && a.reason == b.reason && conditionOf(a) == conditionOf(b);
}

void DenialText::writeField(TextWriter& text, const Blocker& blocker) const {
  text.service(serviceOf(blocker).meta.name);
  if (guardedAs(blocker) == GuardedAs::Service) text << "#spec.provider";
  if (guardedAs(blocker) == GuardedAs::Dependency) (text << "#") << criticalservice::kDependenciesField;
  if (guardedAs(blocker) == GuardedAs::Provider || guardedAs(blocker) == GuardedAs::ProviderAncestor) {
    (text << "#") << criticalservice::fieldOf(serviceOf(blocker), blocker.criterion);
  }
}

std::optional<graph::ObjectId> DenialText::replacement(
    const criticalservice::CriticalService& service) const {
  if (service.providerUid.empty()) return std::nullopt;
  const auto provider = graph_.find(service.provider);
  // Of manifests no uid is known.
  const bool isThatOne =
      !provider || graph_.hasUid(*provider, "") || graph_.hasUid(*provider, service.providerUid);
  return isThatOne ? std::nullopt : provider;
}

void DenialText::addReplaced() {
  const criticalservice::CriticalService* last = nullptr;
  for (const Blocker& blocker : shown()) {
    const criticalservice::CriticalService& service = serviceOf(blocker);
    if (&service == last) continue;
    last = &service;
    const auto replacing = replacement(service);
    if (!replacing) continue;
    causes_.start(kProviderReplaced).key(viewOf(service.provider))
        << " has uid " << graph_.uid(*replacing) << ", the one that was seen first had "
        << service.providerUid;
    causes_.startField().service(service.meta.name) << "#status.provider.uid";
  }
}

}  // namespace lastout::admission
