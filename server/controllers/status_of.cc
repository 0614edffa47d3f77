#include "server/controllers/status_of.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/deferral.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/understanding.h"
#include "graph/blockers.h"
#include "graph/names.h"
#include "kube/messages.h"
#include "kube/timestamp.h"
#include "kube/value.h"
#include "protection/implied.h"
#include "server/controllers/dependency_standing.h"
#include "server/controllers/finalizer_names.h"
#include "server/watch/unknown_types.h"

namespace lastout::server {
namespace {

using criticalservice::CriticalService;
using graph::Knowledge;
using kube::Json;

constexpr const char* kProviderTerminating = "ProviderTerminating";
constexpr size_t kMostExamples = 10;
constexpr size_t kMostLookedAt = 10'000;    // holders of a criterion
constexpr size_t kMostInCycle = 3;          // root blockers that are looked at to find one
constexpr uint32_t kMostForCycles = 1'000;  // vertices that are walked to find one
// A provider that restarts is not ready for a while.
constexpr std::chrono::seconds kProviderMayRest{60};
constexpr const char* kNotUnderstood = "NotUnderstood";

// --- conditions

struct ConditionText {
  std::optional<bool> status;  // nullopt: Unknown
  std::string reason;
  std::string message;
};

std::string_view wordOf(std::optional<bool> status) {
  return !status ? "Unknown" : *status ? "True" : "False";
}

std::string cut(std::string text) {
  if (text.size() <= admission::kLongestMessage) return text;
  return kube::atMost(std::move(text), admission::kLongestMessage - 3) + "...";
}

Json* findCondition(Json& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(
      conditions, [&](const Json& condition) { return condition.value("type", Json()) == Json(type); });
  return found == conditions.end() ? nullptr : &*found;
}

// The status being made, which began as the one that stands there.
class StatusText {
 public:
  StatusText(Json standing, int64_t generation, std::chrono::sys_seconds now)
      : status_(standing.is_object() ? std::move(standing) : Json::object()),
        generation_(generation),
        now_(now) {
    status_["observedGeneration"] = generation;
    Json conditions = Json::array();
    for (const Json& condition : status_.value("conditions", Json::array())) {
      if (condition.is_object()) conditions.push_back(condition);
    }
    status_["conditions"] = std::move(conditions);
  }

  // When the condition became what it is: now, unless it was that before.
  void set(std::string_view type, ConditionText text) {
    Json wanted = {{"type", type},
                   {"status", wordOf(text.status)},
                   {"observedGeneration", generation_},
                   {"lastTransitionTime", kube::timestampText(now_)},
                   {"reason", std::move(text.reason)},
                   {"message", cut(std::move(text.message))}};
    Json* found = findCondition(status_["conditions"], type);
    if (found == nullptr) {
      status_["conditions"].push_back(std::move(wanted));
      return;
    }
    const Json since = found->value("lastTransitionTime", Json());
    if (found->value("status", Json()) == wanted["status"] && since.is_string())
      wanted["lastTransitionTime"] = since;
    *found = std::move(wanted);
  }
  // For how long a condition that was set has been what it is.
  std::chrono::seconds age(std::string_view type) {
    const Json* condition = findCondition(status_["conditions"], type);
    const auto since = kube::parseTimestamp((*condition)["lastTransitionTime"].get<std::string>());
    return since ? now_.time_since_epoch() - std::chrono::seconds(*since) : std::chrono::seconds(0);
  }
  void put(const char* key, Json value) {
    if (value.empty()) {
      status_.erase(key);
    } else {
      status_[key] = std::move(value);
    }
  }
  Json take() { return std::move(status_); }

