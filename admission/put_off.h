// Deletions that were put off: denied when somebody asked, and carried out by lastout itself once the verdict
// turns (docs/concepts.md, "Deletions that are put off"). Pure: what follows from what is known of the
// object.
#pragma once

namespace lastout::admission {

// Whoever asks again by itself, and for nobody in particular, has its denied DELETE carried out later: the
// garbage collector asks ever more seldom, and a work's agent never again. A person was told, and may have
// changed their mind.
enum class Asker : unsigned char { Controller, Person };
constexpr bool isPutOff(Asker asker) { return asker == Asker::Controller; }

// What speaks for and against the deletion of an object now.
struct Wish {
  bool inTerminatingNamespace = false;  // which takes all that is in it
  bool hasOwners = false;
  bool hasLiveOwner = false;  // one that is there, is the one that is meant, and is not being deleted
};

// Whether a deletion that was put off is still asked for: controllers delete what is in a namespace that
// goes, and what nobody owns any longer. An owner that has come back takes the deletion back.
constexpr bool isStillWanted(const Wish& wish) {
  return wish.inTerminatingNamespace || (wish.hasOwners && !wish.hasLiveOwner);
}

}  // namespace lastout::admission
