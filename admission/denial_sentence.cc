// The sentence of a DenialText, and the phrase of each blocker.
#include <algorithm>
#include <array>

#include "admission/denial_text.h"
#include "admission/text_writer.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

constexpr size_t kBlockersInSentence = 3;  // the others are counted
constexpr size_t kLongestWithMore = 650;   // bytes of a sentence that another blocker may still be added to
constexpr size_t kLongNames = 160;         // bytes of a name in a sentence
constexpr size_t kShortNames = 56;         // the same where the sentence would be too long

bool isSame(const KeyView& a, const KeyView& b) {
  return a.name == b.name && a.namespaceName == b.namespaceName && a.resource == b.resource &&
         a.group == b.group;
}

}  // namespace

std::string DenialText::sentence() const {
  std::string text = sentence(kLongNames, true);
  if (text.size() > kLongestMessage) text = sentence(kShortNames, true);
  return text.size() <= kLongestMessage ? text : sentence(kShortNames, false);
}

std::string DenialText::heldSentence() const {
  TextWriter text(kShortNames * 2, reader_);
  text.key(object_) << kHeldSentence << "it may go: ";
  writeList(text, kShortNames * 2);
  writeUnresolvable(text, true);
  return text.take();
}

std::string DenialText::sentence(size_t longestName, bool withRoots) const {
  TextWriter text(longestName, reader_);
  text.key(object_);
  const auto left = [](const Blocker& blocker) { return blocker.reason == Reason::ServicesLeft; };
  if (std::ranges::any_of(shown(), left)) {
    // What else blocks lastout's own namespace is gone once the CriticalServices are.
    writeServicesLeft(text);
    return text.take();
  }
  writeSubject(text);
  const Remedy remedy = writeList(text, longestName);
  if (withRoots && roots_.size() > 0) roots_.writeAll(text << "; ");
  writeAdvice(text, remedy, withRoots);
  return text.take();
}

void DenialText::Remedy::add(const Remedy& other) {
  live = live || other.live;
  waiting = waiting || other.waiting;
  unseen = unseen || other.unseen;
  meaningless = meaningless || other.meaningless;
  objects += other.objects;
  if (other.forbidden) forbidden = other.forbidden;
}

// Why the object is guarded, up to the word before its first blocker.
void DenialText::writeSubject(TextWriter& text) const {
  const Blocker& blocker = first_[0];
  const criticalservice::CriticalService& service = serviceOf(blocker);
  if (guardedAs(blocker) == GuardedAs::Service) {
    text << (isItself() ? " must stay while " : " must stay, with all that it defines, while ");
    return;
  }
  if (guardedAs(blocker) == GuardedAs::Dependency) {
    writeNeed(text, blocker);
    text << ", and must stay while ";
    return;
  }
  const bool holds = guardedAs(blocker) == GuardedAs::ProviderAncestor;
  if (holds) writeAncestor(text, service);
  const bool replaced = replacement(service).has_value();
  if (replaced) text << ", which replaced the one that was seen first";
  text.either(holds || replaced, ",", "").either(holds, " the provider of ", " is the provider of ");
  text.service(service.meta.name) << (holds ? ", and must stay " : " and must stay ");
  if (guards_ > 1) {
    text.letter('(').number(guards_ - 1) << (guards_ > 2 ? " other CriticalServices guard it too) "
                                                         : " other CriticalService guards it too) ");
  }
  text << "while ";
}

// A namespace, a CRD, or what owns the provider.
void DenialText::writeAncestor(TextWriter& text, const criticalservice::CriticalService& service) const {
  const bool isSeen = graph_.find(service.provider).has_value();
  const bool defines = object_.isOf(kube::kCustomResourceDefinitions);
  text.either(isSeen, "", " may");
  if (object_.isOf(kube::kNamespaces))
    text << " hold";
  else
    text.either(defines, " define", " own");
  text.either(isSeen, "s ", " ").key(viewOf(service.provider));
}

