// The tables of a Murphi model: what a scenario's objects are, as functions of their names; and the text that
// they are made of (murphi_text.cc). Internal to prove/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/model.h"

namespace lastout::prove {

// The identifiers of one model. An object that nobody names is `nobody`, which is never there.
class MurphiNames {
 public:
  explicit MurphiNames(const cluster::Model& model);

  std::string slot(cluster::Slot slot) const { return slot == cluster::kNone ? "nobody" : slots_[slot]; }
  // Returns the finalizers of the slot's vocabulary that these bits stand for.
  std::vector<std::string> finalizers(cluster::Slot slot, uint16_t bits) const;
  // Returns the one finalizer of the bit, or f_none.
  std::string finalizer(cluster::Slot slot, uint16_t bit) const;
  // Returns the finalizer of that name, or f_none where no object can carry it.
  std::string finalizerNamed(const std::string& name) const;
  // Returns those that are meant, by name or by pattern (kube/patterns.h).
  std::vector<std::string> finalizersMeantBy(std::string_view named) const;
  // Returns a condition: `variable` is one of those finalizers.
  std::string isAnyOf(const std::string& variable, cluster::Slot slot, uint16_t bits) const;

  std::string allSlots() const;                          // ", a, b"
  std::string allFinalizers() const;                     // the same, but for the collector's own
  size_t mostOwners() const { return mostOwners_; }      // at least 1
  size_t mostChildren() const { return mostChildren_; }  // at least 1

 private:
  const cluster::Model& model_;
  std::vector<std::string> slots_;
  std::vector<std::string> finalizerNames_;  // f_<number>_... belongs to the name of that number
  size_t mostOwners_ = 1;
  size_t mostChildren_ = 1;
};

// --- functions

// A case of a function: the statements that return its value for one key.
struct MurphiCase {
  std::string key;
  std::string body;
};
// Returns the case of a function that returns this value.
MurphiCase caseOf(std::string key, const std::string& value);

// Returns a function that looks `variable` up in the cases, and returns `otherwise` where it is none of them.
// Its head says what it takes and returns: "kind(s: slot_t): kind_t".
std::string murphiFunction(const std::string& head, const std::string& variable, const std::string& otherwise,
                           const std::vector<MurphiCase>& cases);

// --- expressions

std::string word(bool value);
std::string allOf(const std::vector<std::string>& conditions);  // of none: true
std::string anyOf(const std::vector<std::string>& conditions);  // of none: false

template <class Enum>
std::string number(Enum value) {
  return std::to_string(static_cast<int>(value));
}

// --- tables

// Returns the tables of the objects, of the calls to webhooks, of controllers and of what lastout guards.
std::string murphiTables(const cluster::Model& model, const MurphiNames& names);

}  // namespace lastout::prove
