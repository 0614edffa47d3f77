// SharedParts: what every role of a Server is built on. The Server owns all of it, and outlives its roles.
#pragma once

#include <functional>
#include <memory>

#include "client/access.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/controllers/event_writer.h"
#include "server/metrics.h"
#include "server/review/authorization.h"
#include "server/review/confirming_reads.h"
#include "server/review/current_services.h"
#include "server/review/policy_reviewer.h"
#include "server/server_options.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"
#include "server/webhook/admission_policy.h"

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
  PolicyReviewer& policyReviews;
  CertificateSecret* certificates = nullptr;                      // nullptr: there is no Secret
  std::function<Health()> health;                                 // by any thread
  std::function<void(const DeferredDeletionEvent& news)> tellOf;  // by any thread
};

}  // namespace lastout::server
