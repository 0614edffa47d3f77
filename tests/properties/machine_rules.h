// What must be true of every step of the machine, whatever the cluster. Each rule is a sentence about
// Kubernetes, checked by comparing the state before an action with the one after it.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "tests/properties/walk.h"
#include "tests/support/by_the_document.h"

namespace lastout::testing {

// Checks the last action of a walk; the rule that it broke and where, or nothing.
std::string brokenRule(const Walk& walk);

// Safety, kept apart from the machine's own accounts: what the document says is read at every confirming
// read, and remembered until the commit. Of a provider that is held the commit is that of its finalizer's
// removal.
class SafetyWatch {
 public:
  // `before` is the cluster before the last action of the walk.
  std::string broken(const Walk& walk, const PlainCluster& before);

 private:
  std::string brokenByHolding(const Walk& walk, const PlainCluster& before, uint64_t key);

  std::unordered_map<uint64_t, bool> held_;  // by actor and number: the criteria held at its confirming read
};

// lastout deletes no other objects than those whose deletion it denied to a controller, or that a controller
// has asked for whose work it keeps, each that very one, and only where nobody has taken that back. That such
// a denial stands in a status, whoever wrote it, gives it no authority: such an object is deleted where its
// namespace terminates, or all of its owners are gone, or go without leaving it behind.
class RequestWatch {
 public:
  std::string broken(const Walk& walk);
  // Somebody has written such an entry.
  void noteForged(cluster::Slot slot) { forged_.insert(slot); }
  uint32_t ranForged() const { return ranForged_; }

 private:
  static std::set<cluster::Slot> ownersOf(const Walk& walk, cluster::Slot slot);
  static bool isTakenBack(const Walk& walk, cluster::Slot slot, const std::set<cluster::Slot>& formerOwners);

  static bool isOfKeptWork(const Walk& walk, cluster::Slot slot);
  static bool goesAnyway(const Walk& walk, cluster::Slot slot);
  std::string brokenByRequest(const Walk& walk, const cluster::ClusterEvent& event) const;

  // What a controller has asked to delete since it was created.
  struct Asked {
    std::set<cluster::Slot> owners;  // then
    bool wasDenied = false;          // by lastout
  };
  std::unordered_map<cluster::Slot, Asked> asked_;
  std::set<cluster::Slot> forged_;   // and not created again since
  std::set<cluster::Slot> granted_;  // of those: their deletion goes on, and had its authority
  uint32_t ranForged_ = 0;
};

}  // namespace lastout::testing
