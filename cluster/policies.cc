#include "cluster/policies.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cluster/build.h"
#include "cluster/policy_facts.h"
#include "cluster/users.h"
#include "protection/hold_plan.h"
#include "protection/implied.h"

namespace lastout::cluster {
namespace {

using protection::Block;
using protection::DeletionPolicy;
using protection::Denial;

// The ways in which an object can be there, beside its labels: one bit each.
constexpr uint32_t kTerminates = 8;
constexpr uint32_t kNoReplicas = 4;
constexpr uint32_t kOrphans = 2;
constexpr uint32_t kOfOthers = 1;
constexpr uint32_t kWays = 16;  // of each set of labels

// More would be a policy with a dozen cases of different children.
constexpr size_t kMostChoices = 4096;

// --- compiling

// Answers by a script, and notes the first question beyond it.
class Script : public protection::Facts {
 public:
  Script(const PolicyFacts& facts, const Model& model, Slot slot, const std::vector<bool>& answers)
      : facts_(facts), model_(model), slot_(slot), answers_(answers) {}

  protection::AncestorState ancestor(const protection::AncestorTest& test,
                                     const protection::Request& request) const override {
    Question question;
    for (const AncestorCase& one : facts_.ancestor(model_, test, slot_, request.meta->labels))
      question.push_back(one.tests);
    if (!answer(std::move(question))) return {};
    return {protection::AncestorState::Kind::Protects, {}};
  }
  protection::Count children(const protection::ChildrenTest& test,
                             const protection::Request& /*request*/) const override {
    return {answer(facts_.children(model_, test, slot_)) ? 1u : 0u, {}, std::nullopt};
  }
  protection::Count active(protection::Activity activity,
                           const protection::Request& /*request*/) const override {
    return {answer(facts_.active(model_, activity, slot_)) ? 1u : 0u, {}, std::nullopt};
  }
  std::string lister(const protection::ListedBy& listedBy, const protection::Request& request,
                     std::optional<std::string>& /*unknown*/) const override {
    return answer(facts_.lister(model_, listedBy, request)) ? "one" : "";
  }

  const std::optional<Question>& next() const { return next_; }

 private:
  bool answer(Question question) const {
    if (question.empty()) return false;
    if (std::ranges::any_of(question, &SlotTests::isAlways)) return true;
    if (asked_ < answers_.size()) return answers_[asked_++];
    if (!next_) next_ = std::move(question);
    return false;
  }

  const PolicyFacts& facts_;
  const Model& model_;
  const Slot slot_;
  const std::vector<bool>& answers_;
  mutable size_t asked_ = 0;
  mutable std::optional<Question> next_;
};

// What is asked about: an object in one of its ways, and, of an update, the labels that it is to get.
struct Subject {
  Slot slot = kNone;
  uint32_t way = 0;
  uint8_t labels = 0;
  const kube::Labels* newLabels = nullptr;
};

class Compiler {
 public:
  Compiler(Model& model, const PolicyFacts& facts) : model_(model), facts_(facts) {}

  // Fails on a policy that asks too much, and on one more finalizer than an object can have.
  kube::Result<void> add(uint32_t number) {
    ModelPolicy& policy = model_.policies.all[number];
    for (Slot slot = 0; slot < model_.slots.size(); ++slot)
      add(number, {.slot = slot}, model_.policies.ofDelete[slot]);
    for (uint32_t step = 0; step < model_.steps.size(); ++step) {
      const Step& spec = model_.steps[step];
      if (spec.verb != Step::Verb::SetLabels) continue;
      const std::vector<kube::Labels>& sets = model_.slots[spec.object].labelSets;
      add(number, {.slot = spec.object, .newLabels = &sets[spec.value]}, model_.policies.ofUpdate[step]);
    }
    noteExemptions(policy);
    for (Slot slot = 0; policy.policy.hold && slot < model_.slots.size(); ++slot) {
      if (auto held = addHolding(number, slot); !held) return held;
    }
    if (!isTooMuch_) return {};
    return tl::unexpected(kube::Error{"DeletionPolicy " + policy.policy.meta.name + " asks more than " +
                                          std::to_string(kMostChoices) +
                                          " questions about one object, which is more than can be simulated",
                                      {},
                                      {}});
  }

