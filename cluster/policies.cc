#include "cluster/policies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cluster/policy_facts.h"
#include "cluster/users.h"
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
uint32_t endOf(const ModelPolicies& policies, const One& protection, const StateRef& state,
               const ObjectState& object, bool orphans) {
  const uint32_t way = (object.terminating() ? kTerminates : 0) | (object.value == 0 ? kNoReplicas : 0) |
                       (orphans ? kOrphans : 0) |
                       ((object.finalizers & protection.othersBits) != 0 ? kOfOthers : 0) |
                       ((object.finalizers & protection.bit) != protection.bit ? kUnheld : 0);
  uint32_t at = policies.roots[protection.firstRoot + object.form * kWays + way];
  while (at < Choice::kEnds) {
    const Choice& choice = policies.choices[at];
    at = holds(policies.questions[choice.question], state) ? choice.ifYes : choice.ifNo;
  }
  return at;
}

bool denies(const ModelPolicies& policies, const Protection& protection, const StateRef& state,
            const ObjectState& object, bool orphans) {
  return endOf(policies, protection, state, object, orphans) == Choice::kDenied;
}

// What becomes of an object that the policy holds. nullopt: it does not, now.
std::optional<uint32_t> endOfHeld(const Model& model, const Holding& holding, const StateRef& state,
                                  const ObjectState& object) {
  const Slot policy = model.policies.all[holding.policy].slot;
  const bool isThere = policy == kNone || state.presence(policy) != Presence::Absent;
  if ((object.finalizers & holding.bit) == 0 || !isThere) return std::nullopt;
  return endOf(model.policies, holding, state, object, false);
}

// A cascade was confirmed, and the status of the object says so: what is to go with it may go.
bool isCascading(const Holding& holding, const ObjectState& object, std::optional<uint32_t> end) {
  return end == Choice::kCascades && holding.confirmed[object.form] == object.form;
}

const Labelling::Write* labelWrites(const Model& model, const StateRef& state, Slot slot) {
  const Labelling& labelling = model.policies.ofLabels[slot];
  if (labelling.writes.empty()) return nullptr;
  size_t present = 0;
  for (size_t i = 0; i < labelling.policies.size(); ++i) {
    const Slot policy = model.policies.all[labelling.policies[i]].slot;
    if (policy == kNone || state.presence(policy) != Presence::Absent) present |= size_t{1} << i;
  }
  const Labelling::Write& write = labelling.writes[present];
  return write.forms.empty() ? nullptr : &write;
}

bool impliesFor(const ModelPolicy& policy, SlotKind holder) {
  return holder == SlotKind::Namespace ? policy.impliesNamespaces
                                       : holder == SlotKind::Crd && policy.impliesCrds;
}

