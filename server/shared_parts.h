// SharedParts: what every role of a Server is built on. The Server owns all of it, and outlives its roles.
#pragma once

#include <functional>
#include <memory>

#include "client/access.h"
#include "server/admission_policy.h"
#include "server/authorization.h"
#include "server/confirming_reads.h"
#include "server/current_services.h"
#include "server/deferred_deletion_store.h"
#include "server/event_writer.h"
#include "server/live_view.h"
#include "server/metrics.h"
#include "server/policy_reviews.h"
#include "server/policy_view.h"
#include "server/server_options.h"

namespace lastout::server {

struct SharedParts {
  std::shared_ptr<client::Access> access;
  const ServerOptions& options;
  Metrics& metrics;
  LiveView& view;
  ConfirmingReads& reads;
  CurrentServices& services;
  ObjectRights& rights;
  EventWriter& events;
  AdmissionPolicy& annotationPolicy;
  DeferredDeletionStore& deferredDeletions;
  PolicyView& policies;
  PolicyReviews& policyReviews;
  CertificateSecret* certificates = nullptr;                      // nullptr: there is no Secret
  std::function<Health()> health;                                 // by any thread
  std::function<void(const DeferredDeletionEvent& news)> tellOf;  // by any thread
};

}  // namespace lastout::server
