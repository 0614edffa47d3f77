#include "prove/murphi_tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "kube/object_references.h"
#include "kube/well_known.h"

namespace lastout::prove {

namespace {

using cluster::Interception;
using cluster::kNone;
using cluster::Model;
using cluster::RemovalNeeds;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;
using criticalservice::Criterion;

// Writes the functions of one model.
class TableWriter {
 public:
  TableWriter(const Model& model, const MurphiNames& names) : model_(model), names_(names) { collectCalls(); }

  std::string text() {
    objects();
    creation();
    relatives();
    calls();
    guards();
    controllers();
    return std::move(text_);
  }

 private:
  // An Interception, and the objects whose requests it is asked about.
  struct Call {
    Interception whom;
    std::map<Slot, const Interception*> of;
    bool keepsNamespaces = false;
  };

  void collectCalls();
  Call& callOf(const Interception& whom);
  void objects();
  void creation();
  void relatives();
  void calls();
  void guards();
  void services();
  void controllers();

  void range(const std::string& type, size_t count) {
    text_ += "type " + type + ": 0.." + std::to_string(std::max<size_t>(count, 1) - 1) + ";\n";
  }
  // A function of all slots.
  void bySlot(const std::string& head, const std::string& otherwise,
              const std::function<std::string(Slot)>& value) {
    std::vector<MurphiCase> cases;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const std::string one = value(slot);
      if (one != otherwise) cases.push_back(caseOf(names_.slot(slot), one));
    }
    text_ += murphiFunction(head, "s", otherwise, cases);
  }
  // A function of all slots and an index in a list that each has.
  void byPlace(const std::string& head, const std::string& otherwise,
               const std::function<std::vector<std::string>(Slot)>& values) {
    std::vector<MurphiCase> cases;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      std::string body;
      const std::vector<std::string> list = values(slot);
      for (size_t i = 0; i < list.size(); ++i)
        if (list[i] != otherwise)
          body += "if i = " + std::to_string(i) + " then return " + list[i] + "; end; ";
      if (!body.empty()) cases.push_back({names_.slot(slot), body + "return " + otherwise + ";"});
    }
    text_ += murphiFunction(head, "s", otherwise, cases);
  }
  void byNumber(const std::string& head, const std::string& variable, const std::string& otherwise,
                size_t count, const std::function<std::string(size_t)>& value) {
    std::vector<MurphiCase> cases;
    for (size_t i = 0; i < count; ++i) cases.push_back(caseOf(std::to_string(i), value(i)));
    text_ += murphiFunction(head, variable, otherwise, cases);
  }

  // A function of all controllers and the slots that each acts on.
  void byRemoval(const std::string& head, const std::string& otherwise,
                 const std::function<std::string(Slot, const cluster::Removal&)>& value) {
    std::map<uint32_t, std::string> bodies;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      for (const cluster::Removal& removal : model_.slots[slot].removals) {
        const std::string one = value(slot, removal);
        if (one != otherwise)
          bodies[removal.controller] += "if " + is(slot) + " then return " + one + "; end; ";
      }
    }
    std::vector<MurphiCase> cases;
    cases.reserve(bodies.size());
    for (const auto& [controller, body] : bodies)
      cases.push_back({std::to_string(controller), body + "return " + otherwise + ";"});
    text_ += murphiFunction(head, "c", otherwise, cases);
  }

  std::string present(Slot slot) const { return "present(" + names_.slot(slot) + ")"; }
  std::string allPresent(const std::vector<Slot>& slots) const {
    std::vector<std::string> all;
    all.reserve(slots.size());
    for (const Slot slot : slots) all.push_back(present(slot));
    return allOf(all);
  }
  std::string is(Slot slot) const { return "s = " + names_.slot(slot); }
  void podsOf(Slot workload, std::set<Slot>& pods) const;
  std::string hasReadyPod(Slot workload) const;
  std::string answers(const Interception& whom) const;
  std::string met(const Criterion& criterion) const;
  std::string isMet(const cluster::Ways& ways) const;
  std::string works(uint32_t controller) const;
  std::string canRemove(const cluster::Removal& removal) const;
  std::string mayRemove(Slot slot, const cluster::Removal& removal) const;
  struct GuardOf {
    Slot slot;
    admission::GuardEntry entry;
  };

  const Model& model_;
  const MurphiNames& names_;
  std::vector<Call> calls_;
  std::string text_ = "\n-- --- the objects of the scenario\n\n";
};

