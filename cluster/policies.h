// policies: what DeletionPolicies say to the requests of a model. The rule is protection::judge(); here it is
// asked beforehand about every way in which an object can be there, with every answer that other objects
// can give, so that the machine looks at slots alone.
#pragma once

#include <optional>
#include <vector>

#include "cluster/machine.h"
#include "protection/evaluate.h"

namespace lastout::cluster {

// A DELETE, as far as policies look at it.
struct PolicyRequest {
  Slot slot = kNone;
  Actor actor = Actor::Client;
  uint32_t by = kNone;   // step or work
  bool orphans = false;  // its propagationPolicy is Orphan
};

// A policy that is there from the beginning, and is no object of the model where `isObject` is false.
struct GivenPolicy {
  protection::DeletionPolicy policy;
  bool isObject = true;
};

// Adds policies to a model, after all its steps. `objects`: what the manifests say of its objects; the first
// one of a name counts. `external`: what outside controllers report of held objects. Fails on a policy that
// asks more of an object's context than can be compiled.
kube::Result<void> addPolicies(Model& model, const std::vector<GivenPolicy>& policies,
                               const std::vector<const kube::Object*>& objects,
                               const kube::ResourceMap& types,
                               ExternalOutcome external = ExternalOutcome::Done);

// True if a policy denies the DELETE.
bool isDeniedByPolicy(const Model& model, const StateRef& state, const PolicyRequest& request);

// True if a policy denies a step that changes the form of an object.
bool isUpdateDeniedByPolicy(const Model& model, const StateRef& state, uint32_t step);

struct PolicyDenial {
  protection::Denial denial;
  std::vector<Slot> because;  // other objects that make it so
};

// The labels that lastout writes on an object for policies: the form that it gets.
struct LabelWrite {
  uint8_t form = 0;
  bool isDenied = false;              // by another policy
  std::chrono::milliseconds wait{0};  // until lastout writes them
};
// nullopt: its labels are as they should be, it is not live, or the client for whom a repair waits deletes it
// first (LabelUpkeep::repairAfter).
std::optional<LabelWrite> labelWriteOf(const Model& model, const StateRef& state, Slot slot);

// True if lastout deletes the object by itself: it is forced, or another one's confirmed cascade takes it
// along.
bool isDeletedByPolicy(const Model& model, const StateRef& state, Slot slot);

// The form that lastout gives the object through its status, where a cascade was confirmed, or is no longer.
// nullopt: its status says that already.
std::optional<uint8_t> confirmationChange(const Model& model, const StateRef& state, Slot slot);

// The finalizers of policies on an object that is being deleted, and that they hold no more.
uint16_t policyBitsToLetGo(const Model& model, const StateRef& state, Slot slot);

// Each policy that holds the object, which is being deleted, by its finalizer; the message as in the Event.
std::vector<PolicyDenial> policyHolds(const Model& model, StateRef state, Slot slot);

// In words: each policy that denies the DELETE, in their order.
std::vector<PolicyDenial> policyDenials(const Model& model, StateRef state, const PolicyRequest& request);
std::vector<PolicyDenial> updatePolicyDenials(const Model& model, StateRef state, uint32_t step);
// The same for the labels that lastout writes on the object.
std::vector<PolicyDenial> labelWriteDenials(const Model& model, StateRef state, Slot slot);

}  // namespace lastout::cluster
