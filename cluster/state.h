// State: what can change while a model runs, in a few words of 64 bits, comparable and hashable as bytes.
//
// A uid needs no number: what must be told apart is only "the object I meant" from "another one of that
// name". When an object is created again, everything that still means the old one (owner references, a work's
// record, a request under way) is marked as stale there and then.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "cluster/model.h"
#include "cluster/state_parts.h"

namespace lastout::cluster {

enum class Presence : uint8_t { Absent, Live, Terminating };
// What a Pod's `value` holds.
inline constexpr uint8_t kReady = 1;
inline constexpr uint8_t kStopped = 2;  // the node has reported it stopped
// LiveCluster, where others decide: the namespace controller's DELETE of the live Pod was refused.
inline constexpr uint8_t kDeletionRefused = 4;

enum class OwnerState : uint8_t { None, Current, Dangling };

// A DELETE that lastout reviews, between submit and commit; or lastout's letting go of a held provider,
// between its decision and the patch.
struct Flight {
  enum class Phase : uint8_t {
    None,
    Decided,
    Confirmed
  };  // allowed at first sight; allowed after the confirming read
  Phase phase = Phase::None;
  bool touched = false;          // the object changed since: storage conflict, another review
  bool stale = false;            // the object was created again since: the uid precondition fails
  bool criteriaWereMet = false;  // by an independent reading, when the confirming read was made
};

// A denied DELETE that lastout will run.
struct DeferredDeletionState {
  PropagationPolicy policy = PropagationPolicy::Background;
  bool byPerson = false;  // it is wanted whoever owns the object
  friend bool operator==(const DeferredDeletionState&, const DeferredDeletionState&) = default;
};

// One slot. The word packs: presence 2, finalizers 16, owners 8x2, value 8, form 4, GC flight 5, namespace
// flight 5, lastout's flight 5, deferred 3.
struct ObjectState {
  Presence presence = Presence::Absent;
  uint16_t finalizers = 0;
  uint16_t owners = 0;  // two bits an owner link
  uint8_t value = 0;    // workload: replicas; Pod: the bits above; CriticalService: intent
  uint8_t form = 0;     // which of SlotInfo::forms
  Flight collector;     // a DELETE by the garbage collector
  Flight lifecycle;     // a DELETE by the namespace controller
  Flight lastout;       // a DELETE by lastout, of what was deferred; of a provider that
                        // terminates, its release
  std::optional<DeferredDeletionState> deferredDeletion;  // control/deferred_deletion_rule.h

  bool present() const { return presence != Presence::Absent; }
  bool live() const { return presence == Presence::Live; }
  bool terminating() const { return presence == Presence::Terminating; }
  // Forgets a controller's deletion: the object has an owner again, or is to stay. A person's stands.
  void takeBackDeferredDeletion() {
    if (deferredDeletion && !deferredDeletion->byPerson) deferredDeletion.reset();
  }
  OwnerState owner(size_t i) const {
    return isUnblocked(i) ? OwnerState::Current : static_cast<OwnerState>(ownerBits(i));
  }
  void setOwner(size_t i, OwnerState s) { setOwnerBits(i, static_cast<unsigned>(s)); }
  // The reference means its owner, and the garbage collector has set its blockOwnerDeletion to false.
  bool isUnblocked(size_t i) const { return ownerBits(i) == kUnblocked; }
  void unblock(size_t i) { setOwnerBits(i, kUnblocked); }

 private:
  static constexpr unsigned kUnblocked = 3;  // behind those of OwnerState
  unsigned ownerBits(size_t i) const { return (static_cast<unsigned>(owners) >> (2 * i)) & 3u; }
  void setOwnerBits(size_t i, unsigned bits) {
    owners = static_cast<uint16_t>((owners & ~(3u << (2 * i))) | (bits << (2 * i)));
  }
};

uint64_t pack(const ObjectState& state);
ObjectState unpack(uint64_t word);

// A work's link to an applied object: recorded in the AppliedManifestWork's status; recorded with another
// uid.
struct LinkState {
  bool recorded = false;
  bool stale = false;
};

struct WorkState {
  bool deleting = false;  // a pass over the applied objects is under way
  uint8_t next = 0;       // the link that the pass looks at next
  Flight flight;          // its DELETE of that link's object
};

struct StepState {
  bool sent = false;  // its first request was made
  bool done = false;
  Flight flight;
};

// Where things lie in the words of a state; the same for all states of a model.
struct Layout {
  // How many there can be of each.
  struct Counts {
    uint32_t slots = 0;
    uint32_t works = 0;
    uint32_t steps = 0;
    uint32_t links = 0;
  };
  explicit Layout(const Counts& counts);
  explicit Layout(const Model& model);  // as many as the model has
  uint32_t monitors = 0;  // word 0: which watched events have happened; bit 63: an unsafe commit
  uint32_t objects = 1;
  uint32_t works = 0;  // 16 bits each
  uint32_t steps = 0;  // 8 bits each
  uint32_t links = 0;  // 2 bits each
  uint32_t words = 0;  // in all
};

inline constexpr uint64_t kUnsafeBit = uint64_t{1} << 63;

// A view of one state's words; cheap to copy; reads and writes in place.
class StateRef {
 public:
  StateRef(uint64_t* words, const Layout& layout) : words_(words), layout_(&layout) {}

  ObjectState object(Slot slot) const {
    noteRead(StatePart::Kind::Object, slot, 0);
    return unpack(words_[layout_->objects + slot]);
  }
  void setObject(Slot slot, const ObjectState& state) { words_[layout_->objects + slot] = pack(state); }
  Presence presence(Slot slot) const {
    noteRead(StatePart::Kind::Object, slot, kPresenceField);
    return static_cast<Presence>(words_[layout_->objects + slot] & 3);
  }
  uint16_t finalizers(Slot slot) const {
    noteRead(StatePart::Kind::Object, slot, kFinalizersField);
    return static_cast<uint16_t>(words_[layout_->objects + slot] >> 2);
  }
  WorkState work(uint32_t work) const;
  void setWork(uint32_t work, const WorkState& state);
  StepState step(uint32_t step) const;
  void setStep(uint32_t step, const StepState& state);
  LinkState link(uint32_t link) const;
  void setLink(uint32_t link, const LinkState& state);
  uint64_t monitors() const { return words_[0]; }
  void setMonitors(uint64_t bits) { words_[0] = bits; }
  std::span<const uint64_t> words() const { return {words_, layout_->words}; }

 private:
  uint64_t* words_;
  const Layout* layout_;
};

}  // namespace lastout::cluster

#include "cluster/state_impl.h"