 private:
  void add(uint32_t number, Subject subject, std::vector<Protection>& protections) {
    const DeletionPolicy& policy = model_.policies.all[number].policy;
    const SlotInfo& info = model_.slots[subject.slot];
    const auto isConcerned = [&](const kube::Labels& labels) {
      return protection::concerns(policy, info.key, labels);
    };
    const bool isDerived = info.labelSets.size() == 1 && info.labelSets[0].empty();
    if (!isDerived && std::ranges::none_of(info.labelSets, isConcerned)) return;
    Protection protection{number, static_cast<uint32_t>(model_.policies.roots.size()),
                          othersBits(policy, info)};
    std::vector<uint32_t> roots;
    for (uint8_t labels = 0; labels < info.labelSets.size(); ++labels) {
      for (uint32_t way = 0; way < kWays; ++way) {
        subject.labels = labels;
        subject.way = way;
        roots.push_back(rootOf(policy, protection.othersBits, subject));
      }
    }
    if (std::ranges::all_of(roots, [](uint32_t root) { return root == Choice::kPasses; })) return;
    model_.policies.roots.insert(model_.policies.roots.end(), roots.begin(), roots.end());
    protections.push_back(protection);
  }

  static uint16_t othersBits(const DeletionPolicy& policy, const SlotInfo& info) {
    uint16_t bits = 0;
    for (size_t i = 0; policy.hold && i < info.finalizers.size(); ++i) {
      if (std::ranges::find(policy.hold->finalizersOfOthers, info.finalizers[i]) !=
          policy.hold->finalizersOfOthers.end())
        bits |= static_cast<uint16_t>(1u << i);
    }
    return bits;
  }

  uint32_t rootOf(const DeletionPolicy& policy, uint16_t others, const Subject& subject) {
    const PolicyView view{subject.labels, (subject.way & kTerminates) != 0, (subject.way & kNoReplicas) == 0,
                          (subject.way & kOfOthers) != 0 ? others : uint16_t{0}};
    const kube::Object object = facts_.objectOf(model_, subject.slot, view);
    protection::Request request;
    request.object = object.key;
    request.kind = object.kind;
    request.meta = &object.meta;
    request.content = &object.content;
    request.orphans = (subject.way & kOrphans) != 0;
    kube::ObjectMeta newMeta = object.meta;
    if (subject.newLabels != nullptr) {
      newMeta.labels = *subject.newLabels;
      request.operation = protection::Operation::Update;
      request.newMeta = &newMeta;
    }
    // Who is exempt is looked at before (isExempt).
    DeletionPolicy forAll = policy;
    forAll.exemptUsers.clear();
    forAll.exemptGroups.clear();
    choices_ = 0;
    std::vector<bool> answers;
    return grow(forAll, request, subject.slot, answers);
  }

  // The policy's finalizer on an object that it concerns, and when it comes off.
  kube::Result<void> addHolding(uint32_t number, Slot slot) {
    const DeletionPolicy& policy = model_.policies.all[number].policy;
    const SlotInfo& info = model_.slots[slot];
    const auto isConcerned = [&](const kube::Labels& labels) {
      return protection::concerns(policy, info.key, labels);
    };
    if (std::ranges::none_of(info.labelSets, isConcerned)) return {};
    auto mask = finalizerMask(model_, slot, {policy.hold->finalizer});
    if (!mask) return tl::unexpected(std::move(mask.error()));
    const auto bit = static_cast<uint16_t>(*mask & ~info.cleanupBit);
    Holding holding{number, static_cast<uint32_t>(model_.policies.roots.size()), othersBits(policy, info),
                    bit};
    for (uint8_t labels = 0; labels < info.labelSets.size(); ++labels)
      for (uint32_t way = 0; way < kWays; ++way)
        model_.policies.roots.push_back(
            heldRoot(policy, holding, {.slot = slot, .way = way, .labels = labels}));
    model_.slots[slot].policyBits |= bit;
    model_.policies.ofHold[slot].push_back(holding);
    PolicyView view{0, false, true, info.finalizersAtCreation};
    const kube::Object object = facts_.objectOf(model_, slot, view);
    protection::HoldFacts facts = holdFactsOf(policy, object);
    if (protection::planHold(policy, facts).addFinalizer) model_.slots[slot].finalizersAtCreation |= bit;
    noteNotFollowed(policy, object, slot);
    return {};
  }

