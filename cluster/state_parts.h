// StatePart: the parts of a state that can be read or written alone. Footprints consist of them
// (cluster/footprint.h).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace lastout::cluster {

struct StatePart {
  enum class Kind : uint8_t { Object, Work, Step, Link };
  Kind kind = Kind::Object;
  uint32_t number = 0;
  auto operator<=>(const StatePart&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// The fields of an object, as ObjectState has them; one bit each. A part of another kind is one field.
using Fields = uint8_t;
inline constexpr Fields kPresenceField = 1u << 0;
inline constexpr Fields kFinalizersField = 1u << 1;
inline constexpr Fields kOwnersField = 1u << 2;
inline constexpr Fields kValueField = 1u << 3;
inline constexpr Fields kFormField = 1u << 4;
inline constexpr Fields kFlightsField = 1u << 5;
inline constexpr Fields kDeferredDeletionField = 1u << 6;
inline constexpr Fields kEveryField = (1u << 7) - 1;

struct PartFields {
  StatePart part;
  Fields fields = 0;
  friend bool operator==(const PartFields&, const PartFields&) = default;
};

// Notes that a part of a state was read; `fields` is 0 where the reader got all of them and may have looked
// at any. Compiled in for footprints_test alone (tests/properties/), which compiles the machine once more
// with LASTOUT_NOTES_READS; in the program nothing is left of it.
#ifdef LASTOUT_NOTES_READS
inline thread_local std::vector<PartFields>* notedReads = nullptr;  // nullptr: nobody wants to know
inline void noteRead(StatePart::Kind kind, uint32_t number, Fields fields) {
  if (notedReads != nullptr) notedReads->push_back({{kind, number}, fields});
}
#else
inline void noteRead(StatePart::Kind /*kind*/, uint32_t /*number*/, Fields /*fields*/) {}
#endif

}  // namespace lastout::cluster
