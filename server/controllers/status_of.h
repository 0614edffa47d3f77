// statusOf: computes the status of a CriticalService from the view of the cluster.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "admission/cluster_view.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/readiness.h"
#include "server/controllers/webhook_enforcement.h"

namespace lastout::server {

// What the view does not know.
struct StatusFacts {
  criticalservice::Readiness readiness;  // of the provider, should it be there
  WebhookEnforcement enforcement;
  std::string holdProblem;       // why the provider cannot be held, or let go; empty: nothing is known
  std::chrono::sys_seconds now;  // of what changes now
};

// The whole status, in place of `standing`, of which is kept what others wrote there (conditions of other
// types, unknown fields), the provider's first uid, and when a condition became what it still is.
// docs/criticalservice.md says what each field means. Never fails, and never grows beyond what the CRD
// allows.
nlohmann::json statusOf(const admission::ClusterView& view, const criticalservice::CriticalService& service,
                        const nlohmann::json& standing, const StatusFacts& facts);

// Returns the status of a CriticalService whose provider cannot be read; `generation`: its own; `why`: a
// sentence. `guards`: a former version of it is in force; false: no version was ever understood, and nothing
// is guarded.
nlohmann::json statusOfNotUnderstood(int64_t generation, const std::string& why,
                                     const nlohmann::json& standing, std::chrono::sys_seconds now,
                                     bool guards);

// A type that the service names, or that tells what its provider needs, has not been listed yet, and may be
// in a moment.
bool awaitsLists(const admission::ClusterView& view, const criticalservice::CriticalService& service);

// Returns the merge patch that changes `standing` to `wanted`; nullopt: they are equal.
std::optional<nlohmann::json> statusPatch(const nlohmann::json& standing, const nlohmann::json& wanted);
// Returns true if the change matters to users; false: only counts, examples and texts differ.
bool isPressing(const nlohmann::json& standing, const nlohmann::json& wanted);

}  // namespace lastout::server
