// What stuck.cc says of one object: Reasons collects why it is still there, and which objects it waits for;
// FinalizerReasons adds why it keeps a finalizer that a controller, or nobody, removes. Internal to replay/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "criticalservice/finalizer_removers.h"
#include "replay/final_state.h"
#include "replay/names.h"
#include "replay/stuck.h"

namespace lastout::replay {

inline constexpr const char* kUnasked = "nobody has asked for its deletion";

class Reasons {
 public:
  // Keeps references to both.
  Reasons(const FinalState& final, const Names& names, cluster::Slot object)
      : final_(final),
        names_(names),
        result_{.object = object, .reasons = {}, .waitsFor = {}, .isUnasked = false} {}

  bool none() const { return result_.reasons.empty(); }
  size_t count() const { return result_.reasons.size(); }
  bool blamesNothing() const { return result_.waitsFor.empty(); }

  // Adds a sentence.
  void say(std::string reason) { result_.reasons.push_back(std::move(reason)); }
  // Adds a sentence unless it was said.
  void sayOnce(const std::string& reason);
  // Adds objects that have to go, or come back, first; each counts once.
  void blame(const std::vector<cluster::Slot>& objects);
  // Adds the text followed by the names of the objects, and blames them; nothing, where there are none.
  void wait(const std::string& text, const std::vector<cluster::Slot>& objects);
  // Adds a sentence if nobody answers a webhook that is called for the request on the object; false: all
  // answer. `who`: what the request is for, before the words about the webhooks.
  bool refused(cluster::Slot object, bool cluster::Interception::*request, const std::string& who);
  // Adds that nobody has asked for the deletion; where it is the only reason, the result says so.
  void sayUnasked();

  StillThere take() && { return std::move(result_); }

 private:
  const FinalState& final_;
  const Names& names_;
  StillThere result_;
};

class FinalizerReasons {
 public:
  // Keeps references to all; `unremoved`: as of the scenario.
  FinalizerReasons(const FinalState& final, const cluster::Model& model, const Names& names,
                   std::span<const criticalservice::UnremovedFinalizer> unremoved)
      : final_(final), cluster_(final.cluster()), model_(model), names_(names), unremoved_(unremoved) {}

  // Adds why the object still has the finalizer of that index in SlotInfo::finalizers.
  void explain(cluster::Slot slot, size_t index, Reasons& reasons) const;

 private:
  void explainController(cluster::Slot slot, const cluster::Removal& removal, const std::string& who,
                         Reasons& reasons) const;
  void explainNeeds(const cluster::Removal& removal, const std::string& who, Reasons& reasons) const;
  void explainNobody(cluster::Slot slot, const std::string& finalizer, Reasons& reasons) const;
  std::string whatWasLookedFor(const kube::GroupResource& type, const std::string& finalizer) const;

  const FinalState& final_;
  const cluster::Transition& cluster_;  // for reading alone
  const cluster::Model& model_;
  const Names& names_;
  const std::span<const criticalservice::UnremovedFinalizer> unremoved_;
};

}  // namespace lastout::replay
