// placement: where each part of a policy runs, and why, for `lastout policy show` and for whoever makes the
// API server's objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

// Where policies are to run: as far as possible in the API server, or all in lastout's webhook (--policies).
enum class PolicyMode : uint8_t { ApiServer, Webhook };

enum class EnforcementPoint : uint8_t {
  ApiServer,   // a ValidatingAdmissionPolicy
  Webhook,     // lastout's webhook
  Controller,  // lastout's controller: it holds what was deleted by a finalizer, and writes labels
  OutOfReach,  // nobody asks: said, so that nobody relies on it
};
std::string_view toString(EnforcementPoint place);

struct Placement {
  std::string part;  // "DELETE, when label a/b: Always"
  EnforcementPoint place = EnforcementPoint::ApiServer;
  std::string why;  // "the request alone tells"
};

// One for each block and case, in their order; then what is out of reach.
std::vector<Placement> placementsOf(const DeletionPolicy& policy, PolicyMode mode);

// The part that the webhook judges: of a policy with listedBy, or with a code that an API server's own policy
// does not deny with, all of it.
CaseScope webhookPartOf(const DeletionPolicy& policy, PolicyMode mode);

// True if the policy has a part that runs at that place.
bool runsAt(const DeletionPolicy& policy, PolicyMode mode, EnforcementPoint place);

}  // namespace lastout::protection
