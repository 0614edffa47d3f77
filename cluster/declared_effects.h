// DeclaredEffects: the reads and writes of the machine's operations on a state, whatever their result. One
// function for each operation of Transition, with its name; internal to cluster/footprint.cc.
#pragma once

#include "cluster/declared_reads.h"

namespace lastout::cluster {

class DeclaredEffects {
 public:
  // Adds to the footprint's reads, writes and events; keeps references.
  DeclaredEffects(const Machine& machine, Footprint& footprint)
      : reads_(machine, footprint.reads), machine_(machine), model_(machine.model()), footprint_(footprint) {}

  DeclaredReads& reads() { return reads_; }

  // A part that is written is read, too: its other fields stay as they were.
  void writeObject(Slot slot, Fields fields);
  void writeWork(uint32_t work);
  void writeStep(uint32_t step);
  void writeLink(uint32_t link);
  void event(Slot slot, EventKind kind);

  // --- storage
  void create(Slot slot);
  // A change after which the object is still there.
  void change(Slot slot, Fields fields);
  // Taking finalizers off: the last one may remove the object.
  void dropFinalizers(Slot slot);
  void commitDelete(Slot slot);

  // --- review
  void send(Slot slot);  // at first sight; what is not guarded is deleted at once
  void confirm(Slot slot);
  void commit(Slot slot);
  // How a held provider is let go: by a confirming read, and the removal of its finalizer.
  void confirmLettingGo(Slot provider);
  void commitLettingGo(Slot provider);

 private:
  void touch(Slot slot);
  void markStale(Slot slot);
  void erase(Slot slot);
  void review(Slot slot);
  void mayBeUnsafe() { footprint_.events |= kUnsafeBit; }

  DeclaredReads reads_;
  const Machine& machine_;
  const Model& model_;
  Footprint& footprint_;
};

}  // namespace lastout::cluster
