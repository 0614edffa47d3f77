// PolicyFacts: what deletion policies ask of other objects, as questions about the slots of a model; and the
// objects of a state, as policies look at them. Internal to cluster/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/model.h"
#include "cluster/state.h"
#include "kube/object.h"
#include "protection/evaluate.h"
#include "protection/fact_index.h"
#include "protection/hold_plan.h"

namespace lastout::cluster {

// The way in which an object is there, as far as it matters to what a policy says of it.
struct PolicyRelevantState {
  uint8_t form = 0;  // which of SlotInfo::forms
  bool terminates = false;
  bool hasReplicas = true;  // of what is scaled: spec.replicas is above 0
  uint16_t finalizers = 0;
};
PolicyRelevantState policyViewOf(const ObjectState& state);

// The ways in which an object can be there, beside its form: one bit each.
inline constexpr uint32_t kUnheld = 16;  // without the finalizer of a policy that holds
inline constexpr uint32_t kTerminates = 8;
inline constexpr uint32_t kNoReplicas = 4;
inline constexpr uint32_t kOrphans = 2;
inline constexpr uint32_t kOfOthers = 1;
inline constexpr uint32_t kWays = 32;  // of each form

// What planHold() is told of the object, its children aside. It points to the object.
protection::HoldFacts holdFactsOf(const protection::DeletionPolicy& policy, const kube::Object& object);

// Plans; where the plan awaits a report of the external step, plans with the outcome that the model has of
// it.
protection::HoldPlan planWithExternal(const Model& model, const protection::DeletionPolicy& policy,
                                      protection::HoldFacts facts);

// An ancestor stands so while the tests hold.
struct AncestorCase {
  SlotTests tests;
  protection::AncestorState state;
};

// True while the test holds.
bool holds(const SlotTest& test, const StateRef& state);
bool holds(const SlotTests& tests, const StateRef& state);
bool holds(const PolicyQuestion& question, const StateRef& state);

// Immutable, so that any number of threads may ask. The model is given with every question: it may have
// moved.
class PolicyFacts {
 public:
  // `objects`: what the manifests say of each object, by key; of what is derived there is none.
  PolicyFacts(const Model& model, const std::vector<const kube::Object*>& objects, kube::ResourceMap types,
              const std::vector<protection::DeletionPolicy>& policies);

  // The object of a slot, as it is in a state.
  kube::Object objectOf(const Model& model, Slot slot, const PolicyRelevantState& view) const;
  const std::string& kindOf(Slot slot) const { return objects_[slot].kind; }
  // Returns what its manifest says; null: it is derived.
  const kube::Value& manifestOf(Slot slot) const { return objects_[slot].content; }

  PolicyQuestion children(const Model& model, const protection::ChildrenTest& test, Slot slot) const;
  // Those by which a policy holds the object.
  PolicyQuestion allChildren(const Model& model, const protection::DeletionPolicy& policy, Slot slot) const;
  PolicyQuestion active(const Model& model, protection::Activity activity, Slot slot) const;
  PolicyQuestion lister(const Model& model, const protection::ListedBy& listedBy,
                        const protection::Request& request) const;
  // Returns the lister in that slot alone, in that form, if it lists the object of the request.
  protection::Listers listersIn(Slot slot, uint8_t form, const protection::ListedBy& listedBy,
                                const protection::Request& request) const;
  // Returns the cases in order of precedence. If none of them holds, the object is not protected.
  std::vector<AncestorCase> ancestor(const Model& model, const protection::AncestorTest& test, Slot slot,
                                     const kube::Labels& labels) const;

 private:
  using Groups = std::unordered_map<std::string, std::vector<SlotTest>>;
  // One object that may list others, in one of its forms.
  struct Lister {
    Slot slot = kNone;
    uint8_t form = 0;
    protection::ListedBy listedBy;
    std::shared_ptr<const protection::FactIndex> index;
  };

  void addLabelsOfTemplates(const Model& model);
  void addGroups(const Model& model, const std::vector<protection::DeletionPolicy>& policies);
  void addListers(const Model& model, const std::vector<protection::DeletionPolicy>& policies);
  PolicyQuestion groupOf(const kube::GroupResource& type, const std::string& group) const;
  protection::FactIndex::FindKind findKind() const;
  void addNamed(const Model& model, const protection::AncestorTest& test,
                const protection::NamedAncestor& named, const SlotTest& condition,
                std::vector<AncestorCase>& cases) const;

  std::vector<kube::Object> objects_;  // by slot
  std::shared_ptr<const kube::ResourceMap> types_;
  std::unordered_map<kube::GroupResource, Groups> groups_;  // of FactIndex
  std::vector<Lister> listers_;
};

// The facts of one state, in words.
class PolicyWords : public protection::Facts {
 public:
  PolicyWords(const Model& model, StateRef state, Slot slot) : model_(model), state_(state), slot_(slot) {}

  protection::AncestorState ancestor(const protection::AncestorTest& test,
                                     const protection::Request& request) const override;
  protection::Count children(const protection::ChildrenTest& test,
                             const protection::Request& request) const override;
  protection::Count active(protection::Activity activity, const protection::Request& request) const override;
  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override;
  // What the answers rested on, each once.
  const std::vector<Slot>& because() const { return because_; }

 private:
  std::vector<Slot> slotsOf(const PolicyQuestion& question) const;
  protection::Count countOf(const PolicyQuestion& question) const;
  void note(Slot slot) const;

  const Model& model_;
  StateRef state_;
  Slot slot_;
  mutable std::vector<Slot> because_;
};

}  // namespace lastout::cluster