// What the object is to the provider.
void DenialText::writeNeed(TextWriter& text, const Blocker& blocker) const {
  const Dependencies& dependencies = index_.dependencies(guardEntries_[blocker.guardEntry].service);
  const auto found = std::ranges::find_if(dependencies, [&](const criticalservice::Dependency& dependency) {
    return isSame(viewOf(dependency.object), object_);
  });
  text << " is needed by a provider";
  if (found != dependencies.end()) (text << " (").name(found->why) << ")";
}

DenialText::Remedy DenialText::writeList(TextWriter& text, size_t longestName) const {
  std::array<size_t, kMostCauses> distinct{};
  size_t count = 0;
  for (size_t i = 0; i < shown_; ++i) {
    const bool repeated =
        guards_ > 1 && std::any_of(distinct.begin(), distinct.begin() + count,
                                   [&](size_t other) { return sameWords(first_[other], first_[i]); });
    if (!repeated) distinct[count++] = i;
  }
  const size_t all = count + (total_ - shown_);
  Remedy remedy;
  size_t told = 0;
  for (; told < std::min(count, kBlockersInSentence); ++told) {
    if (told > 0 && text.size() > kLongestWithMore) break;
    text.separator(told, all);
    writeInSentence(text, distinct[told], longestName);
    remedy.add(phrases_[distinct[told]].remedy);
  }
  if (told < all) (text << " and ").number(all - told) << " more";
  remedy.objects += all - told;
  return remedy;
}

void DenialText::writeInSentence(TextWriter& text, size_t shown, size_t longestName) const {
  const Phrase& phrase = phrases_[shown];
  if (!waitsForProvider(first_[shown]) && phrase.longestName <= longestName) {
    text << causes_.message(shown);
    return;
  }
  Phrase again;
  writeBlocker(text, first_[shown], again, true);
}

void DenialText::writeBlocker(TextWriter& text, const Blocker& blocker, Phrase& phrase,
                              bool inSentence) const {
  switch (blocker.reason) {
    case Reason::ProviderPresent:
    case Reason::ProviderUnknown:
      return writeProvider(text, blocker, phrase, inSentence);
    case Reason::ServicesLeft:
      text.service(serviceOf(blocker).meta.name) << " exists";
      return;
    case Reason::CriterionUnknown:
      return writeUnknown(text, blocker, phrase);
    default:
      return writeUnmetCriterion(text, blocker, phrase);
  }
}

void DenialText::writeUnmetCriterion(TextWriter& text, const Blocker& blocker, Phrase& phrase) const {
  admission::writeUnmetCriterion(text, graph_, serviceOf(blocker).criteria[blocker.criterion],
                                 conditionOf(blocker), phrase.holders);
  const bool live = phrase.holders.live;
  phrase.remedy = {live, !live, false, phrase.holders.count, std::nullopt};
}

void DenialText::writeUnknown(TextWriter& text, const Blocker& blocker, Phrase& phrase) const {
  const criticalservice::Criterion& criterion = serviceOf(blocker).criteria[blocker.criterion];
  const graph::Knowledge knowledge = graph_.knowledge(conditionOf(blocker));
  writeNotKnown(text, graph_, criterion, knowledge);
  phrase.remedy.unseen = true;
  phrase.remedy.meaningless = knowledge == graph::Knowledge::NotUnderstood;
  if (knowledge == graph::Knowledge::Forbidden)
    phrase.remedy.forbidden = graph::leastKnownOf(graph_, criticalservice::typeOf(criterion));
}