 private:
  Json status_;
  const int64_t generation_;
  const std::chrono::sys_seconds now_;
};

// --- what is known

struct CriterionState {
  std::string field;  // that asks for it
  uint32_t holders = 0;
  std::vector<graph::ObjectId> examples;       // by name
  std::optional<graph::ObjectId> terminating;  // one that is being deleted, the first by name
  bool sawAll = true;                          // false: there are more holders than are looked at
  std::string why;                             // not met, as far as is known; empty: it is
};

CriterionState look(const graph::Graph& graph, const CriticalService& service, size_t number) {
  const criticalservice::Criterion& criterion = service.criteria[number];
  CriterionState state{criticalservice::fieldOf(service, number), 0, {}, {}, true,
                       admission::whyUnmet(graph, criterion)};
  state.why += admission::whyUnresolvable(graph, service, number);
  const auto condition = graph.findCondition(criticalservice::conditionOf(criterion));
  if (!condition) return state;
  state.holders = graph.holders(*condition);
  std::vector<graph::ObjectId>& seen = state.examples;
  seen.resize(std::min<size_t>(state.holders, kMostLookedAt));
  seen.resize(graph.someHolders(*condition, seen));
  state.sawAll = seen.size() == state.holders;
  // All of them are of one type.
  const auto before = [&](graph::ObjectId a, graph::ObjectId b) {
    const int order = graph.namespaceName(a).compare(graph.namespaceName(b));
    return order != 0 ? order < 0 : graph.name(a) < graph.name(b);
  };
  for (const graph::ObjectId object : seen) {
    if (graph.isTerminating(object) && (!state.terminating || before(object, *state.terminating)))
      state.terminating = object;
  }
  const size_t shown = std::min(seen.size(), kMostExamples);
  std::partial_sort(seen.begin(), seen.begin() + static_cast<ptrdiff_t>(shown), seen.end(), before);
  seen.resize(shown);
  return state;
}

struct ProviderObservation {
  std::optional<bool> present;  // nullopt: not seen, and it is not known whether that means anything
  bool terminating = false;
  bool held = false;  // by lastout's finalizer
  criticalservice::ProviderStatus seen;
  std::string uid;  // of the one that is there
};

ProviderObservation lookAtProvider(const graph::Graph& graph, const CriticalService& service) {
  ProviderObservation state;
  const auto object = graph.find(service.provider);
  if (object) {
    state.present = true;
    state.terminating = graph.isTerminating(*object);
    state.held = admission::deletionEffectOf(graph, *object) == admission::DeletionEffect::Held;
    state.uid = graph.uid(*object);
    state.seen = criticalservice::observeProvider(service, state.uid);
  } else {
    if (graph::isBelievable(graph, service.provider.type)) state.present = false;
    state.seen = criticalservice::observeProvider(service, std::nullopt);
  }
  return state;
}

std::set<kube::GroupResource> typesOf(const CriticalService& service) {
  std::set<kube::GroupResource> types{service.provider.type};
  for (const criticalservice::Criterion& criterion : service.criteria)
    types.insert(criticalservice::typeOf(criterion));
  return types;
}

// --- what the conditions say

ConditionText satisfied(const std::vector<CriterionState>& criteria) {
  std::vector<std::string> why;
  bool held = false;
  for (const CriterionState& criterion : criteria) {
    if (!criterion.why.empty()) why.push_back(criterion.why);
    held = held || criterion.holders > 0;
  }
  if (why.empty()) return {true, "CriteriaMet", "every criterion holds, as far as was seen"};
  if (held) return {false, "CriterionUnmet", joinedForPeople(why)};
  return {std::nullopt, "CriterionUnknown", joinedForPeople(why)};
}

ConditionText providerReady(const graph::Graph& graph, const CriticalService& service,
                            const ProviderObservation& provider,
                            const criticalservice::Readiness& readiness) {
  const std::string name = toString(service.provider);
  if (!provider.present)
    return {std::nullopt, "ProviderUnknown", admission::whyUnknown(graph, service.provider.type)};
  if (!*provider.present) return {false, "ProviderAbsent", name + " is not there"};
  ConditionText text{readiness.ready, readiness.reason, name + ": " + readiness.message};
  if (provider.terminating) text.message += "; it is being deleted";
  if (provider.seen.replaced)
    text.message += "; it has uid " + provider.uid + ", the one that was seen first had " + provider.seen.uid;
  return text;
}

// The reason of a condition as it stands; empty: there is no such condition.
std::string standingReason(const Json& standing, std::string_view type) {
  if (!standing.is_object() || !standing.contains("conditions")) return {};
  for (const Json& condition : standing["conditions"]) {
    if (!condition.is_object() || condition.value("type", Json()) != Json(type)) continue;
    const Json reason = condition.value("reason", Json());
    return reason.is_string() ? reason.get<std::string>() : std::string();
  }
  return {};
}

// Nobody is asked when the last finalizer of a terminating object goes. That is as it should be of a provider
// that lastout has let go, because its criteria held, and of one that its own finalizer holds.
ConditionText enforced(const CriticalService& service, const Json& standing,
                       const ProviderObservation& provider, const ConditionText& satisfied,
                       const WebhookEnforcement& enforcement) {
  const bool wasLetGo = !service.providerUid.empty() && satisfied.status != std::optional(false) &&
                        standingReason(standing, "Enforced") != kProviderTerminating;
  if (!provider.terminating || provider.held || wasLetGo || enforcement.isGivenUp)
    return {enforcement.enforced, enforcement.reason, enforcement.message};
  return {false, kProviderTerminating,
          toString(service.provider) +
              " is being deleted already: it goes with its last finalizer, and nobody is asked"};
}

// Something waits for itself, by what orders deletions; found within bounded time.
std::optional<std::string> cycleBehind(const graph::Graph& graph, const CriticalService& service) {
  const auto provider = graph.findNamed(service.provider);
  if (!provider) return std::nullopt;
  const graph::Blockers blockers =
      graph::blockers(graph, graph::vertexOf(*provider), {1, 1, kMostInCycle, kMostForCycles});
  for (const graph::RootBlocker& root : blockers.roots) {
    if (root.kind == graph::RootBlocker::Kind::Cycle)
      return graph::describe(graph, root.vertex) +
             " waits for itself, by what goes after what: change one of the criteria";
  }
  return std::nullopt;
}

ConditionText stuck(const graph::Graph& graph, const CriticalService& service,
                    const std::vector<CriterionState>& criteria, const ProviderObservation& provider,
                    const ConditionText& ready, std::chrono::seconds readyFor) {
  const auto found = std::ranges::find_if(
      criteria, [](const CriterionState& criterion) { return criterion.terminating.has_value(); });
  if (found == criteria.end()) {
    if (std::ranges::all_of(criteria, &CriterionState::sawAll))
      return {false, "NothingBeingDeleted", "nothing that a criterion waits for is being deleted"};
    return {std::nullopt, "TooManyToLookAt",
            "none of the first " + std::to_string(kMostLookedAt) +
                " objects that a criterion waits for is being deleted; of the others it is not known"};
  }
  const std::string what = toString(graph.key(*found->terminating)) + " is being deleted";
  const std::string advice =
      ": bring the provider back; or, if nothing is left to clean up, remove finalizers by hand";
  if (provider.present == std::optional(false))
    return {true, ready.reason, what + ", and " + ready.message + " to finish that" + advice};
  if (auto cycle = cycleBehind(graph, service)) return {true, "Cycle", what + ", and " + *cycle};
  if (!ready.status) return {std::nullopt, ready.reason, what + "; " + ready.message};
  if (*ready.status) return {false, "ProviderReady", what + ", and the provider is ready to finish that"};
  if (readyFor < kProviderMayRest) return {false, "ProviderNotReadyYet", what + "; " + ready.message};
  return {true, "ProviderNotReady",
          what + ", and the provider is not ready to finish that; " + ready.message};
}

// What is not understood, or, if `missing`, was never installed, in words; empty: nothing of that kind.
std::string doubts(const CriticalService& service, bool missing) {
  std::vector<std::string> why;
  if (!missing) {
    if (!service.providerDoubt.empty()) why.push_back("spec.provider: " + service.providerDoubt);
    for (const auto& [place, doubt] : service.dependencyDoubts)
      why.push_back(criticalservice::fieldOfDependency(place) + ": " + doubt);
  }
  for (size_t i = 0; i < service.criteria.size(); ++i) {
    const std::string_view doubt = criticalservice::doubtOf(service.criteria[i]);
    if (!doubt.empty() && criticalservice::isOfMissingType(doubt) == missing)
      why.push_back(criticalservice::fieldOf(service, i) + ": " + std::string(doubt));
  }
  return joinedForPeople(why);
}

ConditionText degraded(const graph::Graph& graph, const CriticalService& service,
                       const ProviderObservation& provider, const StatusFacts& facts) {
  if (std::string why = doubts(service, false); !why.empty()) return {true, kNotUnderstood, std::move(why)};
  if (std::string why = doubts(service, true); !why.empty()) return {true, "TypeNeverSeen", std::move(why)};
  if (auto unknownTypes = unknownTypesAmong(graph, typesOf(service))) {
    const bool isForbidden = unknownTypes->reason == std::string_view("TypeForbidden");
    return {unknownTypes->lasts, std::move(unknownTypes->reason),
            unknownTypes->message + (isForbidden ? "; " + protection::howToGiveReads("them") : "")};
  }
  if (!facts.holdProblem.empty()) return {true, "HoldFailed", facts.holdProblem};
  if (provider.present.value_or(false) && facts.readiness.isUnreadable)
    return {true, criticalservice::kUnreadable, facts.readiness.message};
  return {false, "AllKnown", "everything that the criteria name is known"};
}

// What persons have asked for meanwhile of what the service guards; empty: nothing.
std::string askedByAnnotations(const admission::ClusterView& view, const CriticalService& service,
                               std::chrono::sys_seconds now) {
  std::vector<std::string> asked;
  if (service.deferral == criticalservice::DeferralMode::Never) return {};
  const uint32_t number = view.guards().find(service.meta.name);
  for (const auto& [key, annotated] : view.annotated()) {
    if (!admission::askedUntil(annotated, now)) continue;
    const bool isItself = key == criticalservice::keyOf(service);
    const bool isGuarded =
        std::ranges::any_of(view.guards().guardEntries(key), [&](const admission::GuardEntry& guardEntry) {
          return guardEntry.service == number && admission::recordsDeferral(guardEntry.guardedAs, isItself);
        });
    if (isGuarded) asked.push_back(toString(key) + ": " + admission::wordsOf(annotated, now));
  }
  return asked.empty() ? "" : "; " + joinedForPeople(asked);
}

// --- the other fields

constexpr size_t kMostUnmetTold = 96;  // as the CRD has it

Json unmetCriteria(const graph::Graph& graph, const std::vector<CriterionState>& criteria) {
  Json unmet = Json::array();
  for (const CriterionState& criterion : criteria) {
    if (criterion.why.empty() || unmet.size() == kMostUnmetTold) continue;
    Json examples = Json::array();
    for (const graph::ObjectId object : criterion.examples) examples.push_back(toString(graph.key(object)));
    Json one = {{"field", criterion.field}, {"message", cut(criterion.why)}, {"count", criterion.holders}};
    if (!examples.empty()) one["examples"] = std::move(examples);
    unmet.push_back(std::move(one));
  }
  return unmet;
}

// An object counts once for each criterion that it keeps unmet.
uint64_t remainingObjects(const std::vector<CriterionState>& criteria) {
  uint64_t objects = 0;
  for (const CriterionState& criterion : criteria) objects += criterion.holders;
  return objects;
}

Json seenTypes(const CriticalService& service) {
  Json names = Json::array();
  for (const kube::GroupResource& type : service.seenTypes) names.push_back(kube::crdName(type));
  return names;
}

Json providerFields(const Json& standing, const ProviderObservation& provider,
                    const std::optional<bool>& ready) {
  Json fields = standing.is_object() && standing.value("provider", Json()).is_object() ? standing["provider"]
                                                                                       : Json::object();
  for (const char* mine : {"uid", "present", "ready", "replacedBy"}) fields.erase(mine);
  if (!provider.seen.uid.empty()) fields["uid"] = provider.seen.uid;
  if (provider.present) fields["present"] = *provider.present;
  if (ready) fields["ready"] = *ready;
  if (provider.seen.replaced) fields["replacedBy"] = provider.uid;
  return fields;
}

}  // namespace

Json statusOf(const admission::ClusterView& view, const CriticalService& service, const Json& standing,
              const StatusFacts& facts) {
  const graph::Graph& graph = view.graph();
  std::vector<CriterionState> criteria;
  criteria.reserve(service.criteria.size());
  for (size_t i = 0; i < service.criteria.size(); ++i) criteria.push_back(look(graph, service, i));
  const ProviderObservation provider = lookAtProvider(graph, service);
  const ConditionText ready = providerReady(graph, service, provider, facts.readiness);

  StatusText status(standing, service.meta.generation, facts.now);
  status.put("provider", providerFields(standing, provider, ready.status));
  status.put("unmetCriteria", unmetCriteria(graph, criteria));
  status.put("deferredDeletionsCount", service.deferredDeletions.deletions.size());
  status.put("seenTypes", seenTypes(service));
  ConditionText criteriaAreMet = satisfied(criteria);
  status.put("remainingObjects", criteriaAreMet.status ? Json(remainingObjects(criteria)) : Json());
  criteriaAreMet.message += askedByAnnotations(view, service, facts.now);
  status.set("Satisfied", criteriaAreMet);
  status.set("ProviderReady", ready);
  status.set("Enforced", enforced(service, standing, provider, criteriaAreMet, facts.enforcement));
  status.set("Stuck", stuck(graph, service, criteria, provider, ready, status.age("ProviderReady")));
  status.set("Degraded", degraded(graph, service, provider, facts));
  DependencyStanding dependencies = dependencyStanding(view, service);
  status.set(kDependenciesKnown,
             {dependencies.known, std::move(dependencies.reason), std::move(dependencies.message)});
  FinalizerNames names = finalizerNames(graph, service, standing);
  status.put("seenFinalizers", std::move(names.seen));
  status.set("NamesKnown", {names.known, std::move(names.reason), std::move(names.message)});
  return status.take();
}

Json statusOfNotUnderstood(int64_t generation, const std::string& why, const Json& standing,
                           std::chrono::sys_seconds now, bool guards) {
  StatusText status(standing, generation, now);
  for (const char* unknown : {"unmetCriteria", "remainingObjects", "deferredDeletionsCount"})
    status.put(unknown, Json());
  const std::string what = std::string("the spec cannot be understood; ") +
                           (guards ? "what it said before is guarded" : "nothing is guarded");
  for (const char* type : {"Satisfied", "ProviderReady", "Stuck", kDependenciesKnown, "NamesKnown"})
    status.set(type, {std::nullopt, kNotUnderstood, what});
  status.set("Enforced", {guards ? std::nullopt : std::optional(false), kNotUnderstood, what});
  status.set("Degraded", {true, kNotUnderstood, why});
  return status.take();
}

bool awaitsLists(const admission::ClusterView& view, const CriticalService& service) {
  std::set<kube::GroupResource> types = typesOf(service);
  for (kube::GroupResource& type : criticalservice::typesToRead(service)) types.insert(std::move(type));
  return std::ranges::any_of(types, [&](const kube::GroupResource& type) {
    return knowledgeOf(view.graph(), type) == Knowledge::Unknown;
  });
}

std::optional<Json> statusPatch(const Json& standing, const Json& wanted) {
  const Json before = standing.is_object() ? standing : Json::object();
  Json patch = Json::object();
  for (const char* key : {"observedGeneration", "provider", "unmetCriteria", "remainingObjects",
                          "deferredDeletionsCount", "seenTypes", "seenFinalizers", "conditions"}) {
    const Json then = before.value(key, Json());
    Json now = wanted.value(key, Json());
    if (then == now) continue;
    // A patch of a map says what goes.
    if (then.is_object() && now.is_object()) {
      for (const auto& [field, value] : then.items()) {
        if (!now.contains(field)) now[field] = nullptr;
      }
    }
    patch[key] = std::move(now);
  }
  if (patch.empty()) return std::nullopt;
  return patch;
}

bool isPressing(const Json& standing, const Json& wanted) {
  const auto gist = [](const Json& status) {
    Json kept = status.is_object() ? status : Json::object();
    for (const char* count : {"remainingObjects", "deferredDeletionsCount"}) kept.erase(count);
    for (const auto& [list, words] : {std::pair("unmetCriteria", std::vector{"message", "count", "examples"}),
                                      std::pair("conditions", std::vector{"message"})}) {
      if (!kept.contains(list) || !kept[list].is_array()) continue;
      for (Json& one : kept[list]) {
        for (const char* word : words) {
          if (one.is_object()) one.erase(word);
        }
      }
    }
    return kept;
  };
  return gist(standing) != gist(wanted);
}

}  // namespace lastout::server