// Calls visit(content, protection) for each object in it that a policy protects which implies that, until it
// returns true.
template <class Visit>
bool anyImplied(const Model& model, const StateRef& state, const PolicyRequest& request, Visit visit) {
  const ModelPolicies& policies = model.policies;
  const SlotInfo& info = model.slots[request.slot];
  if (info.kind != SlotKind::Namespace && info.kind != SlotKind::Crd) return false;
  for (const Slot content : info.content) {
    if (policies.ofDelete[content].empty() || state.presence(content) == Presence::Absent) continue;
    const ObjectState object = state.object(content);
    for (const Protection& one : policies.ofDelete[content]) {
      const ModelPolicy& policy = policies.all[one.policy];
      if (impliesFor(policy, info.kind) && counts(policy, state, request.actor, request.by) &&
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

std::vector<PolicyDenial> updateDenials(const Model& model, const StateRef& state, const PolicyRequest& asked,
                                        uint8_t form, const std::vector<Protection>& deniedBy) {
  std::vector<PolicyDenial> denials;
  Worded worded;
  word(model, state, asked.slot, asked, worded);
  PolicyRelevantState after = policyViewOf(state.object(asked.slot));
  after.form = form;
  worded.newMeta = model.policies.facts->objectOf(model, asked.slot, after).meta;
  worded.request.operation = protection::PolicyOperation::Update;
  worded.request.newMeta = &worded.newMeta;
  for (const Protection& one : deniedBy) {
    const ModelPolicy& policy = model.policies.all[one.policy];
    if (!counts(policy, state, asked.actor, asked.by)) continue;
    if (auto denial = judged(model, state, policy.policy, worded.request, asked.slot))
      denials.push_back(std::move(*denial));
  }
  return denials;
}

}  // namespace

bool isDeniedByPolicy(const Model& model, const StateRef& state, const PolicyRequest& request) {
  const ModelPolicies& policies = model.policies;
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
  const ModelPolicies& policies = model.policies;
  if (policies.none()) return false;
  const ObjectState object = state.object(model.steps[step].object);
  return std::ranges::any_of(policies.ofUpdate[step], [&](const Protection& one) {
    return counts(policies.all[one.policy], state, Actor::Client, step) &&
           denies(policies, one, state, object, false);
  });
}

namespace {

// A client that was denied before asks for its deletion again, and will not be denied by a policy then.
bool isAboutToGo(const Model& model, const StateRef& state, Slot slot) {
  return std::ranges::any_of(model.slots[slot].steps, [&](uint32_t number) {
    const ClientStep& step = model.steps[number];
    const StepState now = state.step(number);
    return step.verb == ClientStep::Verb::Delete && !step.dryRun && now.sent && !now.done &&
           !isDeniedByPolicy(model, state, {.slot = slot, .by = number, .orphans = model.orphans(step)});
  });
}

}  // namespace

std::optional<LabelWrite> labelWriteOf(const Model& model, const StateRef& state, Slot slot) {
  if (model.policies.none() || state.presence(slot) != Presence::Live) return std::nullopt;
  const Labelling::Write* writes = labelWrites(model, state, slot);
  const ObjectState object = state.object(slot);
  if (writes == nullptr || writes->forms[object.form] == object.form) return std::nullopt;
  LabelWrite write{writes->forms[object.form], false, writes->wait[object.form]};
  // A client that asks every 10 s comes before a repair that waits for longer.
  if (write.wait >= model.timing.clientRetry && isAboutToGo(model, state, slot)) return std::nullopt;
  write.isDenied = std::ranges::any_of(writes->deniedBy, [&](const Protection& one) {
    return counts(model.policies.all[one.policy], state, Actor::Lastout, kNone) &&
           denies(model.policies, one, state, object, false);
  });
  return write;
}

bool isDeletedByPolicy(const Model& model, const StateRef& state, Slot slot) {
  const ModelPolicies& policies = model.policies;
  if (policies.none() || state.presence(slot) != Presence::Live) return false;
  const ObjectState object = state.object(slot);
  for (const Holding& one : policies.ofHold[slot]) {
    const auto end = endOfHeld(model, one, state, object);
    if (end == Choice::kDeletes || isCascading(one, object, end)) return true;
  }
  // A cascade deletes the parent first.
  return std::ranges::any_of(policies.ofCascade[slot], [&](const CascadeChild& one) {
    if (state.presence(one.parent) != Presence::Terminating) return false;
    const ObjectState parent = state.object(one.parent);
    const Holding& holding = policies.ofHold[one.parent][one.holding];
    return isCascading(holding, parent, endOfHeld(model, holding, state, parent)) &&
           holds(policies.questions[one.question], state);
  });
}

std::optional<uint8_t> confirmationChange(const Model& model, const StateRef& state, Slot slot) {
  if (model.policies.none() || state.presence(slot) == Presence::Absent) return std::nullopt;
  const ObjectState object = state.object(slot);
  for (const Holding& one : model.policies.ofHold[slot]) {
    const auto end = endOfHeld(model, one, state, object);
    if (end != Choice::kCascades && end != Choice::kDenied) continue;
    const uint8_t form = (end == Choice::kCascades ? one.confirmed : one.unconfirmed)[object.form];
    if (form != object.form) return form;
  }
  return std::nullopt;
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
  for (const Holding& one : model.policies.ofHold[slot])
    if (endOfHeld(model, one, state, object) == Choice::kPasses) bits |= one.bit;
  return bits;
}

std::vector<PolicyDenial> policyHolds(const Model& model, StateRef state, Slot slot) {
  std::vector<PolicyDenial> holds;
  if (model.policies.none()) return holds;
  const ObjectState object = state.object(slot);
  for (const Holding& one : model.policies.ofHold[slot]) {
    const auto end = endOfHeld(model, one, state, object);
    if (!object.terminating() || !end || end == Choice::kPasses) continue;
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
    const protection::HoldPlan plan = planWithExternal(model, policy, std::move(facts));
    held.denial.message = "DeletionPolicy " + policy.meta.name + " holds it" +
                          (plan.events.empty() ? "" : ": " + plan.events.front().message);
    holds.push_back(std::move(held));
  }
  return holds;
}

std::vector<PolicyDenial> updatePolicyDenials(const Model& model, StateRef state, uint32_t step) {
  std::vector<PolicyDenial> denials;
  const ClientStep& spec = model.steps[step];
  if (model.policies.none() || spec.verb != ClientStep::Verb::SetForm ||
      state.presence(spec.object) == Presence::Absent)
    return denials;
  return updateDenials(model, state, {.slot = spec.object, .actor = Actor::Client, .by = step},
                       spec.forms[state.object(spec.object).form], model.policies.ofUpdate[step]);
}

std::vector<PolicyDenial> labelWriteDenials(const Model& model, StateRef state, Slot slot) {
  const auto write = labelWriteOf(model, state, slot);
  if (!write) return {};
  return updateDenials(model, state, {.slot = slot, .actor = Actor::Lastout}, write->form,
                       labelWrites(model, state, slot)->deniedBy);
}

}  // namespace lastout::cluster