  // Force begins a deletion by itself, and a confirmation takes children along: by lastout, which does not do
  // that here.
  void noteNotFollowed(const DeletionPolicy& policy, kube::Object object, Slot slot) {
    object.meta.finalizers.push_back(policy.hold->finalizer);
    const protection::HoldFacts facts = holdFactsOf(policy, object);
    if (protection::planHold(policy, facts).deleteItself)
      model_.policies.notFollowed.push_back(
          "by DeletionPolicy " + policy.meta.name + " lastout would delete " + model_.name(slot) +
          " because of " + toString(policy.hold->force->key) + ", which is not followed here");
    if (policy.hold->force && policy.hold->force->key.holds(object.meta) &&
        object.meta.annotations.contains(policy.hold->confirmAnnotation))
      model_.policies.notFollowed.push_back(
          "by DeletionPolicy " + policy.meta.name + " what refers to " + model_.name(slot) +
          " would be deleted with it if the annotation " + policy.hold->confirmAnnotation +
          " is right, which is not followed here");
  }

  static protection::HoldFacts holdFactsOf(const DeletionPolicy& policy, const kube::Object& object) {
    protection::HoldFacts facts;
    facts.key = object.key;
    facts.kind = object.kind;
    facts.meta = &object.meta;
    facts.content = &object.content;
    protection::Request request;
    request.object = object.key;
    request.kind = object.kind;
    request.meta = &object.meta;
    request.content = &object.content;
    facts.protectedBy = protection::protectionOf(policy, request);
    return facts;
  }

  // What is outside the cluster is deleted without fail.
  static bool letsGo(const DeletionPolicy& policy, protection::HoldFacts facts) {
    protection::HoldPlan plan = protection::planHold(policy, facts);
    if (plan.askExternal) {
      facts.external.state = protection::ExternalStanding::State::Done;
      plan = protection::planHold(policy, facts);
    }
    return plan.removeFinalizer;
  }

  uint32_t heldRoot(const DeletionPolicy& policy, const Holding& holding, const Subject& subject) {
    if ((subject.way & kTerminates) == 0) return Choice::kDenied;
    const uint16_t others = (subject.way & kOfOthers) != 0 ? holding.othersBits : uint16_t{0};
    const PolicyView view{subject.labels, true, (subject.way & kNoReplicas) == 0,
                          static_cast<uint16_t>(holding.bit | others)};
    const kube::Object object = facts_.objectOf(model_, subject.slot, view);
    protection::HoldFacts facts = holdFactsOf(policy, object);
    Choice choice;
    choice.ifNo = letsGo(policy, facts) ? Choice::kPasses : Choice::kDenied;
    facts.children.push_back({object.key, object.kind, "", true, ""});
    choice.ifYes = letsGo(policy, facts) ? Choice::kPasses : Choice::kDenied;
    const Question question = facts_.allChildren(model_, policy, subject.slot);
    if (question.empty() || choice.ifYes == choice.ifNo) return choice.ifNo;
    choice.question = numberOf(questions_, model_.policies.questions, question);
    return numberOf(known_, model_.policies.choices, choice);
  }

