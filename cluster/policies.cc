#include "cluster/policies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cluster/policy_facts.h"
#include "cluster/users.h"
#include "protection/hold_plan.h"
#include "protection/implied.h"

namespace lastout::cluster {
namespace {

using protection::DeletionPolicy;

// --- looking at a state

bool counts(const ModelPolicy& policy, const StateRef& state, Actor actor, uint32_t by) {
  if (policy.slot != kNone && state.presence(policy.slot) == Presence::Absent) return false;
  if (actor != Actor::Client) return (policy.exemptActors >> static_cast<unsigned>(actor) & 1) == 0;
  return by >= policy.exemptSteps.size() || !policy.exemptSteps[by];
}

template <class One>  // Protection, Holding
bool denies(const Policies& policies, const One& protection, const StateRef& state, const ObjectState& object,
            bool orphans) {
  const uint32_t way = (object.terminating() ? kTerminates : 0) | (object.value == 0 ? kNoReplicas : 0) |
                       (orphans ? kOrphans : 0) |
                       ((object.finalizers & protection.othersBits) != 0 ? kOfOthers : 0) |
                       ((object.finalizers & protection.bit) != protection.bit ? kUnheld : 0);
  uint32_t at = policies.roots[protection.firstRoot + object.labels * kWays + way];
  while (at < Choice::kDenied) {
    const Choice& choice = policies.choices[at];
    at = holds(policies.questions[choice.question], state) ? choice.ifYes : choice.ifNo;
  }
  return at == Choice::kDenied;
}

bool impliesFor(const ModelPolicy& policy, Role holder) {
  return holder == Role::Namespace ? policy.impliesNamespaces : holder == Role::Crd && policy.impliesCrds;
}

// Calls visit(content, protection) for each object in it that a policy protects which implies that, until it
// returns true.
template <class Visit>
bool anyImplied(const Model& model, const StateRef& state, const PolicyRequest& request, Visit visit) {
  const Policies& policies = model.policies;
  const SlotInfo& info = model.slots[request.slot];
  if (info.role != Role::Namespace && info.role != Role::Crd) return false;
  for (const Slot content : info.content) {
    if (policies.ofDelete[content].empty() || state.presence(content) == Presence::Absent) continue;
    const ObjectState object = state.object(content);
    for (const Protection& one : policies.ofDelete[content]) {
      const ModelPolicy& policy = policies.all[one.policy];
      if (impliesFor(policy, info.role) && counts(policy, state, request.actor, request.by) &&
          denies(policies, one, state, object, false) && visit(content, one))
        return true;
    }
  }
  return false;
}

// --- words

// A request of the model, whole.
struct Worded {
  kube::Object object;
  kube::ObjectMeta newMeta;
  std::string user;
  protection::Request request;
};

void word(const Model& model, const StateRef& state, Slot slot, const PolicyRequest& asked, Worded& out) {
  out.object = model.policies.facts->objectOf(model, slot, policyViewOf(state.object(slot)));
  out.user = userOf(model, asked.actor, asked.by, asked.slot);
  out.request.object = out.object.key;
  out.request.kind = out.object.kind;
  out.request.meta = &out.object.meta;
  out.request.content = &out.object.content;
  out.request.user = out.user;
  out.request.groups = groupsOf(out.user);
  out.request.orphans = asked.orphans;
}

std::optional<PolicyDenial> judged(const Model& model, const StateRef& state, const DeletionPolicy& policy,
                                   const protection::Request& request, Slot slot) {
  const PolicyWords facts(model, state, slot);
  auto denial = protection::judge(policy, request, facts);
  if (!denial) return std::nullopt;
  return PolicyDenial{std::move(*denial), facts.because()};
}

}  // namespace

bool isDeniedByPolicy(const Model& model, const StateRef& state, const PolicyRequest& request) {
  const Policies& policies = model.policies;
  if (policies.none()) return false;
  const ObjectState object = state.object(request.slot);
  for (const Protection& one : policies.ofDelete[request.slot]) {
    if (counts(policies.all[one.policy], state, request.actor, request.by) &&
        denies(policies, one, state, object, request.orphans))
      return true;
  }
  return anyImplied(model, state, request, [](Slot, const Protection&) { return true; });
}

bool isUpdateDeniedByPolicy(const Model& model, const StateRef& state, uint32_t step) {
  const Policies& policies = model.policies;
  if (policies.none()) return false;
  const ObjectState object = state.object(model.steps[step].object);
  return std::ranges::any_of(policies.ofUpdate[step], [&](const Protection& one) {
    return counts(policies.all[one.policy], state, Actor::Client, step) &&
           denies(policies, one, state, object, false);
  });
}

std::vector<PolicyDenial> policyDenials(const Model& model, StateRef state, const PolicyRequest& request) {
  std::vector<PolicyDenial> denials;
  if (model.policies.none() || state.presence(request.slot) == Presence::Absent) return denials;
  Worded worded;
  word(model, state, request.slot, request, worded);
  for (const Protection& one : model.policies.ofDelete[request.slot]) {
    const ModelPolicy& policy = model.policies.all[one.policy];
    if (!counts(policy, state, request.actor, request.by)) continue;
    if (auto denial = judged(model, state, policy.policy, worded.request, request.slot))
      denials.push_back(std::move(*denial));
  }
  std::vector<uint32_t> told;  // of what it holds, each policy names one object
  anyImplied(model, state, request, [&](Slot content, const Protection& one) {
    if (std::ranges::find(told, one.policy) != told.end()) return false;
    const DeletionPolicy& policy = model.policies.all[one.policy].policy;
    PolicyRequest asked = request;
    asked.orphans = false;
    Worded held;
    word(model, state, content, asked, held);
    auto denial = judged(model, state, policy, held.request, content);
    if (!denial) return false;
    told.push_back(one.policy);
    denial->denial = protection::impliedBy(policy, worded.object.key, held.object.key, denial->denial);
    denial->because = {content};
    denials.push_back(std::move(*denial));
    return false;
  });
  return denials;
}

uint16_t policyBitsToLetGo(const Model& model, const StateRef& state, Slot slot) {
  uint16_t bits = 0;
  if (model.policies.none()) return bits;
  const ObjectState object = state.object(slot);
  for (const Holding& one : model.policies.ofHold[slot]) {
    const Slot policy = model.policies.all[one.policy].slot;
    const bool isThere = policy == kNone || state.presence(policy) != Presence::Absent;
    if ((object.finalizers & one.bit) != 0 && isThere && !denies(model.policies, one, state, object, false))
      bits |= one.bit;
  }
  return bits;
}

std::vector<PolicyDenial> policyHolds(const Model& model, StateRef state, Slot slot) {
  std::vector<PolicyDenial> holds;
  if (model.policies.none()) return holds;
  const ObjectState object = state.object(slot);
  for (const Holding& one : model.policies.ofHold[slot]) {
    const bool isHeld = denies(model.policies, one, state, object, false);
    if (!object.terminating() || (object.finalizers & one.bit) == 0 || !isHeld) continue;
    const DeletionPolicy& policy = model.policies.all[one.policy].policy;
    Worded worded;
    word(model, state, slot, {.slot = slot}, worded);
    protection::HoldFacts facts = holdFactsOf(policy, worded.object);
    PolicyDenial held;
    held.denial.policy = policy.meta.name;
    for (const SlotTests& child : model.policies.facts->allChildren(model, policy, slot)) {
      const Slot who = child.first.slot;
      if (!cluster::holds(child, state) || std::ranges::find(held.because, who) != held.because.end())
        continue;
      held.because.push_back(who);
      facts.children.push_back({model.slots[who].key, model.policies.facts->kindOf(who), "", true, ""});
    }
    const protection::HoldPlan plan = protection::planHold(policy, facts);
    held.denial.message = "DeletionPolicy " + policy.meta.name + " holds it" +
                          (plan.events.empty() ? "" : ": " + plan.events.front().message);
    holds.push_back(std::move(held));
  }
  return holds;
}

std::vector<PolicyDenial> updatePolicyDenials(const Model& model, StateRef state, uint32_t step) {
  std::vector<PolicyDenial> denials;
  const Step& spec = model.steps[step];
  if (model.policies.none() || spec.verb != Step::Verb::SetLabels ||
      state.presence(spec.object) == Presence::Absent)
    return denials;
  Worded worded;
  word(model, state, spec.object, {.slot = spec.object, .actor = Actor::Client, .by = step}, worded);
  worded.newMeta = worded.object.meta;
  worded.newMeta.labels = model.slots[spec.object].labelSets[spec.value];
  worded.request.operation = protection::Operation::Update;
  worded.request.newMeta = &worded.newMeta;
  for (const Protection& one : model.policies.ofUpdate[step]) {
    const ModelPolicy& policy = model.policies.all[one.policy];
    if (!counts(policy, state, Actor::Client, step)) continue;
    if (auto denial = judged(model, state, policy.policy, worded.request, spec.object))
      denials.push_back(std::move(*denial));
  }
  return denials;
}

}  // namespace lastout::cluster
