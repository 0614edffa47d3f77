#include "prove/murphi.h"

#include <algorithm>
#include <functional>
#include <set>

#include "kube/well_known.h"
#include "prove/murphi_tables.h"

namespace lastout::prove {

namespace {

using cluster::ClientStep;
using cluster::ObjectState;
using cluster::Slot;
using cluster::SlotInfo;

// Writes the model of one scenario.
class MurphiModel {
 public:
  MurphiModel(const replay::Compiled& compiled, const ProofScope& scope)
      : compiled_(compiled), model_(compiled.model), names_(model_), scope_(scope) {}

  std::string text() {
    const std::span<const kube::CompiledText> rules = murphiTexts();
    std::string text = declarations() + "\n" + std::string(rules[1].text) + murphiTables(model_, names_) +
                       steps() + events();
    for (const kube::CompiledText& part : rules.subspan(2)) text += "\n" + std::string(part.text);
    return text + start() + goal();
  }

 private:
  std::string declarations() const;
  std::string steps() const;
  std::string events() const;
  std::string happens(Slot slot, cluster::EventKind kind, uint32_t bit) const;
  std::string start() const;
  std::string startOf(Slot slot, const ObjectState& object) const;
  std::string goal() const;
  std::set<uint32_t> keptBits() const;

  const replay::Compiled& compiled_;
  const cluster::Model& model_;
  const MurphiNames names_;
  const ProofScope& scope_;
};

std::string MurphiModel::declarations() const {
  std::string text =
      "-- A scenario of lastout. docs/prove.md, \"A second opinion\", tells how to check it with "
      "Rumur.\n\nconst\n";
  text += "  STOPPED: 2;  -- the value of a Pod that its node reports stopped\n  READY: 1;\n";
  text += "  ORDERED: " + number(criticalservice::DeletionIntent::Ordered) +
          ";  -- the value of a CriticalService\n";
  text += "  ORPHAN_RESOURCES: " + number(criticalservice::DeletionIntent::OrphanResources) + ";\n";
  text += "  NO_CHILD: " + std::to_string(names_.mostChildren()) + ";\n";
  text += "  PODS_FIRST: " + word(kube::deletesPodsFirst(model_.kubernetes)) + ";\n";
  text += "  GUARDED: " + word(model_.guarded) + ";\n";
  text += "  CARRIES_OUT: " + word(model_.guarded && model_.runsDeferredDeletions) + ";\n\ntype\n";
  text += "  slot_t: enum { nobody" + names_.allSlots() + " };\n";
  text += "  finalizer_t: enum { f_none, f_foreground, f_orphan" + names_.allFinalizers() + " };\n";
  text += "  link_t: 0.." + std::to_string(names_.mostOwners() - 1) + ";\n";
  text += "  child_t: 0..NO_CHILD;\n";
  text += "  step_t: 0.." + std::to_string(std::max<size_t>(model_.steps.size(), 1) - 1) + ";\n";
  text += "  value_t: 0.." + std::to_string(cluster::kMaxReplicas) + ";\n";
  text += "\n" + std::string(murphiTexts()[0].text);
  if (!keptBits().empty()) text += "\nvar\n";
  for (const uint32_t bit : keptBits()) text += "  event_" + std::to_string(bit) + ": boolean;\n";
  return text + "\n";
}

// --- what clients ask for

std::string verbOf(const ClientStep& step) {
  if (step.verb == ClientStep::Verb::Delete) return step.dryRun ? "DryRun" : "Delete";
  if (step.verb == ClientStep::Verb::Create) return "Create";
  return step.verb == ClientStep::Verb::SetFinalizers ? "SetFinalizers" : "SetValue";
}

std::string policyOf(const ClientStep& step) {
  return step.hasPolicy ? std::string(toString(step.policy)) : "Unsaid";
}

std::string insistenceOf(const ClientStep& step) {
  switch (step.precondition) {
    case cluster::Precondition::None:
      return "OnNothing";
    case cluster::Precondition::Uid:
      return "OnUid";
    case cluster::Precondition::ResourceVersion:
      return "OnVersion";
  }
  return "OnNothing";
}

std::string MurphiModel::steps() const {
  const auto table = [this](const std::string& head, const std::string& otherwise,
                            const std::function<std::string(const ClientStep&)>& value) {
    std::vector<MurphiCase> cases;
    for (size_t i = 0; i < model_.steps.size(); ++i)
      cases.push_back(caseOf(std::to_string(i), value(model_.steps[i])));
    return murphiFunction(head, "t", otherwise, cases);
  };
  std::string text = table("step_object(t: step_t): slot_t", "nobody",
                           [this](const ClientStep& step) { return names_.slot(step.object); });
  text += table("verb(t: step_t): verb_t", "Delete", verbOf);
  text += table("step_policy(t: step_t): policy_t", "Unsaid", policyOf);
  text += table("insistence(t: step_t): insistence_t", "OnNothing", insistenceOf);
  text +=
      table("retries(t: step_t): boolean", "false", [](const ClientStep& step) { return word(step.retry); });
  text += table("is_server_side(t: step_t): boolean", "false",
                [](const ClientStep& step) { return word(step.serverSide); });
  text += table("step_value(t: step_t): value_t", "0", [](const ClientStep& step) {
    const bool isValue =
        step.verb == ClientStep::Verb::SetReplicas || step.verb == ClientStep::Verb::SetIntent;
    return std::to_string(isValue ? step.value : 0);
  });
  text +=
      table("sets_finalizer(t: step_t; f: finalizer_t): boolean", "false", [this](const ClientStep& step) {
        const bool sets = step.verb == ClientStep::Verb::SetFinalizers;
        const uint16_t ofSpec = cluster::specFinalizers(model_.slots[step.object]);
        const auto wanted = static_cast<uint16_t>(step.value & ~ofSpec);
        return names_.isAnyOf("f", step.object, sets ? wanted : uint16_t{0});
      });
  std::vector<MurphiCase> waits;
  for (size_t i = 0; i < compiled_.sendAfter.size(); ++i) {
    const replay::WatchedEvent& event = compiled_.sendAfter[i];
    if (event.slot != cluster::kNone)
      waits.push_back(caseOf(std::to_string(i), "event_" + std::to_string(event.bit)));
  }
  return text + murphiFunction("may_be_sent(t: step_t): boolean", "t", "true", waits);
}

// --- what is expected to happen in some order

std::set<uint32_t> MurphiModel::keptBits() const {
  std::set<uint32_t> bits;
  for (const replay::WatchedEvent& event : compiled_.sendAfter)
    if (event.slot != cluster::kNone) bits.insert(event.bit);
  for (const replay::WatchedEvent& event : compiled_.replaced) bits.insert(event.bit);
  if (!scope_.orders) return bits;
  for (const replay::BeforePair& pair : compiled_.before) bits.insert(pair.first.bit);
  return bits;
}

std::string wordOf(cluster::EventKind kind) {
  switch (kind) {
    case cluster::EventKind::Requested:
      return "Requested";
    case cluster::EventKind::Denied:
      return "Refused";
    case cluster::EventKind::Accepted:
      return "Accepted";
    case cluster::EventKind::Gone:
      return "Gone";
    case cluster::EventKind::Created:
      return "Created";
    case cluster::EventKind::Changed:
      return "Changed";
  }
  return "Changed";
}

// Returns what the rules do when this event of the slot, which has that monitor bit, happens.
std::string MurphiModel::happens(Slot slot, cluster::EventKind kind, uint32_t bit) const {
  std::string text;
  if (scope_.orders && (compiled_.neverBits >> bit & 1) != 0)
    text += "    error \"this should never happen\";\n";
  for (const replay::BeforePair& pair : compiled_.before) {
    if (!scope_.orders || pair.second.bit != bit) continue;
    text += "    if !event_" + std::to_string(pair.first.bit) + " then error \"this came too early\"; end;\n";
  }
  if (keptBits().contains(bit)) text += "    event_" + std::to_string(bit) + " := true;\n";
  if (text.empty()) return {};
  return "  if e = " + wordOf(kind) + " & s = " + names_.slot(slot) + " then\n" + text + "  end;\n";
}

std::string MurphiModel::events() const {
  std::string text = "procedure happened(e: event_t; s: slot_t);\nbegin\n";
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    const auto& monitors = model_.slots[slot].monitors;
    for (size_t kind = 0; kind < monitors.size(); ++kind)
      if (monitors.at(kind) != 0)
        text += happens(slot, static_cast<cluster::EventKind>(kind), monitors.at(kind) - 1U);
  }
  return text + "end;\n";
}

// --- the beginning and the goal

std::string MurphiModel::startOf(Slot slot, const ObjectState& object) const {
  if (!object.present()) return {};
  const std::string it = "  object[" + names_.slot(slot) + "].";
  std::string text = it + "presence := " + (object.live() ? "Live" : "Terminating") + ";\n";
  if (object.value != 0) text += it + "value := " + std::to_string(object.value) + ";\n";
  for (const std::string& finalizer : names_.finalizers(slot, object.finalizers))
    text += it + "finalizers[" + finalizer + "] := true;\n";
  for (size_t i = 0; i < model_.slots[slot].owners.size(); ++i) {
    if (object.owner(i) == cluster::OwnerState::None) continue;
    const bool isCurrent = object.owner(i) == cluster::OwnerState::Current;
    text += it + "owners[" + std::to_string(i) + "] := " + (isCurrent ? "Current" : "Dangling") + ";\n";
  }
  return text;
}

std::string MurphiModel::start() const {
  const cluster::Machine machine(model_);
  std::vector<uint64_t> words = machine.initial();
  const cluster::StateRef state(words.data(), machine.layout());
  std::string text = "\nstartstate\nbegin\n  clear object;\n  clear step;\n";
  for (const uint32_t bit : keptBits()) text += "  event_" + std::to_string(bit) + " := false;\n";
  if (model_.steps.empty()) text += "  step[0].sent := true;\n  step[0].done := true;\n";
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) text += startOf(slot, state.object(slot));
  return text + "end;\n";
}