  uint32_t grow(const DeletionPolicy& policy, const protection::Request& request, Slot slot,
                std::vector<bool>& answers) {
    const Script script(facts_, model_, slot, answers);
    const bool isDenied = protection::judge(policy, request, script).has_value();
    if (!script.next()) return isDenied ? Choice::kDenied : Choice::kPasses;
    if (++choices_ > kMostChoices) {
      isTooMuch_ = true;
      return Choice::kDenied;
    }
    Choice choice;
    choice.question = numberOf(questions_, model_.policies.questions, *script.next());
    answers.push_back(true);
    choice.ifYes = grow(policy, request, slot, answers);
    answers.back() = false;
    choice.ifNo = grow(policy, request, slot, answers);
    answers.pop_back();
    if (choice.ifYes == choice.ifNo) return choice.ifYes;
    return numberOf(known_, model_.policies.choices, choice);
  }

  template <class T>
  static uint32_t numberOf(std::map<T, uint32_t>& numbers, std::vector<T>& all, const T& one) {
    const auto [found, isNew] = numbers.try_emplace(one, static_cast<uint32_t>(all.size()));
    if (isNew) all.push_back(one);
    return found->second;
  }

  void noteExemptions(ModelPolicy& policy) const {
    const auto isExempt = [&](Actor actor, uint32_t by, Slot slot) {
      protection::Request request;
      const std::string user = userOf(model_, actor, by, slot);
      request.user = user;
      request.groups = groupsOf(user);
      return protection::isExempt(policy.policy, request);
    };
    for (uint32_t step = 0; step < model_.steps.size(); ++step)
      policy.exemptSteps.push_back(isExempt(Actor::Client, step, model_.steps[step].object));
    for (const Actor actor :
         {Actor::Agent, Actor::Collector, Actor::Lifecycle, Actor::Workloads, Actor::Lastout}) {
      // Of the controllers of workloads, all have to be exempt.
      bool is = !model_.slots.empty();
      for (Slot slot = 0; is && slot < model_.slots.size(); ++slot) is = isExempt(actor, kNone, slot);
      if (is) policy.exemptActors |= static_cast<uint16_t>(1u << static_cast<unsigned>(actor));
    }
  }

  Model& model_;
  const PolicyFacts& facts_;
  std::map<Question, uint32_t> questions_;
  std::map<Choice, uint32_t> known_;
  size_t choices_ = 0;
  bool isTooMuch_ = false;
};

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
                       ((object.finalizers & protection.othersBits) != 0 ? kOfOthers : 0);
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

kube::Result<void> addPolicies(Model& model, const std::vector<GivenPolicy>& policies,
                               const std::vector<const kube::Object*>& objects,
                               const kube::ResourceMap& types) {
  if (policies.empty() || !model.guarded) return {};
  std::vector<DeletionPolicy> specs;
  for (const GivenPolicy& given : policies) specs.push_back(given.policy);
  model.policies.facts = std::make_shared<const PolicyFacts>(model, objects, types, specs);
  model.policies.ofDelete.resize(model.slots.size());
  model.policies.ofUpdate.resize(model.steps.size());
  model.policies.ofHold.resize(model.slots.size());
  Compiler compiler(model, *model.policies.facts);
  for (const GivenPolicy& given : policies) {
    ModelPolicy policy;
    policy.policy = given.policy;
    if (given.isObject)
      policy.slot =
          model.find({protection::deletionPolicyType(), "", given.policy.meta.name}).value_or(kNone);
    policy.impliesNamespaces = protection::implies(given.policy, {"", "namespaces"});
    policy.impliesCrds = protection::implies(given.policy, kube::crdType());
    model.policies.all.push_back(std::move(policy));
    const auto number = static_cast<uint32_t>(model.policies.all.size() - 1);
    if (auto compiled = compiler.add(number); !compiled) return compiled;
  }
  return {};
}

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
    protection::HoldFacts facts;
    facts.key = worded.object.key;
    facts.kind = worded.object.kind;
    facts.meta = &worded.object.meta;
    facts.content = &worded.object.content;
    facts.protectedBy = protection::protectionOf(policy, worded.request);
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
