#include "replay/narrate.h"

#include <algorithm>
#include <map>

#include "admission/guards.h"
#include "replay/blockers.h"

namespace lastout::replay {

namespace {

using cluster::Action;
using cluster::Actor;
using cluster::EventKind;
using cluster::SlotKind;

// What one action did to one object.
struct Deed {
  const Happening* last = nullptr;
  const Happening* denial = nullptr;
  bool requested = false;
  bool accepted = false;
  bool gone = false;
  bool created = false;
  bool changed = false;
};

Deed deedOf(std::span<const Happening> happenings) {
  Deed deed;
  deed.last = &happenings.back();
  for (const Happening& happening : happenings) {
    switch (happening.event.kind) {
      case EventKind::Requested:
        deed.requested = true;
        break;
      case EventKind::Denied:
        deed.denial = &happening;
        break;
      case EventKind::Accepted:
        deed.accepted = true;
        break;
      case EventKind::Gone:
        deed.gone = true;
        break;
      case EventKind::Created:
        deed.created = true;
        break;
      case EventKind::Changed:
        deed.changed = true;
        break;
    }
  }
  return deed;
}

class Narrator {
 public:
  Narrator(const cluster::Machine& machine, const Names& names)
      : model_(machine.model()), names_(names), denials_(machine) {}

  // Empty: nothing worth a line.
  std::string sentence(const Deed& deed) {
    const Happening& last = *deed.last;
    const std::string& object = names_.of(last.event.slot);
    const std::string who = actorName(model_, names_, last.event.actor, last.event.by);
    if (deed.denial != nullptr) return denial(*deed.denial, who, object);
    if (deed.accepted)
      return who + " deletes " + object + policy(last) + notReviewed(last.event.slot) +
             (deed.gone ? ": gone" : waits(last));
    if (deed.gone) return departure(last, who, object);
    if (deed.created) return who + " creates " + object;
    if (deed.requested && last.action.kind != Action::Kind::Commit) return request(last, who, object);
    return deed.changed ? change(last, who, object) : std::string();
  }

 private:
  // Allowed at first sight, or nothing to delete. A Namespace that already terminates is answered without a
  // review.
  std::string request(const Happening& last, const std::string& who, const std::string& object) const {
    const std::string asks = who + " asks to delete " + object;
    if (!last.object.present()) return asks + ": it is already gone";
    const bool isNamespace = model_.slots[last.event.slot].kind == SlotKind::Namespace;
    return asks + (isNamespace && last.object.terminating() ? ": it already terminates"
                                                            : ": allowed, to be confirmed");
  }

  std::string denial(const Happening& happening, const std::string& who, const std::string& object) {
    const cluster::ClusterEvent& event = happening.event;
    const bool isStep = event.actor == Actor::Client && event.by != cluster::kNone;
    const bool isDelete = isStep ? model_.steps[event.by].verb == cluster::ClientStep::Verb::Delete
                                 : happening.action.kind != Action::Kind::WriteLabels;
    const std::string asks = who + (isDelete ? " asks to delete " : " asks to write ") + object + ": ";
    if (event.refused == nullptr)
      return asks + "denied, " +
             denials_.blockersOf(happening.state, event.slot, askerOf(model_, happening.action, event))
                 .sentence();
    const std::string_view reason = event.refused;
    if (reason == "NotFound" && isDelete) return asks + "it is already gone";
    if (reason == "InternalError") return asks + "denied, a webhook for it does not answer";
    return asks + "refused, " + event.refused;
  }

  std::string policy(const Happening& last) const {
    if (last.event.actor == Actor::TimeToLive) return ", which has finished";
    if (last.event.actor != Actor::Client || last.event.by == cluster::kNone) return {};
    const cluster::ClientStep& step = model_.steps[last.event.by];
    if (model_.orphans(step)) return ", leaving its dependents";
    const bool isForeground = step.hasPolicy && step.policy == cluster::PropagationPolicy::Foreground;
    return isForeground ? " in the foreground" : "";
  }

  // Returns that API servers do not ask lastout about the object, if a CriticalService guards it.
  std::string notReviewed(cluster::Slot slot) const {
    const kube::ObjectKey& key = model_.slots[slot].key;
    if (!model_.guarded) return {};
    if (admission::isReviewed(key, model_.lastoutNamespace ? model_.lastoutNamespace->name : "")) return {};
    const auto isKey = [&](const criticalservice::Dependency& one) { return one.object == key; };
    for (size_t i = 0; i < model_.serviceSpecs.size(); ++i) {
      const criticalservice::CriticalService& service = model_.serviceSpecs[i];
      if (service.intent == criticalservice::DeletionIntent::OrphanResources) continue;
      if (service.provider == key || std::ranges::any_of(model_.dependencies[i], isKey))
        return ", about which API servers do not ask lastout";
    }
    return {};
  }

  // What a terminating object waits for.
  std::string waits(const Happening& last) const {
    const cluster::SlotInfo& info = model_.slots[last.event.slot];
    std::string what;
    const auto add = [&](std::string_view name) {
      what += (what.empty() ? "" : " and ") + std::string(name);
    };
    for (size_t i = 0; i < info.finalizers.size(); ++i) {
      const unsigned bit = 1u << i;
      if ((last.object.finalizers & bit) != 0)
        add((info.cleanupBit & bit) != 0   ? cleanup(info.kind)
            : (info.keptBit & bit) != 0    ? "what it has applied"
            : (info.heldBit & bit) != 0    ? "its criteria"
            : (info.policyBits & bit) != 0 ? "what its deletion policy waits for"
                                           : info.finalizers[i]);
    }
    if ((last.object.finalizers & cluster::kForegroundBit) != 0) add("its dependents");
    if ((last.object.finalizers & cluster::kOrphanBit) != 0) add("its dependents to be let go");
    if (what.empty()) return info.kind == SlotKind::Pod ? ": it is stopping" : ": accepted";
    return ": accepted, waits for " + what;
  }

