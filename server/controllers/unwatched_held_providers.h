// UnwatchedHeldProviders: finds providers that carry lastout's finalizer and whose type is no longer watched,
// because the last CriticalService that named the type is gone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "kube/object_key.h"
#include "server/runtime/log.h"
#include "server/runtime/object_client.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// For one thread. It lists each type that is not watched, and repeats that from time to time, because another
// lastout may have left a finalizer.
class UnwatchedHeldProviders {
 public:
  using Uids = std::map<kube::ObjectKey, std::string>;

  // `server` must outlive it.
  UnwatchedHeldProviders(client::ApiServer& server, Patience patience, client::Backoff backoff, LogSink log);

  // Lists what is to be listed.
  const Uids& look(const LiveView& view);
  void remove(const kube::ObjectKey& provider) { found_.erase(provider); }
  // Another lastout leads meanwhile.
  void forget();

 private:
  void list(const kube::ResourceType& type, TimePoint now);

  const Patience patience_;
  const ObjectClient client_;
  client::Backoff backoff_;
  ProblemLog problems_;
  TimePoint lookAgain_;
  Uids found_;
  std::map<kube::GroupResource, TimePoint> listAgain_;  // of types that nobody follows
};

}  // namespace lastout::server
