// How the packed words of a state are read and written. Inline: a proof does this a hundred million times.
#pragma once

#include "cluster/state.h"

namespace lastout::cluster {

namespace detail {

// Where the fields of an object's word start.
inline constexpr unsigned kFinalizersAt = 2;
inline constexpr unsigned kOwnersAt = 18;
inline constexpr unsigned kValueAt = 34;
inline constexpr unsigned kFormAt = 42;
inline constexpr unsigned kCollectorAt = 46;
inline constexpr unsigned kLifecycleAt = 51;
inline constexpr unsigned kLastoutAt = 56;
inline constexpr unsigned kDeferredDeletionAt = 61;
inline constexpr unsigned kFlightBits = 5;

constexpr uint64_t mask(unsigned bits) { return (uint64_t{1} << bits) - 1; }

inline uint64_t packFlight(const Flight& flight) {
  return static_cast<uint64_t>(flight.phase) | (uint64_t{flight.touched} << 2) |
         (uint64_t{flight.stale} << 3) | (uint64_t{flight.criteriaWereMet} << 4);
}

inline Flight unpackFlight(uint64_t bits) {
  return {.phase = static_cast<Flight::Phase>(bits & 3),
          .touched = (bits & 4) != 0,
          .stale = (bits & 8) != 0,
          .criteriaWereMet = (bits & 16) != 0};
}

inline uint64_t packDeferredDeletion(const std::optional<DeferredDeletionState>& deferredDeletion) {
  return deferredDeletion ? (static_cast<uint64_t>(deferredDeletion->policy) + 1) |
                                (uint64_t{deferredDeletion->byPerson} << 2)
                          : 0;
}

inline std::optional<DeferredDeletionState> unpackDeferredDeletion(uint64_t bits) {
  if ((bits & 3) == 0) return std::nullopt;
  return DeferredDeletionState{static_cast<PropagationPolicy>((bits & 3) - 1), (bits & 4) != 0};
}

// Item `index` of an array of fields of `bits` bits that starts at a word; no field straddles words.
inline uint64_t getField(const uint64_t* words, uint32_t index, unsigned bits) {
  const unsigned perWord = 64 / bits;
  return (words[index / perWord] >> (bits * (index % perWord))) & mask(bits);
}

inline void setField(uint64_t* words, uint32_t index, unsigned bits, uint64_t value) {
  const unsigned perWord = 64 / bits;
  const unsigned shift = bits * (index % perWord);
  uint64_t& word = words[index / perWord];
  word = (word & ~(mask(bits) << shift)) | (value << shift);
}

inline constexpr unsigned kWorkBits = 16;
inline constexpr unsigned kStepBits = 8;
inline constexpr unsigned kLinkBits = 2;

}  // namespace detail

inline uint64_t pack(const ObjectState& state) {
  return static_cast<uint64_t>(state.presence) | (uint64_t{state.finalizers} << detail::kFinalizersAt) |
         (uint64_t{state.owners} << detail::kOwnersAt) | (uint64_t{state.value} << detail::kValueAt) |
         (uint64_t{state.form} << detail::kFormAt) |
         (detail::packFlight(state.collector) << detail::kCollectorAt) |
         (detail::packFlight(state.lifecycle) << detail::kLifecycleAt) |
         (detail::packFlight(state.lastout) << detail::kLastoutAt) |
         (detail::packDeferredDeletion(state.deferredDeletion) << detail::kDeferredDeletionAt);
}

inline ObjectState unpack(uint64_t word) {
  ObjectState state;
  state.presence = static_cast<Presence>(word & 3);
  state.finalizers = static_cast<uint16_t>(word >> detail::kFinalizersAt);
  state.owners = static_cast<uint16_t>(word >> detail::kOwnersAt);
  state.value = static_cast<uint8_t>(word >> detail::kValueAt);
  state.form = static_cast<uint8_t>((word >> detail::kFormAt) & detail::mask(4));
  state.collector = detail::unpackFlight((word >> detail::kCollectorAt) & detail::mask(detail::kFlightBits));
  state.lifecycle = detail::unpackFlight((word >> detail::kLifecycleAt) & detail::mask(detail::kFlightBits));
  state.lastout = detail::unpackFlight((word >> detail::kLastoutAt) & detail::mask(detail::kFlightBits));
  state.deferredDeletion = detail::unpackDeferredDeletion(word >> detail::kDeferredDeletionAt);
  return state;
}

inline WorkState StateRef::work(uint32_t work) const {
  noteRead(StatePart::Kind::Work, work, 0);
  const uint64_t bits = detail::getField(words_ + layout_->works, work, detail::kWorkBits);
  return {.deleting = (bits & 1) != 0,
          .next = static_cast<uint8_t>(bits >> 1),
          .flight = detail::unpackFlight((bits >> 9) & detail::mask(detail::kFlightBits))};
}

inline void StateRef::setWork(uint32_t work, const WorkState& state) {
  detail::setField(
      words_ + layout_->works, work, detail::kWorkBits,
      uint64_t{state.deleting} | (uint64_t{state.next} << 1) | (detail::packFlight(state.flight) << 9));
}

inline StepState StateRef::step(uint32_t step) const {
  noteRead(StatePart::Kind::Step, step, 0);
  const uint64_t bits = detail::getField(words_ + layout_->steps, step, detail::kStepBits);
  return {.sent = (bits & 1) != 0, .done = (bits & 2) != 0, .flight = detail::unpackFlight(bits >> 2)};
}

inline void StateRef::setStep(uint32_t step, const StepState& state) {
  detail::setField(
      words_ + layout_->steps, step, detail::kStepBits,
      uint64_t{state.sent} | (uint64_t{state.done} << 1) | (detail::packFlight(state.flight) << 2));
}

inline LinkState StateRef::link(uint32_t link) const {
  noteRead(StatePart::Kind::Link, link, 0);
  const uint64_t bits = detail::getField(words_ + layout_->links, link, detail::kLinkBits);
  return {.recorded = (bits & 1) != 0, .stale = (bits & 2) != 0};
}

inline void StateRef::setLink(uint32_t link, const LinkState& state) {
  detail::setField(words_ + layout_->links, link, detail::kLinkBits,
                   uint64_t{state.recorded} | (uint64_t{state.stale} << 1));
}

}  // namespace lastout::cluster
