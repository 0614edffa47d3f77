#include "cluster/state.h"

namespace lastout::cluster {

namespace {

// Where the fields of an object's word start.
constexpr unsigned kFinalizersAt = 2;
constexpr unsigned kOwnersAt = 18;
constexpr unsigned kValueAt = 34;
constexpr unsigned kLabelsAt = 42;
constexpr unsigned kCollectorAt = 46;
constexpr unsigned kLifecycleAt = 51;
constexpr unsigned kFlightBits = 5;

constexpr uint64_t mask(unsigned bits) { return (uint64_t{1} << bits) - 1; }

uint64_t packFlight(const Flight& flight) {
  return static_cast<uint64_t>(flight.phase) | (uint64_t{flight.touched} << 2) |
         (uint64_t{flight.stale} << 3) | (uint64_t{flight.held} << 4);
}

Flight unpackFlight(uint64_t bits) {
  Flight flight;
  flight.phase = static_cast<Flight::Phase>(bits & 3);
  flight.touched = (bits & 4) != 0;
  flight.stale = (bits & 8) != 0;
  flight.held = (bits & 16) != 0;
  return flight;
}

// Item `index` of an array of fields of `bits` bits that starts at a word; no field straddles words.
uint64_t getField(const uint64_t* words, uint32_t index, unsigned bits) {
  const unsigned perWord = 64 / bits;
  return (words[index / perWord] >> (bits * (index % perWord))) & mask(bits);
}

void setField(uint64_t* words, uint32_t index, unsigned bits, uint64_t value) {
  const unsigned perWord = 64 / bits;
  const unsigned shift = bits * (index % perWord);
  uint64_t& word = words[index / perWord];
  word = (word & ~(mask(bits) << shift)) | (value << shift);
}

constexpr unsigned kWorkBits = 16;
constexpr unsigned kStepBits = 8;
constexpr unsigned kLinkBits = 2;

uint32_t wordsFor(size_t items, unsigned bits) {
  const size_t perWord = 64 / bits;
  return static_cast<uint32_t>((items + perWord - 1) / perWord);
}

}  // namespace

uint64_t pack(const ObjectState& state) {
  return static_cast<uint64_t>(state.presence) | (uint64_t{state.finalizers} << kFinalizersAt) |
         (uint64_t{state.owners} << kOwnersAt) | (uint64_t{state.value} << kValueAt) |
         (uint64_t{state.labels} << kLabelsAt) | (packFlight(state.collector) << kCollectorAt) |
         (packFlight(state.lifecycle) << kLifecycleAt);
}

ObjectState unpack(uint64_t word) {
  ObjectState state;
  state.presence = static_cast<Presence>(word & 3);
  state.finalizers = static_cast<uint16_t>(word >> kFinalizersAt);
  state.owners = static_cast<uint16_t>(word >> kOwnersAt);
  state.value = static_cast<uint8_t>(word >> kValueAt);
  state.labels = static_cast<uint8_t>((word >> kLabelsAt) & mask(4));
  state.collector = unpackFlight((word >> kCollectorAt) & mask(kFlightBits));
  state.lifecycle = unpackFlight((word >> kLifecycleAt) & mask(kFlightBits));
  return state;
}

Layout::Layout(const Model& model) {
  works = objects + static_cast<uint32_t>(model.slots.size());
  steps = works + wordsFor(model.works.size(), kWorkBits);
  links = steps + wordsFor(model.steps.size(), kStepBits);
  words = links + wordsFor(model.links.size(), kLinkBits);
}

WorkState StateRef::work(uint32_t work) const {
  const uint64_t bits = getField(words_ + layout_->works, work, kWorkBits);
  WorkState state;
  state.deleting = (bits & 1) != 0;
  state.next = static_cast<uint8_t>(bits >> 1);
  state.flight = unpackFlight((bits >> 9) & mask(kFlightBits));
  return state;
}

void StateRef::setWork(uint32_t work, const WorkState& state) {
  setField(words_ + layout_->works, work, kWorkBits,
           uint64_t{state.deleting} | (uint64_t{state.next} << 1) | (packFlight(state.flight) << 9));
}

StepState StateRef::step(uint32_t step) const {
  const uint64_t bits = getField(words_ + layout_->steps, step, kStepBits);
  StepState state;
  state.sent = (bits & 1) != 0;
  state.done = (bits & 2) != 0;
  state.flight = unpackFlight(bits >> 2);
  return state;
}

void StateRef::setStep(uint32_t step, const StepState& state) {
  setField(words_ + layout_->steps, step, kStepBits,
           uint64_t{state.sent} | (uint64_t{state.done} << 1) | (packFlight(state.flight) << 2));
}

LinkState StateRef::link(uint32_t link) const {
  const uint64_t bits = getField(words_ + layout_->links, link, kLinkBits);
  return {.recorded = (bits & 1) != 0, .stale = (bits & 2) != 0};
}

void StateRef::setLink(uint32_t link, const LinkState& state) {
  setField(words_ + layout_->links, link, kLinkBits, uint64_t{state.recorded} | (uint64_t{state.stale} << 1));
}

}  // namespace lastout::cluster
