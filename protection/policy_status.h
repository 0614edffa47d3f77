// The status of a DeletionPolicy: whether it is understood, and whether API servers go by it.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "kube/object.h"
#include "kube/value.h"
#include "protection/policy.h"

namespace lastout::protection {

// A form of a policy that lastout understood. It counts while the policy as it stands is not understood; the
// status keeps it, so that a lastout that starts then finds it.
struct UnderstoodForm {
  int64_t generation = 0;
  kube::Value spec;
  DeletionPolicy policy;
};

// Reads status.understood of a policy. nullopt: the status has none that this version understands.
std::optional<UnderstoodForm> understoodFormIn(const kube::Object& policy);

struct PolicyStanding {
  int64_t generation = 0;
  std::string problem;  // why the policy cannot be read; empty: it can
  // The form that counts: the policy as it stands, or a former one. nullopt: none is known.
  std::optional<UnderstoodForm> understood;
  bool isStored = true;  // what API servers are to evaluate stands as the policy wants it
  // Since when it stands so. API servers notice a change within a second.
  std::chrono::sys_seconds storedSince;
  bool hasWebhookPart = false;  // some of it runs in lastout's webhook
  bool webhookAsks = false;     // and API servers ask about that
  // Why the labels that it keeps are not written; empty: they are; nullopt: it keeps none.
  std::optional<std::string> labelProblem;
  // Why the objects that it holds get no finalizer; empty: they get it; nullopt: it holds none.
  std::optional<std::string> holdProblem;
  std::string forceProblem;  // why force does not count for what it holds; empty: it does, or there is none
  // Which types and fields it names that the cluster does not have; empty: none is known to be missing;
  // nullopt: it cannot be told now, so that the condition stays as it stands.
  std::optional<std::string> unknownTypes;
  // The same of the types that lastout may not list, and what that means (implied.h); empty: there are none.
  std::optional<std::string> unreadableTypes;
  bool seeksInContainers = false;  // it lists types for DELETEs of Namespaces or CRDs
  std::string writeProblem;        // why the API server did not store it; empty: no problem known
};

// API servers read their policies again each second; twice that and one more is given to a slow one.
inline constexpr std::chrono::seconds kInForceAfter{3};

// Returns status.conditions, status.observedGeneration, status.blocks (what the form that counts blocks, in
// words for `kubectl get`) and status.understood as they are to be. The
// conditions are Accepted, and Enforced with the reasons Enforced, NotAccepted, NotStored, Spreading and
// NotAsked; of a policy that keeps labels LabelsKept, too, with the reasons Kept and NotKept; of one that
// holds Held, with the reasons Held and NotHeld; where types are compared TypesKnown, with the reasons Known
// and NotFound; and of one that looks into Namespaces or CRDs TypesReadable, with the reasons Readable and
// Forbidden. `before` is the status that stands; the transition times of conditions that stay as they are
// come from it, and the last two as a whole where they cannot be told now.
nlohmann::json policyStatus(const PolicyStanding& standing, const nlohmann::json& before,
                            std::chrono::sys_seconds now);

// True if the status says of this generation of the policy that API servers go by it.
bool saysEnforced(const nlohmann::json& status, int64_t generation);

// True while the status will change with time alone.
bool isSpreading(const PolicyStanding& standing, std::chrono::sys_seconds now);

}  // namespace lastout::protection
