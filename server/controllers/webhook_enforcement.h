// WebhookEnforcement: whether API servers ask lastout about the objects that a CriticalService guards, and
// obey its answers.
#pragma once

#include <optional>
#include <string>

#include "criticalservice/critical_service.h"
#include "server/webhook/reviewed_objects.h"

namespace lastout::server {

struct WebhookEnforcement {
  std::optional<bool> enforced;  // nullopt: unknown
  std::string reason;            // one word, of a condition
  std::string message;           // one sentence
  bool isGivenUp = false;        // somebody wants it so: the provider may go
};

// What is known of this lastout.
struct EnforcementFacts {
  bool auditOnly = false;
  bool keepsWebhook = true;       // the webhook configuration is its own to keep
  std::optional<bool> asksAbout;  // whether that asks about what is wanted; nullopt: unknown
  std::string ownNamespace;       // empty: lastout runs outside the cluster
  WebhookEnforcement probed;      // what probes have shown of what is wanted
  ReviewedObjects wanted;         // what the CriticalService guards
  std::string undecided;          // why it is not known yet what that is; empty: it is, as far as it can be
};

// Returns the first reason why it is not enforced, or else the result of the probes.
WebhookEnforcement enforcementOf(const EnforcementFacts& facts,
                                 const criticalservice::CriticalService& service);

}  // namespace lastout::server