std::string kindOf(SlotKind kind) {
  switch (kind) {
    case SlotKind::Namespace:
      return "Namespace";
    case SlotKind::Crd:
      return "Crd";
    case SlotKind::Deployment:
      return "Deployment";
    case SlotKind::ReplicaSet:
      return "ReplicaSet";
    case SlotKind::StatefulSet:
      return "StatefulSet";
    case SlotKind::DaemonSet:
      return "DaemonSet";
    case SlotKind::Job:
      return "Job";
    case SlotKind::CronJob:
      return "CronJob";
    case SlotKind::Pod:
      return "Pod";
    case SlotKind::PersistentVolumeClaim:
      return "PersistentVolumeClaim";
    case SlotKind::PersistentVolume:
      return "PersistentVolume";
    case SlotKind::CriticalService:
      return "CriticalService";
    case SlotKind::Plain:
    case SlotKind::ManifestWork:
    case SlotKind::AppliedManifestWork:
    case SlotKind::ManifestWorkReplicaSet:
      break;
  }
  return "Plain";
}

void TableWriter::objects() {
  bySlot("kind(s: slot_t): kind_t", "Plain", [&](Slot slot) { return kindOf(model_.slots[slot].kind); });
  bySlot("is_immortal(s: slot_t): boolean", "false",
         [&](Slot slot) { return word(kube::isImmortal(model_.slots[slot].key)); });
  bySlot("orphans_by_default(s: slot_t): boolean", "false", [&](Slot slot) {
    return word(cluster::defaultPolicy(model_.slots[slot].key.type) == cluster::PropagationPolicy::Orphan);
  });
  bySlot("namespace_of(s: slot_t): slot_t", "nobody",
         [&](Slot slot) { return names_.slot(model_.slots[slot].namespaceSlot); });
  bySlot("crd_of(s: slot_t): slot_t", "nobody",
         [&](Slot slot) { return names_.slot(model_.slots[slot].crd); });
  bySlot("cleanup_of(s: slot_t): finalizer_t", "f_none",
         [&](Slot slot) { return names_.finalizer(slot, model_.slots[slot].cleanupBit); });
  bySlot("held_finalizer(s: slot_t): finalizer_t", "f_none",
         [&](Slot slot) { return names_.finalizer(slot, model_.slots[slot].heldBit); });
  bySlot("claims_stay(s: slot_t): boolean", "true", [&](Slot slot) {
    std::vector<std::string> all;
    for (const Slot claim : model_.slots[slot].claims)
      all.push_back("!terminating(" + names_.slot(claim) + ")");
    return allOf(all);
  });
  bySlot("may_start(s: slot_t): boolean", "true",
         [&](Slot slot) { return allPresent(model_.slots[slot].startsWith); });
}

void TableWriter::creation() {
  bySlot("value_at_creation(s: slot_t): value_t", "0",
         [&](Slot slot) { return std::to_string(model_.slots[slot].valueAtCreation); });
  bySlot("created_with(s: slot_t; f: finalizer_t): boolean", "false",
         [&](Slot slot) { return names_.isAnyOf("f", slot, model_.slots[slot].finalizersAtCreation); });
  byPlace("created_owned(s: slot_t; i: link_t): boolean", "false", [&](Slot slot) {
    std::vector<std::string> owned;
    for (size_t i = 0; i < model_.slots[slot].owners.size(); ++i)
      owned.push_back(word((model_.slots[slot].ownersAtCreation >> i & 1) != 0));
    return owned;
  });
}

