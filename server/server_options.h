// ServerOptions: what a lastout beside a real API server is told: which roles it has, and what each of them
// needs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/watcher.h"
#include "net/http_server.h"
#include "protection/placement.h"
#include "protection/policy.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/controllers/lease_holder.h"
#include "server/question_server.h"
#include "server/review/review_handler.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_clusters.h"
#include "server/webhook/certificate_secret.h"
#include "server/webhook/webhook_configuration.h"
#include "server/webhook/webhook_probe.h"

namespace lastout::server {

// Which parts of lastout one process runs. At least one of the two.
struct Roles {
  bool webhook = true;     // answers reviews, and records deletions that it denies to controllers
  bool controller = true;  // everything that the holder of the Lease does, and the webhook configuration
};

struct ServerOptions {
  Roles roles;
  net::HttpServerOptions http;  // of the webhook role; its identity is the answers' at first, too
  LiveViewOptions view;
  ReviewHandlerOptions reviews;
  // How the API server finds lastout; nullopt: others keep the webhook configuration. The controller role
  // writes it: an empty URL without a Service becomes the address at which the webhook role of this process
  // listens. The webhook role by itself takes from it only whether the path for reviews is secret.
  std::optional<WebhookAddress> webhook;
  WebhookScope webhookScope = WebhookScope::Objects;                    // or Types
  protection::PolicyMode policies = protection::PolicyMode::ApiServer;  // where DeletionPolicies run
  // The Secret whose certificate is used instead of the identity in `http`, as soon as it is there. The
  // controller role makes and renews it. Its members from `watcher` on are filled in here.
  std::optional<CertificateSecretOptions> certificates;
  LeaseHolderOptions lease;  // of the controller role; its identity, clock, random and log are the server's
  std::string identity;      // of this process, in the Lease and in Events
  std::function<WallTime()> clock = [] {  // what time it is, for people
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  };
  // The controller role holds what policies with enforcement Hold are about.
  bool holdsPolicies = false;
  // Where ancestors may be that policies name, besides the cluster itself; the names differ.
  std::vector<NamedCluster> policyClusters;
  // The controller role applies these, and puts back what somebody deletes or changes of them.
  std::vector<protection::PolicyManifest> keptPolicies;
  // The webhook configuration and the Secret that the controller role makes have these labels, beside those
  // that others give them.
  kube::Labels ownLabels;
  // The controller role writes the labels that policies keep.
  bool labelsPolicies = false;
  // The types for which the controller role runs the deletions that annotations ask for, once no object lists
  // the object for a policy; denials of the webhook role name the annotation.
  std::set<kube::GroupResource> replayedTypes;
  Requesters requesters;  // whose denied deletions are deferred; the same for all processes
  std::optional<QuestionServerOptions> answers;  // nullopt: no metrics and no answers are given
  std::string version;                           // of the program, for the metrics
  // Whether API servers ask it is tried where it keeps the webhook configuration, and does not only watch.
  ProbeTimes probe;
  client::WatcherOptions watcher;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own

  // All of these are called by any thread, and must not wait for long.
  LogSink log;
  std::function<void(const ReviewResult& verdict)> verdict;
  std::function<void(std::chrono::milliseconds unguarded)> restored;  // as of WebhookKeeperOptions
};

}  // namespace lastout::server
