// DenialText: the text of a denial: its blockers in their order, its sentence and its causes. Internal to
// admission/explain.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "admission/cause_list.h"
#include "admission/explain.h"
#include "admission/root_blockers.h"
#include "admission/text_writer.h"

namespace lastout::admission {

// Follows the name of a held provider, before the blockers. API servers cut warnings off after 256 bytes, so
// the important part comes first.
inline constexpr char kHeldSentence[] = " may be deleted, but waits to be finalized until ";

class DenialText {
 public:
  // Keeps references to all of its arguments. `deletionEffect`: of the DELETE that is denied.
  DenialText(ExplanationReader reader, const graph::Graph& graph, const GuardIndex& index,
             const KeyView& object, DeletionEffect deletionEffect = DeletionEffect::Ending);

  bool empty() const {
    return shown_ == 0;
  }  // nothing blocks: the verdict was made of other facts than these
  // Not when empty. The sentence, in at most kLongestMessage bytes.
  std::string sentence() const;
  // The same for a provider that is held: what it waits for once it is deleted.
  std::string heldSentence() const;
  void moveCausesTo(Explanation& explanation) const { causes_.moveTo(explanation); }  // after the sentence

 private:
  struct Blocker {
    uint32_t guardEntry = 0;
    uint32_t criterion = 0;
    Reason reason = Reason::NotGuarded;
  };
  // What blockers ask a person to do.
  struct Remedy {
    bool live = false;     // something can be deleted, and is not being deleted yet
    bool waiting = false;  // something is being deleted, or waits for something else itself
    bool unseen = false;   // something is not known
    uint64_t objects = 0;  // how many things there are to wait for
    std::optional<kube::GroupResource> forbidden;  // what lastout may not list
    bool meaningless = false;                      // something is not understood
    void add(const Remedy& other);
  };
  // What words the part of the sentence that is about one cause: its names, holders and remedy.
  struct Phrase {
    size_t longestName = 0;  // in them
    Remedy remedy;
    Holders holders;  // empty: it is unknown whether there are any
  };

  const criticalservice::CriticalService& serviceOf(const Blocker& blocker) const;
  GuardedAs guardedAs(const Blocker& blocker) const { return guardEntries_[blocker.guardEntry].guardedAs; }
  graph::ConditionId conditionOf(const Blocker& blocker) const;
  std::span<const Blocker> shown() const { return {first_.data(), shown_}; }
  bool isItself() const { return object_.resource == "criticalservices"; }
  // Returns true if the presence of the provider blocks, not one of its criteria.
  bool waitsForProvider(const Blocker& blocker) const {
    return blocker.reason == Reason::ProviderPresent || blocker.reason == Reason::ProviderUnknown;
  }

  void gather(DeletionEffect deletionEffect);
  void phrase();
  void findRoots();
  bool comesBefore(const Blocker& a, const Blocker& b) const;
  bool sameWords(const Blocker& a, const Blocker& b) const;

  std::string sentence(size_t longestName, bool withRoots) const;
  void writeSubject(TextWriter& text) const;
  void writeAncestor(TextWriter& text, const criticalservice::CriticalService& service) const;
  void writeNeed(TextWriter& text, const Blocker& blocker) const;
  Remedy writeList(TextWriter& text, size_t longestName) const;
  void writeAdvice(TextWriter& text, const Remedy& remedy, bool withRoots) const;
  // Writes what no deletion resolves; false: there is nothing of that.
  bool writeUnresolvable(TextWriter& text, bool withRoots) const;
  void writeServicesLeft(TextWriter& text) const;

  void writeInSentence(TextWriter& text, size_t shown, size_t longestName) const;
  void writeBlocker(TextWriter& text, const Blocker& blocker, Phrase& phrase, bool inSentence) const;
  void writeUnmetCriterion(TextWriter& text, const Blocker& blocker, Phrase& phrase) const;
  void writeUnknown(TextWriter& text, const Blocker& blocker, Phrase& phrase) const;
  void writeProvider(TextWriter& text, const Blocker& blocker, Phrase& phrase, bool inSentence) const;

  void writeField(TextWriter& text, const Blocker& blocker) const;
  // Returns the service's provider if its uid differs from the recorded one; nullopt: it does not.
  std::optional<graph::ObjectId> replacement(const criticalservice::CriticalService& service) const;
  void addReplaced();

  const ExplanationReader reader_;
  const graph::Graph& graph_;
  const GuardIndex& index_;
  const KeyView& object_;
  std::span<const GuardEntry> guardEntries_;

  // The first blockers in the order of their services' names, so that the text does not depend on the order
  // of events.
  std::array<Blocker, kMostCauses> first_;
  std::array<Phrase, kMostCauses> phrases_;  // of the same
  CauseList causes_;                         // of the same, and then what is added
  RootBlockers roots_;
  size_t shown_ = 0;
  uint32_t total_ = 0;
  uint32_t guards_ = 0;  // guard entries that have a blocker
};

}  // namespace lastout::admission