void TableWriter::relatives() {
  const auto owners = [this](Slot slot, const std::function<std::string(const cluster::OwnerLink&)>& value) {
    std::vector<std::string> list;
    for (const cluster::OwnerLink& link : model_.slots[slot].owners) list.push_back(value(link));
    return list;
  };
  byPlace("owner_of(s: slot_t; i: link_t): slot_t", "nobody", [&](Slot slot) {
    return owners(slot, [&](const cluster::OwnerLink& link) { return names_.slot(link.owner); });
  });
  byPlace("blocks_owner(s: slot_t; i: link_t): boolean", "false", [&](Slot slot) {
    return owners(slot, [](const cluster::OwnerLink& link) { return word(link.blockOwnerDeletion); });
  });
  byPlace("child_of(s: slot_t; i: child_t): slot_t", "nobody", [&](Slot slot) {
    std::vector<std::string> list;
    for (const Slot child : model_.slots[slot].children) list.push_back(names_.slot(child));
    return list;
  });
}

// --- who is called: webhooks, conversions, other API servers

TableWriter::Call& TableWriter::callOf(const Interception& whom) {
  const auto identity = [](const Interception& one) {
    return std::tie(one.configuration, one.serviceKey, one.service, one.hasOtherEndpoints, one.workloads,
                    one.webhook, one.unreachable);
  };
  const auto found =
      std::ranges::find_if(calls_, [&](const Call& one) { return identity(one.whom) == identity(whom); });
  if (found != calls_.end()) return *found;
  calls_.push_back({.whom = whom, .of = {}});
  return calls_.back();
}

void TableWriter::collectCalls() {
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    for (const Interception& one : model_.slots[slot].interceptions) callOf(one).of[slot] = &one;
  }
  for (const Interception& one : model_.namespaceCalls) callOf(one).keepsNamespaces = true;
}

std::string TableWriter::answers(const Interception& whom) const {
  if (!whom.unreachable.empty()) return word(false);
  if (whom.hasOtherEndpoints) return present(whom.service);
  std::vector<std::string> any;
  for (const Slot workload : whom.workloads)
    any.push_back(model_.slots[workload].kind == SlotKind::Plain ? present(workload) : hasReadyPod(workload));
  return allOf({present(whom.service), anyOf(any)});
}

void TableWriter::calls() {
  range("call_t", calls_.size());
  byNumber("named_by(c: call_t): slot_t", "c", "nobody", calls_.size(),
           [&](size_t i) { return names_.slot(calls_[i].whom.configuration); });
  byNumber("answers(c: call_t): boolean", "c", "true", calls_.size(),
           [&](size_t i) { return answers(calls_[i].whom); });
  byNumber("keeps_namespaces(c: call_t): boolean", "c", "false", calls_.size(),
           [&](size_t i) { return word(calls_[i].keepsNamespaces); });
  byNumber("converts(c: call_t; s: slot_t): boolean", "c", "false", calls_.size(), [&](size_t i) {
    std::vector<std::string> any;
    for (const auto& [slot, one] : calls_[i].of)
      if (one->onCrdCleanup) any.push_back(is(slot));
    return anyOf(any);
  });
  byNumber("intercepts(c: call_t; s: slot_t; o: operation_t): boolean", "c", "false", calls_.size(),
           [&](size_t i) {
             std::vector<std::string> any;
             for (const auto& [slot, one] : calls_[i].of) {
               if (one->onCreate) any.push_back(is(slot) + " & o = OnCreate");
               if (one->onUpdate) any.push_back(is(slot) + " & o = OnUpdate");
               if (one->onDelete) any.push_back(is(slot) + " & o = OnDelete");
               if (one->onCleanup) any.push_back(is(slot) + " & o = OnCleanup");
               if (one->onStop) any.push_back(is(slot) + " & o = OnStop");
               if (one->onStart) any.push_back(is(slot) + " & o = OnStart");
               if (one->onRelease) any.push_back(is(slot) + " & o = OnRelease");
               if (one->onContent) any.push_back(is(slot) + " & o = OnContent");
             }
             return anyOf(any);
           });
}

