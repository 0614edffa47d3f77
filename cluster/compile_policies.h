// The parts of the compiler of DeletionPolicies (policies.h). Internal to cluster/.
#pragma once

#include <map>
#include <vector>

#include "cluster/model.h"
#include "cluster/policy_facts.h"

namespace lastout::cluster {

// The questions and choices of policies, each once.
class Choices {
 public:
  explicit Choices(ModelPolicies& policies) : policies_(policies) {}

  uint32_t questionOf(const PolicyQuestion& question) {
    return numberOf(questions_, policies_.questions, question);
  }
  // Returns the Choice, or an end where the answer makes no difference.
  uint32_t choiceOf(const PolicyQuestion& question, uint32_t ifYes, uint32_t ifNo) {
    if (ifYes == ifNo) return ifYes;
    return numberOf(choices_, policies_.choices, Choice{questionOf(question), ifYes, ifNo});
  }

 private:
  template <class T>
  static uint32_t numberOf(std::map<T, uint32_t>& numbers, std::vector<T>& all, const T& one) {
    const auto [found, isNew] = numbers.try_emplace(one, static_cast<uint32_t>(all.size()));
    if (isNew) all.push_back(one);
    return found->second;
  }

  ModelPolicies& policies_;
  std::map<PolicyQuestion, uint32_t> questions_;
  std::map<Choice, uint32_t> choices_;
};

// The finalizers by which another operator than the policy's deletes the object.
uint16_t othersBitsOf(const protection::DeletionPolicy& policy, const SlotInfo& info);

// The finalizer of a policy that holds the object in one of its forms. 0: it does not hold it. Fails where
// the object has too many.
kube::Result<uint16_t> heldBitOf(Model& model, const protection::DeletionPolicy& policy, Slot slot);

// Adds the policy's finalizer to an object that it concerns, and when it comes off (compile_holds.cc).
kube::Result<void> addHolding(Model& model, const PolicyFacts& facts, Choices& choices, uint32_t policy,
                              Slot slot);
// Adds the forms that its status gives the object, while a cascade is confirmed and afterwards.
kube::Result<void> growHeldForms(Model& model, const PolicyFacts& facts, uint32_t policy, Slot slot);

// Finds the policies that may keep labels on the object (compile_labels.cc).
kube::Result<void> addLabelling(Model& model, Slot slot);
// Adds the forms that lastout gives the object for them.
kube::Result<void> growLabelledForms(Model& model, const PolicyFacts& facts, Slot slot);

}  // namespace lastout::cluster
