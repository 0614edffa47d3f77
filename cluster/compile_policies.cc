// DeletionPolicies into questions about slots: protection::judge() is asked about each object in each of its
// ways, with each answer to each of its questions.
#include "cluster/compile_policies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cluster/forms.h"
#include "cluster/policies.h"
#include "cluster/users.h"
#include "kube/well_known.h"
#include "protection/implied.h"

namespace lastout::cluster {
namespace {

using protection::DeletionPolicy;

// More would be a policy with a dozen cases of different children.
constexpr size_t kMostChoices = 4096;

// Answers by a script, and notes the first question beyond it.
class ScriptedFacts : public protection::Facts {
 public:
  ScriptedFacts(const PolicyFacts& facts, const Model& model, Slot slot, const std::vector<bool>& answers)
      : facts_(facts), model_(model), slot_(slot), answers_(answers) {}

  protection::AncestorState ancestor(const protection::AncestorTest& test,
                                     const protection::Request& request) const override {
    PolicyQuestion question;
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
  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override {
    protection::Listers listers;
    listers.count = answer(facts_.lister(model_, listedBy, request)) ? 1 : 0;
    return listers;
  }

  const std::optional<PolicyQuestion>& next() const { return next_; }

 private:
  bool answer(PolicyQuestion question) const {
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
  mutable std::optional<PolicyQuestion> next_;
};

// An object in one of the ways in which it can be there and, for an update, the forms that it gets.
struct PolicySubject {
  Slot slot = kNone;
  uint32_t way = 0;
  uint8_t form = 0;
  const std::vector<uint8_t>* forms = nullptr;  // by form, the one that follows
};

class PolicyCompiler {
 public:
  PolicyCompiler(Model& model, const PolicyFacts& facts)
      : model_(model), facts_(facts), choices_(model.policies) {}

  // Fails on a policy that asks too much, and on one more finalizer than an object can have.
  kube::Result<void> add(uint32_t number) {
    ModelPolicy& policy = model_.policies.all[number];
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      add(number, {.slot = slot}, model_.policies.ofDelete[slot]);
      for (Labelling::Write& write : model_.policies.ofLabels[slot].writes)
        if (!write.forms.empty()) add(number, {.slot = slot, .forms = &write.forms}, write.deniedBy);
    }
    for (uint32_t step = 0; step < model_.steps.size(); ++step) {
      const ClientStep& spec = model_.steps[step];
      if (spec.verb == ClientStep::Verb::SetForm)
        add(number, {.slot = spec.object, .forms = &spec.forms}, model_.policies.ofUpdate[step]);
    }
    noteExemptions(policy);
    for (Slot slot = 0; policy.policy.hold && slot < model_.slots.size(); ++slot) {
      if (auto held = addHolding(model_, facts_, choices_, number, slot); !held) return held;
    }
    if (!isTooMuch_) return {};
    return tl::unexpected(kube::Error{"DeletionPolicy " + policy.policy.meta.name + " asks more than " +
                                          std::to_string(kMostChoices) +
                                          " questions about one object, which is more than can be simulated",
                                      {},
                                      {}});
  }

 private:
  void add(uint32_t number, PolicySubject subject, std::vector<Protection>& protections) {
    const DeletionPolicy& policy = model_.policies.all[number].policy;
    const SlotInfo& info = model_.slots[subject.slot];
    const auto isConcerned = [&](const ObjectForm& form) {
      return protection::concerns(policy, info.key, form.labels);
    };
    const bool isDerived = facts_.manifestOf(subject.slot).isNull();
    if (!isDerived && std::ranges::none_of(info.forms, isConcerned)) return;
    Protection protection{number, static_cast<uint32_t>(model_.policies.roots.size()),
                          othersBitsOf(policy, info), heldBitOf(model_, policy, subject.slot).value_or(0)};
    std::vector<uint32_t> roots;
    roots.reserve(info.forms.size() * kWays);
    for (uint8_t form = 0; form < info.forms.size(); ++form) {
      for (uint32_t way = 0; way < kWays; ++way) {
        subject.form = form;
        subject.way = way;
        roots.push_back(rootOf(policy, protection, subject));
      }
    }
    if (std::ranges::all_of(roots, [](uint32_t root) { return root == Choice::kPasses; })) return;
    model_.policies.roots.insert(model_.policies.roots.end(), roots.begin(), roots.end());
    protections.push_back(protection);
  }

  uint32_t rootOf(const DeletionPolicy& policy, const Protection& protection, const PolicySubject& subject) {
    const uint16_t others = (subject.way & kOfOthers) != 0 ? protection.othersBits : uint16_t{0};
    const uint16_t held = (subject.way & kUnheld) == 0 ? protection.bit : uint16_t{0};
    PolicyRelevantState view{subject.form, (subject.way & kTerminates) != 0, (subject.way & kNoReplicas) == 0,
                             static_cast<uint16_t>(others | held)};
    const kube::Object object = facts_.objectOf(model_, subject.slot, view);
    protection::Request request;
    request.object = object.key;
    request.kind = object.kind;
    request.meta = &object.meta;
    request.content = &object.content;
    request.orphans = (subject.way & kOrphans) != 0;
    kube::ObjectMeta newMeta;
    if (subject.forms != nullptr) {
      view.form = (*subject.forms)[subject.form];
      newMeta = facts_.objectOf(model_, subject.slot, view).meta;
      request.operation = protection::PolicyOperation::Update;
      request.newMeta = &newMeta;
    }
    // isExempt() has already dealt with exempt users.
    DeletionPolicy forAll = policy;
    forAll.exemptUsers.clear();
    forAll.exemptGroups.clear();
    asked_ = 0;
    std::vector<bool> answers;
    return grow(forAll, request, subject.slot, answers);
  }

  uint32_t grow(const DeletionPolicy& policy, const protection::Request& request, Slot slot,
                std::vector<bool>& answers) {
    const ScriptedFacts script(facts_, model_, slot, answers);
    const bool isDenied = protection::judge(policy, request, script).has_value();
    if (!script.next()) return isDenied ? Choice::kDenied : Choice::kPasses;
    if (++asked_ > kMostChoices) {
      isTooMuch_ = true;
      return Choice::kDenied;
    }
    const PolicyQuestion question = *script.next();
    answers.push_back(true);
    const uint32_t ifYes = grow(policy, request, slot, answers);
    answers.back() = false;
    const uint32_t ifNo = grow(policy, request, slot, answers);
    answers.pop_back();
    return choices_.choiceOf(question, ifYes, ifNo);
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
    for (const Actor actor : {Actor::Agent, Actor::Collector, Actor::Lifecycle, Actor::Workloads,
                              Actor::TimeToLive, Actor::ReplicaSets, Actor::Lastout}) {
      // Workload controllers count as exempt only if the policy exempts all of them.
      bool is = !model_.slots.empty();
      for (Slot slot = 0; is && slot < model_.slots.size(); ++slot) is = isExempt(actor, kNone, slot);
      if (is) policy.exemptActors |= static_cast<uint16_t>(1u << static_cast<unsigned>(actor));
    }
  }

  Model& model_;
  const PolicyFacts& facts_;
  Choices choices_;
  size_t asked_ = 0;
  bool isTooMuch_ = false;
};

// Adds every form that an object can have over its life.
kube::Result<void> growForms(Model& model, const PolicyFacts& facts, Slot slot) {
  const std::vector<ObjectForm>& forms = model.slots[slot].forms;
  for (size_t before = 0; before != forms.size();) {
    before = forms.size();
    if (auto grown = growForms(model, slot); !grown) return grown;
    if (auto grown = growLabelledForms(model, facts, slot); !grown) return grown;
    for (uint32_t policy = 0; policy < model.policies.all.size(); ++policy)
      if (auto grown = growHeldForms(model, facts, policy, slot); !grown) return grown;
  }
  return {};
}

size_t countForms(const Model& model) {
  size_t count = 0;
  for (const SlotInfo& info : model.slots) count += info.forms.size();
  return count;
}

}  // namespace

kube::Result<void> addPolicies(Model& model, const std::vector<GivenPolicy>& policies,
                               const std::vector<const kube::Object*>& objects,
                               const kube::ResourceMap& types, ExternalOutcome external) {
  if (policies.empty() || !model.guarded) return {};
  model.policies.external = external;
  model.policies.ofDelete.resize(model.slots.size());
  model.policies.ofUpdate.resize(model.steps.size());
  model.policies.ofHold.resize(model.slots.size());
  model.policies.ofCascade.resize(model.slots.size());
  model.policies.ofLabels.resize(model.slots.size());
  std::vector<DeletionPolicy> specs;
  specs.reserve(policies.size());
  for (const GivenPolicy& given : policies) {
    specs.push_back(given.policy);
    ModelPolicy policy;
    policy.policy = given.policy;
    if (given.isObject)
      policy.slot =
          model.find({protection::deletionPolicyType(), "", given.policy.meta.name}).value_or(kNone);
    policy.impliesNamespaces = protection::implies(given.policy, kube::kNamespaces);
    policy.impliesCrds = protection::implies(given.policy, kube::kCustomResourceDefinitions);
    model.policies.all.push_back(std::move(policy));
  }
  for (Slot slot = 0; slot < model.slots.size(); ++slot)
    if (auto found = addLabelling(model, slot); !found) return found;
  // A new form of one object may be a new answer to a question about another.
  for (size_t before = 0; before != countForms(model);) {
    before = countForms(model);
    model.policies.facts = std::make_shared<const PolicyFacts>(model, objects, types, specs);
    for (Slot slot = 0; slot < model.slots.size(); ++slot)
      if (auto grown = growForms(model, *model.policies.facts, slot); !grown) return grown;
  }
  PolicyCompiler compiler(model, *model.policies.facts);
  for (uint32_t number = 0; number < model.policies.all.size(); ++number)
    if (auto compiled = compiler.add(number); !compiled) return compiled;
  return {};
}

}  // namespace lastout::cluster