// --- what lastout guards

// As the documents say it, object by object.
std::string TableWriter::met(const Criterion& criterion) const {
  if (!criticalservice::doubtOf(criterion).empty()) return "false";
  std::vector<std::string> any;
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    const kube::ObjectKey& key = model_.slots[slot].key;
    if (const auto* specific = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion)) {
      if (key == specific->object) any.push_back(present(slot));
    } else if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion)) {
      if (!isAbout(*finalizer, key)) continue;
      for (const std::string& carried : names_.finalizersMeantBy(finalizer->finalizerName))
        any.push_back("object[" + names_.slot(slot) + "].finalizers[" + carried + "]");
    } else if (const auto* reference = std::get_if<criticalservice::ReferenceCriterion>(&criterion)) {
      if (key.type == reference->type && kube::namesAny(model_.slots[slot].references, reference->reference))
        any.push_back(present(slot));
    } else if (key.type == criticalservice::typeOf(criterion)) {
      any.push_back(present(slot));
    }
  }
  return "!(" + anyOf(any) + ")";
}

std::string guardedAs(admission::GuardedAs kind, bool isItself) {
  switch (kind) {
    case admission::GuardedAs::Service:
      return isItself ? "GuardsItself" : "GuardsCrdOfServices";
    case admission::GuardedAs::Provider:
      return "GuardsProvider";
    case admission::GuardedAs::ProviderAncestor:
      return "GuardsAncestor";
    case admission::GuardedAs::Dependency:
      return "GuardsNeeded";
    case admission::GuardedAs::LastoutNamespace:
      return "GuardsHome";
  }
  return "GuardsHome";
}

void TableWriter::guards() {
  std::vector<GuardOf> all;
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    for (const admission::GuardEntry& entry : model_.slots[slot].guardEntries) all.push_back({slot, entry});
  }
  range("guard_t", all.size());
  range("service_t", model_.services.size());
  byNumber("guarded_slot(g: guard_t): slot_t", "g", "nobody", all.size(),
           [&](size_t i) { return names_.slot(all[i].slot); });
  byNumber("guard_service(g: guard_t): service_t", "g", "0", all.size(),
           [&](size_t i) { return std::to_string(all[i].entry.service); });
  byNumber("guarded_as(g: guard_t): guarded_as_t", "g", "GuardsHome", all.size(), [&](size_t i) {
    return guardedAs(all[i].entry.guardedAs, model_.services[all[i].entry.service] == all[i].slot);
  });
  services();
}

void TableWriter::services() {
  const size_t count = model_.services.size();
  byNumber("service_slot(v: service_t): slot_t", "v", "nobody", count,
           [&](size_t i) { return names_.slot(model_.services[i]); });
  byNumber("provider_of(v: service_t): slot_t", "v", "nobody", count, [&](size_t i) {
    return names_.slot(model_.find(model_.serviceSpecs[i].provider).value_or(kNone));
  });
  byNumber("says_hold(v: service_t): boolean", "v", "false", count, [&](size_t i) {
    return word(model_.serviceSpecs[i].enforcement == criticalservice::EnforcementMode::Hold);
  });
  byNumber("defers(v: service_t; by_controller: boolean): boolean", "v", "false", count,
           [&](size_t i) -> std::string {
             const criticalservice::DeferralMode mode = model_.serviceSpecs[i].deferral;
             if (mode == criticalservice::DeferralMode::Always) return "true";
             return mode == criticalservice::DeferralMode::Controllers ? "by_controller" : "false";
           });
  byNumber("criteria_met(v: service_t): boolean", "v", "true", count, [&](size_t i) {
    std::vector<std::string> all;
    for (const Criterion& criterion : model_.serviceSpecs[i].criteria) all.push_back(met(criterion));
    return allOf(all);
  });
}

// --- controllers