  // What its own controller is for.
  static std::string_view cleanup(SlotKind kind) {
    switch (kind) {
      case SlotKind::Namespace:
        return "its content";
      case SlotKind::Crd:
        return "its instances";
      case SlotKind::PersistentVolumeClaim:
        return "the Pods that mount it";
      case SlotKind::PersistentVolume:
        return "the claims that are bound to it";
      case SlotKind::ManifestWorkReplicaSet:
        return "its ManifestWorks";
      default:
        return "its agent";
    }
  }

  std::string departure(const Happening& last, const std::string& who, const std::string& object) const {
    switch (last.action.kind) {
      case Action::Kind::Finalize: {
        const cluster::FinalizerController& controller = model_.controllers[last.action.b];
        return who + " removes " + controller.finalizer + " from " + object + ": gone";
      }
      case Action::Kind::CrdFinish:
        return "no instance of " + object + " is left: gone";
      case Action::Kind::NamespaceFinish:
        return "nothing is left in " + object + ": gone";
      case Action::Kind::PodStop:
        return object + " has stopped: gone";
      case Action::Kind::ClaimRelease:
        return "no Pod mounts " + object + " any more: gone";
      case Action::Kind::VolumeRelease:
        return "no claim is bound to " + object + " any more: gone";
      default:
        return who + " releases " + object + ": gone";
    }
  }

  std::string change(const Happening& last, const std::string& who, const std::string& object) const {
    switch (last.action.kind) {
      case Action::Kind::Finalize:
        return who + " removes " + model_.controllers[last.action.b].finalizer + " from " + object;
      case Action::Kind::PodReady:
        return object + " is Ready";
      case Action::Kind::Send:
        return who + " changes " + object;
      case Action::Kind::CollectorRelease:
        return who + " releases " + object;
      case Action::Kind::LetGo:
        return who + " lets " + object + " go";
      case Action::Kind::WriteLabels:
        return who + " writes the labels of " + object;
      case Action::Kind::Confirmation:
        return who + " writes into the status of " + object + " whether its cascade is confirmed";
      case Action::Kind::KeepWork:
        return (last.object.finalizers & model_.slots[last.event.slot].keptBit) != 0
                   ? who + " keeps " + object + " until what it has applied is gone"
                   : who + " keeps " + object + " no longer";
      case Action::Kind::HoldProvider:
        return isHeld(last) ? who + " holds " + object + " until its criteria hold"
                            : who + " holds " + object + " no longer";
      case Action::Kind::Commit:
        return last.event.actor == Actor::Lastout ? who + " holds " + object + " no longer" : std::string();
      default:
        return {};
    }
  }

  bool isHeld(const Happening& last) const {
    return (last.object.finalizers & model_.slots[last.event.slot].heldBit) != 0;
  }

  const cluster::Model& model_;
  const Names& names_;
  DenialCache denials_;
};

}  // namespace

std::string actorName(const cluster::Model& model, const Names& names, Actor actor, uint32_t by) {
  switch (actor) {
    case Actor::Client:
      return by == cluster::kNone ? "a client" : model.steps[by].as;
    case Actor::Agent:
      return by == cluster::kNone ? "an agent" : "the agent of " + names.of(model.works[by].manifestWork);
    case Actor::Collector:
      return "the garbage collector";
    case Actor::Lifecycle:
      return "the namespace controller";
    case Actor::CrdCleanup:
      return "CRD clean-up";
    case Actor::Workloads:
      return "the workload controller";
    case Actor::Kubelet:
      return "the node";
    case Actor::Claims:
      return "claim protection";
    case Actor::Finalizers:
      return by == cluster::kNone ? "a controller" : "controller " + model.controllers[by].name;
    case Actor::TimeToLive:
      return "the TTL controller";
    case Actor::ReplicaSets:
      return "the controller of ManifestWorkReplicaSets";
    case Actor::Lastout:
      return "lastout";
  }
  return {};
}

std::vector<Line> narrate(const cluster::Machine& machine, const Names& names,
                          std::span<const Happening> log) {
  Narrator narrator(machine, names);
  std::vector<Line> lines;
  std::map<std::string, size_t> denials;  // sentence -> line
  for (size_t begin = 0; begin < log.size();) {
    size_t end = begin + 1;
    while (end < log.size() && log[end].number == log[begin].number &&
           log[end].event.slot == log[begin].event.slot)
      ++end;
    const Deed deed = deedOf(log.subspan(begin, end - begin));
    begin = end;
    Line line{.at = deed.last->at, .text = narrator.sentence(deed)};
    if (line.text.empty()) continue;
    if (deed.gone) line.tone = Line::Tone::Gone;
    if (deed.denial != nullptr) {
      line.tone = Line::Tone::Denied;
      const auto [first, isNew] = denials.try_emplace(line.text, lines.size());
      if (!isNew) {
        ++lines[first->second].repeats;
        lines[first->second].until = line.at;
        continue;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lastout::replay
