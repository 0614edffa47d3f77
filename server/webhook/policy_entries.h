// The webhooks of lastout's configuration that ask about what DeletionPolicies protect: which rules,
// selectors and conditions name what can match.
#pragma once

#include <string>
#include <vector>

#include "kube/resource_map.h"
#include "protection/fact_index.h"
#include "protection/placement.h"
#include "protection/policy.h"
#include "server/webhook/webhook_entries.h"

namespace lastout::server {

// Of each policy with a part in the webhook, sorted by policy. Their names are the policy's webhookName, or
// empty; those that ask the same under the same name are one. `types`: which of the named types are
// namespaced; `facts`: what listing objects list now. Nothing in unaskedNamespaces() is asked
// about (placement.h says so).
std::vector<WebhookEntry> policyEntries(const std::vector<protection::DeletionPolicy>& policies,
                                        protection::PolicyMode mode, const kube::ResourceMap& types,
                                        const protection::FactIndex& facts, const std::string& ownNamespace);

}  // namespace lastout::server