void TableWriter::podsOf(Slot workload, std::set<Slot>& pods) const {
  const SlotInfo& info = model_.slots[workload];
  if (info.kind == SlotKind::Pod) pods.insert(workload);
  if (info.kind == SlotKind::Pod || info.kind == SlotKind::PersistentVolumeClaim) return;
  for (const Slot child : info.children) podsOf(child, pods);
}

std::string TableWriter::hasReadyPod(Slot workload) const {
  if (workload == kNone) return "true";
  std::set<Slot> pods;
  podsOf(workload, pods);
  std::vector<std::string> any;
  any.reserve(pods.size());
  for (const Slot pod : pods) any.push_back("ready(" + names_.slot(pod) + ")");
  return anyOf(any);
}

std::string TableWriter::isMet(const cluster::Ways& ways) const {
  std::vector<std::string> any;
  any.reserve(ways.size());
  for (const std::vector<Slot>& way : ways) any.push_back(allPresent(way));
  return anyOf(any);
}

std::string TableWriter::works(uint32_t controller) const {
  const Slot runsIn = model_.controllers[controller].runsIn;
  if (runsIn == kNone) return "true";
  std::vector<std::string> all{hasReadyPod(runsIn)};
  for (const cluster::Ways& ways : model_.slots[runsIn].rights) all.push_back(isMet(ways));
  return allOf(all);
}

std::string TableWriter::canRemove(const cluster::Removal& removal) const {
  std::vector<std::string> all;
  for (const Slot slot : removal.needs.waitsFor) all.push_back("!" + present(slot));
  for (const RemovalNeeds::Need& need : removal.needs.needs) all.push_back(isMet(need.ways));
  return allOf(all);
}

// That the controller itself works is a condition of the rule.
std::string TableWriter::mayRemove(Slot slot, const cluster::Removal& removal) const {
  std::vector<std::string> all{canRemove(removal)};
  for (const uint32_t controller : removal.needs.candidates) {
    for (const cluster::Removal& other : model_.slots[slot].removals) {
      if (other.controller != controller || controller == removal.controller) continue;
      all.push_back(works(controller));
      all.push_back(canRemove(other));
    }
  }
  return allOf(all);
}

void TableWriter::controllers() {
  const size_t count = model_.controllers.size();
  range("controller_t", count);
  const auto removals = [this](size_t controller,
                               const std::function<std::string(Slot, const cluster::Removal&)>& condition) {
    std::vector<std::string> any;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      for (const cluster::Removal& removal : model_.slots[slot].removals)
        if (removal.controller == controller && removal.isCandidate())
          any.push_back(condition(slot, removal));
    }
    return anyOf(any);
  };
  byNumber("finalizer_of(c: controller_t): finalizer_t", "c", "f_none", count,
           [&](size_t i) { return names_.finalizerNamed(model_.controllers[i].finalizer); });
  byNumber("works(c: controller_t): boolean", "c", "false", count,
           [&](size_t i) { return works(static_cast<uint32_t>(i)); });
  byNumber("acts_on(c: controller_t; s: slot_t): boolean", "c", "false", count, [&](size_t i) {
    return removals(i, [this](Slot slot, const cluster::Removal&) { return is(slot); });
  });
  byNumber("may_remove(c: controller_t; s: slot_t): boolean", "c", "false", count, [&](size_t i) {
    return removals(i, [this](Slot slot, const cluster::Removal& removal) {
      return is(slot) + " & " + mayRemove(slot, removal);
    });
  });
  byRemoval("removal_request(c: controller_t; s: slot_t): operation_t", "OnUpdate",
            [](Slot, const cluster::Removal& removal) -> std::string {
              return removal.request == &Interception::onCleanup ? "OnCleanup" : "OnUpdate";
            });
  byRemoval("reported_to(c: controller_t; s: slot_t): slot_t", "nobody",
            [this](Slot, const cluster::Removal& removal) { return names_.slot(removal.needs.reportsTo); });
}

}  // namespace

std::string murphiTables(const Model& model, const MurphiNames& names) {
  return TableWriter(model, names).text();
}

}  // namespace lastout::prove
