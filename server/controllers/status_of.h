// statusOf: what status a CriticalService should have, from what is known of the cluster.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "admission/cluster_view.h"
#include "criticalservice/critical_service.h"
#include "server/controllers/enforcement.h"
#include "server/controllers/readiness.h"

namespace lastout::server {

// What the view does not know.
struct StatusFacts {
  Readiness readiness;  // of the provider, should it be there
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

// That of a CriticalService whose provider cannot be read; `generation` is its own, `why` a sentence.
// `guards`: what it said before is guarded; a lastout that never understood it guards nothing.
nlohmann::json statusOfNotUnderstood(int64_t generation, const std::string& why,
                                     const nlohmann::json& standing, std::chrono::sys_seconds now,
                                     bool guards);

// A type that the service names, or that tells what its provider needs, has not been listed yet, and may be
// in a moment.
bool awaitsLists(const admission::ClusterView& view, const criticalservice::CriticalService& service);

// The merge patch that makes `standing` what is wanted; nothing when it is so already.
std::optional<nlohmann::json> statusPatch(const nlohmann::json& standing, const nlohmann::json& wanted);
// Somebody may act on what is different; otherwise it is only counts, examples and words.
bool isPressing(const nlohmann::json& standing, const nlohmann::json& wanted);

}  // namespace lastout::server
