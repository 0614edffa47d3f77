// What policies hold (protection/hold_plan.h): planHold() is asked about an object in each of its ways, with
// and without what refers to it; where its status names the children, with each set of them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "cluster/build.h"
#include "cluster/compile_policies.h"
#include "cluster/forms.h"
#include "protection/hold_plan.h"
#include "protection/hold_status.h"

namespace lastout::cluster {
namespace {

using nlohmann::json;
using protection::DeletionPolicy;
using protection::HoldPlan;

// With each set of them the plan is made.
constexpr size_t kMostCascadeChildren = 10;

nlohmann::json::json_pointer pointerTo(const protection::FieldPath& path) {
  json::json_pointer pointer;
  for (const std::string& key : path.keys) pointer /= key;
  return pointer;
}

// The form with that content.
ObjectForm withContent(ObjectForm form, const json& content, const kube::Value& manifest) {
  const bool isAsInManifest = content == json(kube::toJson(manifest));
  form.content = isAsInManifest ? nullptr : std::make_shared<const kube::Value>(kube::fromJson(content));
  return form;
}

// Removes what is there, and what is empty then and not in the manifest.
void erase(json& content, json::json_pointer pointer, const json& manifest) {
  if (!content.contains(pointer)) return;
  do {
    const std::string key = pointer.back();
    pointer.pop_back();
    content[pointer].erase(key);
  } while (!pointer.empty() && content[pointer].empty() && !manifest.contains(pointer));
}

// One object that a policy holds.
class HoldCompiler {
 public:
  HoldCompiler(Model& model, const PolicyFacts& facts, Choices& choices, uint32_t policy, Slot slot)
      : model_(model),
        facts_(facts),
        choices_(choices),
        policy_(model.policies.all[policy].policy),
        slot_(slot),
        question_(facts.allChildren(model, policy_, slot)) {
    holding_.policy = policy;
    for (const SlotTests& tests : question_) {
      auto child = std::ranges::find(children_, tests.first.slot, &Child::slot);
      if (child == children_.end()) child = children_.insert(child, {tests.first.slot, {}});
      child->question.push_back(tests);
    }
  }

  // Compiles every form that there is, and those that follow from it.
  kube::Result<Holding> compile(uint16_t bit, std::vector<uint32_t>& roots) {
    holding_.bit = bit;
    holding_.othersBits = othersBitsOf(policy_, model_.slots[slot_]);
    holding_.firstRoot = static_cast<uint32_t>(roots.size());
    for (form_ = 0; form_ < model_.slots[slot_].forms.size(); ++form_) {
      holding_.confirmed.push_back(form_);
      holding_.unconfirmed.push_back(form_);
      std::map<uint32_t, uint32_t> known;  // other ways make no difference
      for (uint32_t way = 0; way < kWays; ++way) {
        const uint32_t alike = way & (kTerminates | kNoReplicas | (holding_.othersBits != 0 ? kOfOthers : 0));
        const auto [found, isNew] = known.try_emplace(alike, 0);
        if (isNew) found->second = rootOf(alike);
        roots.push_back(found->second);
      }
    }
    if (problem_) return tl::unexpected(*problem_);
    return std::move(holding_);
  }

  bool cascades() const { return cascades_; }
  // The objects that go with it then.
  struct Child {
    Slot slot = kNone;
    PolicyQuestion question;  // it refers to the object
  };
  const std::vector<Child>& children() const { return children_; }

 private:
  uint32_t rootOf(uint32_t way) {
    const uint16_t others = (way & kOfOthers) != 0 ? holding_.othersBits : uint16_t{0};
    object_ = facts_.objectOf(model_, slot_,
                              {form_, (way & kTerminates) != 0, (way & kNoReplicas) == 0,
                               static_cast<uint16_t>(holding_.bit | others)});
    chosen_.clear();
    if (children_.empty()) return endOf(planNow());
    choose(children_.front().slot);
    if (const HoldPlan ifAny = planNow(); !confirmationAfter(ifAny)) {
      const uint32_t end = endOf(ifAny);
      chosen_.clear();
      return choices_.choiceOf(question_, end, endOf(planNow()));
    }
    cascades_ = true;
    chosen_.clear();
    if (children_.size() <= kMostCascadeChildren) return grow(0);
    fail(model_.name(slot_) + " has more than " + std::to_string(kMostCascadeChildren) +
         " children that DeletionPolicy " + policy_.meta.name +
         " may delete with it, which is more than can be simulated");
    return Choice::kDenied;
  }

  // What its status says of each set of children counts.
  uint32_t grow(size_t child) {
    if (child == children_.size()) return endOf(planNow());
    choose(children_[child].slot);
    const uint32_t ifYes = grow(child + 1);
    chosen_.pop_back();
    const uint32_t ifNo = grow(child + 1);
    return choices_.choiceOf(children_[child].question, ifYes, ifNo);
  }

  void choose(Slot child) {
    chosen_.push_back({model_.slots[child].key, facts_.kindOf(child), "", false, ""});
  }

  HoldPlan planNow() const {
    protection::HoldFacts facts = holdFactsOf(policy_, object_);
    facts.children = chosen_;
    if (!protection::concerns(policy_, object_.key, object_.meta.labels)) {
      facts.releasable = {policy_.hold->finalizer};
      return protection::planRelease(facts);
    }
    return planWithExternal(model_, policy_, std::move(facts));
  }