std::string MurphiModel::goal() const {
  std::vector<std::string> all{"forall t: step_t do step[t].sent end"};
  for (const Slot slot : compiled_.goal) {
    std::vector<std::string> any{"!present(" + names_.slot(slot) + ")"};
    for (const replay::WatchedEvent& gone : compiled_.replaced)
      if (gone.slot == slot)
        any.push_back(allOf({"event_" + std::to_string(gone.bit), "live(" + names_.slot(slot) + ")"}));
    all.push_back(anyOf(any));
  }
  for (const std::vector<Slot>& some : compiled_.exists) {
    if (!compiled_.mustExist) break;
    std::vector<std::string> any;
    any.reserve(some.size());
    for (const Slot slot : some) any.push_back("live(" + names_.slot(slot) + ")");
    all.push_back(anyOf(any));
  }
  return "\nliveness \"can end\" " + allOf(all) + ";\n";
}

// --- what the rules do not cover

kube::Errors uncovered(const cluster::Model& model) {
  kube::Errors errors;
  const auto refuse = [&](const std::string& what) {
    errors.push_back(
        {"a model for Rumur has no rules for " + what + ": prove the scenario without --murphi", {}, {}});
  };
  if (!model.works.empty()) refuse("ManifestWorks");
  const auto hasReplicaSets = [](const SlotInfo& info) {
    return info.kind == cluster::SlotKind::ManifestWorkReplicaSet;
  };
  if (std::ranges::any_of(model.slots, hasReplicaSets)) refuse("ManifestWorkReplicaSets");
  if (std::ranges::any_of(model.slots, [](const SlotInfo& info) { return info.timeToLive.has_value(); }))
    refuse("ttlSecondsAfterFinished");
  const auto isUnresolved = [](const SlotInfo& info) {
    return std::ranges::any_of(info.owners, &cluster::OwnerLink::unresolved);
  };
  const auto hasSpecFinalizers = [](const SlotInfo& info) {
    return (info.namespaceBits & ~info.cleanupBit) != 0;
  };
  const auto hasFinalizerTwice = [](const SlotInfo& info) {
    return std::ranges::count(info.finalizers, kube::kNamespaceSpecFinalizer) > 1;
  };
  if (std::ranges::any_of(model.slots, hasFinalizerTwice))
    refuse("finalizer kubernetes in the metadata of a Namespace");
  if (std::ranges::any_of(model.slots, hasSpecFinalizers)) refuse("other spec.finalizers of a Namespace");
  if (std::ranges::any_of(model.slots, isUnresolved))
    refuse("owners that the garbage collector cannot look for");
  if (!model.policies.none()) refuse("DeletionPolicies");
  if (std::ranges::any_of(model.steps,
                          [](const ClientStep& step) { return step.verb == ClientStep::Verb::SetForm; }))
    refuse("steps that write labels, annotations or fields");
  return errors;
}

}  // namespace

tl::expected<std::string, kube::Errors> toMurphi(const replay::Compiled& compiled, const ProofScope& scope) {
  if (kube::Errors errors = uncovered(compiled.model); !errors.empty())
    return tl::unexpected(std::move(errors));
  return MurphiModel(compiled, scope).text();
}

}  // namespace lastout::prove