void DenialText::writeProvider(TextWriter& text, const Blocker& blocker, Phrase& phrase,
                               bool inSentence) const {
  const criticalservice::CriticalService& service = serviceOf(blocker);
  const bool unknown = blocker.reason == Reason::ProviderUnknown;
  if (unknown) text << "it is not known whether ";
  (text << (inSentence && isItself() ? "its provider " : "provider ")).key(viewOf(service.provider));
  if (inSentence && !isItself()) (text << " of ").service(service.meta.name);
  if (unknown) {
    const graph::Knowledge knowledge = graph_.knowledge(conditionOf(blocker));
    (text << " is gone (").unknownBecause(graph_, service.provider.type, knowledge) << ")";
    phrase.remedy.unseen = true;
    if (knowledge == graph::Knowledge::Forbidden) phrase.remedy.forbidden = service.provider.type;
    return;
  }
  findHolders(graph_, conditionOf(blocker), phrase.holders);
  const bool live = phrase.holders.live;
  if (inSentence && replacement(service)) text << ", which replaced the one that was seen first,";
  text << (live ? " is present" : " is present (being deleted)");
  phrase.remedy = {live, !live, false, 1, std::nullopt};
}

void DenialText::writeServicesLeft(TextWriter& text) const {
  const size_t all = index_.size();
  const bool one = all == 1;
  text << " is where lastout runs, and must stay while ";
  if (!one) text.number(all) << " CriticalServices exist (" << (all > Holders::kShown ? "among them " : "");
  const size_t wanted = std::min(all, Holders::kShown);
  size_t told = 0;
  const criticalservice::CriticalService* last = nullptr;
  for (const Blocker& blocker : shown()) {
    const criticalservice::CriticalService& service = serviceOf(blocker);
    if (&service == last || told == wanted) continue;
    last = &service;
    text.separator(told++, wanted).service(service.meta.name);
  }
  text << (one ? " exists; " : "); ");
  Holders services;
  findHolders(graph_, index_.allServices(), services);
  if (services.live) {
    text << (one ? "delete it first" : "delete them first");
  } else {
    text << (one ? "it is being deleted: try again when it is gone"
                 : "they are being deleted: try again when they are gone");
  }
}

bool DenialText::writeUnresolvable(TextWriter& text, bool withRoots) const {
  if (!withRoots) return false;  // there is no room for it
  for (const Blocker& blocker : shown()) {
    if (blocker.reason != Reason::CriterionUnmet) continue;
    const Dependencies& dependencies = index_.dependencies(guardEntries_[blocker.guardEntry].service);
    if (admission::writeUnresolvable(text, graph_, serviceOf(blocker), blocker.criterion, dependencies))
      return true;
  }
  if (!roots_.hasRing()) return false;
  (text << kNoDeletion) << "change one of their criteria, or " << kBreakRing;
  return true;
}

void DenialText::writeAdvice(TextWriter& text, const Remedy& remedy, bool withRoots) const {
  if (writeUnresolvable(text, withRoots)) return;
  const bool one = remedy.objects == 1;
  const bool providers = waitsForProvider(first_[0]);
  const std::string_view atRoot = withRoots ? roots_.advice() : std::string_view();
  text << "; ";
  // The CriticalService may be wrong, and nobody should delete data for it.
  if (guardedAs(first_[0]) == GuardedAs::Service)
    text << "to stop guarding, set spec.deletionIntent of the "
         << (remedy.objects > 1 ? "CriticalServices" : "CriticalService")
         << " to BestEffortDeletion, and delete again; or ";
  if (remedy.live && remedy.waiting) {
    text << "delete first what is not being deleted yet"
         << (atRoot.empty() ? "" : ", beginning with the root blocker");
  } else if (remedy.live && providers) {
    text << (one ? "delete the provider first" : "delete the providers first");
  } else if (remedy.live) {
    text << (one ? "delete it first" : "delete them first");
  } else if (remedy.waiting && !atRoot.empty()) {
    text << atRoot;
  } else if (remedy.waiting) {
    text << (one ? "try again when it is gone" : "try again when they are gone");
  }
  if (remedy.unseen && (remedy.live || remedy.waiting)) text << ", and ";
  if (remedy.forbidden) {
    text.grant(*remedy.forbidden);
  } else if (remedy.meaningless) {
    text << "mend what is not understood, or set spec.deletionIntent of the CriticalService to "
            "OrphanResources";
  } else if (remedy.unseen) {
    text << "try again when lastout can tell";
  }
}

}  // namespace lastout::admission
