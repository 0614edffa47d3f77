// DeletionPolicies into questions about slots: protection::judge() is asked about each object in each of its
// ways, with each answer to each of its questions.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cluster/build.h"
#include "cluster/policies.h"
#include "cluster/policy_facts.h"
#include "cluster/users.h"
#include "protection/hold_plan.h"
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
  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override {
    protection::Listers listers;
    listers.count = answer(facts_.lister(model_, listedBy, request)) ? 1 : 0;
    return listers;
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

// An object in one of the ways in which it can be there and, for an update, the labels that it gets.
struct PolicySubject {
  Slot slot = kNone;
  uint32_t way = 0;
  uint8_t labels = 0;
  const kube::Labels* newLabels = nullptr;
};

class PolicyCompiler {
 public:
  PolicyCompiler(Model& model, const PolicyFacts& facts) : model_(model), facts_(facts) {}

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
  void add(uint32_t number, PolicySubject subject, std::vector<Protection>& protections) {
    const DeletionPolicy& policy = model_.policies.all[number].policy;
    const SlotInfo& info = model_.slots[subject.slot];
    const auto isConcerned = [&](const kube::Labels& labels) {
      return protection::concerns(policy, info.key, labels);
    };
    const bool isDerived = info.labelSets.size() == 1 && info.labelSets[0].empty();
    if (!isDerived && std::ranges::none_of(info.labelSets, isConcerned)) return;
    Protection protection{number, static_cast<uint32_t>(model_.policies.roots.size()),
                          othersBits(policy, info), heldBit(policy, subject.slot).value_or(0)};
    std::vector<uint32_t> roots;
    for (uint8_t labels = 0; labels < info.labelSets.size(); ++labels) {
      for (uint32_t way = 0; way < kWays; ++way) {
        subject.labels = labels;
        subject.way = way;
        roots.push_back(rootOf(policy, protection, subject));
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

  // The finalizer of a policy that holds the object. 0: it does not hold it. Fails where the object has too
  // many.
  kube::Result<uint16_t> heldBit(const DeletionPolicy& policy, Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const auto isConcerned = [&](const kube::Labels& labels) {
      return protection::concerns(policy, info.key, labels);
    };
    if (!policy.hold || std::ranges::none_of(info.labelSets, isConcerned)) return 0;
    const auto mask = finalizerMask(model_, slot, {policy.hold->finalizer});
    if (!mask) return tl::unexpected(mask.error());
    return static_cast<uint16_t>(*mask & ~info.cleanupBit);
  }

  uint32_t rootOf(const DeletionPolicy& policy, const Protection& protection, const PolicySubject& subject) {
    const uint16_t others = (subject.way & kOfOthers) != 0 ? protection.othersBits : uint16_t{0};
    const uint16_t held = (subject.way & kUnheld) == 0 ? protection.bit : uint16_t{0};
    const PolicyView view{subject.labels, (subject.way & kTerminates) != 0, (subject.way & kNoReplicas) == 0,
                          static_cast<uint16_t>(others | held)};
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
    // isExempt() has already dealt with exempt users.
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
    const auto bit = heldBit(policy, slot);
    if (!bit) return tl::unexpected(bit.error());
    if (*bit == 0) return {};
    Holding holding{number, static_cast<uint32_t>(model_.policies.roots.size()), othersBits(policy, info),
                    *bit};
    for (uint8_t labels = 0; labels < info.labelSets.size(); ++labels)
      for (uint32_t way = 0; way < kWays; ++way)
        model_.policies.roots.push_back(
            heldRoot(policy, holding, {.slot = slot, .way = way, .labels = labels}));
    model_.slots[slot].policyBits |= *bit;
    model_.policies.ofHold[slot].push_back(holding);
    PolicyView view{0, false, true, info.finalizersAtCreation};
    const kube::Object object = facts_.objectOf(model_, slot, view);
    protection::HoldFacts facts = holdFactsOf(policy, object);
    if (protection::planHold(policy, facts).addFinalizer) model_.slots[slot].finalizersAtCreation |= *bit;
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

  // Assumes that the external step always succeeds.
  static bool letsGo(const DeletionPolicy& policy, protection::HoldFacts facts) {
    protection::HoldPlan plan = protection::planHold(policy, facts);
    if (plan.askExternal) {
      facts.external.state = protection::ExternalStanding::State::Done;
      plan = protection::planHold(policy, facts);
    }
    return plan.removeFinalizer;
  }

  uint32_t heldRoot(const DeletionPolicy& policy, const Holding& holding, const PolicySubject& subject) {
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
    const ScriptedFacts script(facts_, model_, slot, answers);
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
      // Workload controllers count as exempt only if the policy exempts all of them.
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

}  // namespace

kube::Result<void> addPolicies(Model& model, const std::vector<GivenPolicy>& policies,
                               const std::vector<const kube::Object*>& objects,
                               const kube::ResourceMap& types) {
  if (policies.empty() || !model.guarded) return {};
  std::vector<DeletionPolicy> specs;
  specs.reserve(policies.size());
  for (const GivenPolicy& given : policies) specs.push_back(given.policy);
  model.policies.facts = std::make_shared<const PolicyFacts>(model, objects, types, specs);
  model.policies.ofDelete.resize(model.slots.size());
  model.policies.ofUpdate.resize(model.steps.size());
  model.policies.ofHold.resize(model.slots.size());
  PolicyCompiler compiler(model, *model.policies.facts);
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

}  // namespace lastout::cluster
