// The webhooks of lastout's configuration that ask for reviews: which rules, selectors and conditions name
// the objects. Pure: without addresses and policies, which all of them share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/webhook/reviewed_objects.h"

namespace lastout::server {

// An expression may be of 100,000 characters; what is longer is divided among webhooks.
inline constexpr size_t kMostConditionBytes = 90'000;

// The namespaces of which nothing is asked, neither about them nor about what is in them, so that an outage
// of lastout blocks neither the control plane nor its own repair. `ownNamespace`: empty: lastout runs outside
// the cluster.
std::vector<std::string> unaskedNamespaces(const std::string& ownNamespace);

// By the names of the objects, exactly; of the places `whole`, and of those with a name that is too long for
// an expression, by types and namespaces.
std::vector<WebhookEntry> entriesByObject(const ReviewedObjects& objects, const std::string& ownNamespace,
                                          Places whole = {});
// By types.
std::vector<WebhookEntry> entriesByType(const ReviewedObjects& objects, const std::string& ownNamespace);

// Every DeletionPolicy that is written, so that its writer is warned (PolicyReviewer::warnings()). An outage
// denies none of it.
WebhookEntry entryOfPolicyWrites();

// The webhooks of objects.policies, each with a name that is not among those of `others`. Without
// `withConditions` they are asked about more, for API servers without matchConditions.
std::vector<WebhookEntry> entriesOfPolicies(const ReviewedObjects& objects,
                                            const std::vector<WebhookEntry>& others, bool withConditions);
// True if a webhook of that name in lastout's configuration is one of those.
bool isNameForPolicies(std::string_view name);

}  // namespace lastout::server