  uint32_t endOf(const HoldPlan& plan) {
    const bool terminates = object_.meta.deletionTimestamp.has_value();
    if (plan.removeFinalizer || !plan.release.empty()) return terminates ? Choice::kPasses : Choice::kDenied;
    if (plan.deleteItself && plan.deleteChildren.empty()) return Choice::kDeletes;
    const bool isCascade = !plan.deleteChildren.empty();
    const auto next = formNumber(model_, slot_, formAfter(plan));
    if (next)
      (isCascade ? holding_.confirmed : holding_.unconfirmed)[form_] = *next;
    else
      fail(next.error().message);
    return isCascade ? Choice::kCascades : Choice::kDenied;
  }

  json contentNow() const {
    const ObjectForm& form = model_.slots[slot_].forms[form_];
    return json(kube::toJson(form.content == nullptr ? facts_.manifestOf(slot_) : *form.content));
  }

  // The confirmation that its status shows then.
  std::optional<protection::Confirmation> confirmationAfter(const HoldPlan& plan) const {
    json content = contentNow();
    content.merge_patch(plan.statusPatch.is_null() ? json::object() : plan.statusPatch);
    return protection::confirmationIn(*policy_.hold, kube::fromJson(content));
  }

  // A later plan depends on two parts of the status alone: a confirmation that was given, and its children.
  ObjectForm formAfter(const HoldPlan& plan) const {
    const ObjectForm& form = model_.slots[slot_].forms[form_];
    if (plan.statusPatch.is_null()) return form;
    const json::json_pointer pointer = pointerTo(policy_.hold->status.confirmation);
    const json manifest = kube::toJson(facts_.manifestOf(slot_));
    json content = contentNow();
    const auto confirmation = confirmationAfter(plan);
    if (!confirmation || confirmation->required) {
      erase(content, pointer, manifest);
    } else {
      json block{{"required", false}, {"hash", confirmation->hash}, {"children", confirmation->children}};
      block["remainingCount"] = confirmation->children.size();
      content[pointer] = std::move(block);
    }
    return withContent(form, content, facts_.manifestOf(slot_));
  }

  void fail(std::string message) {
    if (!problem_) problem_ = kube::Error{std::move(message), {}, {}};
  }

  Model& model_;
  const PolicyFacts& facts_;
  Choices& choices_;
  const DeletionPolicy& policy_;
  const Slot slot_;
  const PolicyQuestion question_;
  std::vector<Child> children_;
  Holding holding_;
  bool cascades_ = false;
  std::optional<kube::Error> problem_;
  // The question under way.
  uint8_t form_ = 0;
  kube::Object object_;
  std::vector<protection::HeldChild> chosen_;
};

}  // namespace

uint16_t othersBitsOf(const DeletionPolicy& policy, const SlotInfo& info) {
  uint16_t bits = 0;
  for (size_t i = 0; policy.hold && i < info.finalizers.size(); ++i) {
    if (std::ranges::find(policy.hold->finalizersOfOthers, info.finalizers[i]) !=
        policy.hold->finalizersOfOthers.end())
      bits |= static_cast<uint16_t>(1u << i);
  }
  return bits;
}

kube::Result<uint16_t> heldBitOf(Model& model, const DeletionPolicy& policy, Slot slot) {
  const SlotInfo& info = model.slots[slot];
  const auto isConcerned = [&](const ObjectForm& form) {
    return protection::concerns(policy, info.key, form.labels);
  };
  if (!policy.hold || std::ranges::none_of(info.forms, isConcerned)) return 0;
  return finalizerMask(model, slot, {policy.hold->finalizer});
}

kube::Result<void> addHolding(Model& model, const PolicyFacts& facts, Choices& choices, uint32_t policy,
                              Slot slot) {
  const DeletionPolicy& spec = model.policies.all[policy].policy;
  const auto bit = heldBitOf(model, spec, slot);
  if (!bit) return tl::unexpected(bit.error());
  if (*bit == 0) return {};
  HoldCompiler compiler(model, facts, choices, policy, slot);
  auto holding = compiler.compile(*bit, model.policies.roots);
  if (!holding) return tl::unexpected(holding.error());
  const auto number = static_cast<uint32_t>(model.policies.ofHold[slot].size());
  model.policies.ofHold[slot].push_back(std::move(*holding));
  if (compiler.cascades()) {
    for (const HoldCompiler::Child& child : compiler.children())
      model.policies.ofCascade[child.slot].push_back({slot, number, choices.questionOf(child.question)});
  }
  SlotInfo& info = model.slots[slot];
  info.policyBits |= *bit;
  const kube::Object object = facts.objectOf(model, slot, {0, false, true, info.finalizersAtCreation});
  if (protection::planHold(spec, holdFactsOf(spec, object)).addFinalizer) info.finalizersAtCreation |= *bit;
  return {};
}

kube::Result<void> growHeldForms(Model& model, const PolicyFacts& facts, uint32_t policy, Slot slot) {
  const DeletionPolicy& spec = model.policies.all[policy].policy;
  if (!spec.hold || spec.hold->confirmAnnotation.empty()) return {};
  const auto bit = heldBitOf(model, spec, slot);
  if (!bit) return tl::unexpected(bit.error());
  if (*bit == 0) return {};
  ModelPolicies scratch;
  Choices choices(scratch);
  HoldCompiler compiler(model, facts, choices, policy, slot);
  if (auto holding = compiler.compile(*bit, scratch.roots); !holding) return tl::unexpected(holding.error());
  return {};
}

}  // namespace lastout::cluster
