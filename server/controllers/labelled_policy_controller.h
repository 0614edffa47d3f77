// LabelledPolicyController: the part of the controller role that writes the labels that policies keep
// (--label-policies): it follows what they select, and repairs its labels while this lastout leads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/locks.h"
#include "server/controllers/label_reconciler.h"
#include "server/controllers/labelled_objects.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/runtime/worker.h"
#include "server/shared_parts.h"
#include "server/watch/type_watches.h"

namespace lastout::server {

// Its functions may be called by any thread; start(), cleanUp(), end() and stop() by one at a time.
class LabelledPolicyController {
 public:
  // `leads`: this lastout holds the Lease.
  LabelledPolicyController(const SharedParts& parts, std::function<bool()> leads);
  ~LabelledPolicyController() { stop(); }
  LabelledPolicyController(const LabelledPolicyController&) = delete;
  LabelledPolicyController& operator=(const LabelledPolicyController&) = delete;

  void start() { worker_.start(); }  // once
  // lastout ends in an orderly way: takes the labels of policies with cleanupOnShutdown away, for at most so
  // long, where this lastout leads. Nothing else is written after it. To be called while API servers are
  // still answered.
  void cleanUp(std::chrono::milliseconds patience);
  void end() { worker_.end(); }    // nothing more is begun; waits for nothing
  void stop();                     // for good
  void wake() { worker_.wake(); }  // time has passed, or policies or types may have changed

  // Why the labels of the policy are not kept; empty: they are, as far as is known.
  std::string problemOf(const protection::DeletionPolicy& policy) const;

 private:
  LabelReconcilerOptions reconcilerOptions();
  ControllerOptions controllerOptions();
  WorkerOptions workerOptions();
  TypeWatchesOptions watchesOptions();
  client::ReflectorHandlers handlersOf(const kube::ResourceType& type);
  void look();
  void usePolicies();
  void changed(const LabelledObjects::Changed& objects);
  void know(const kube::GroupResource& type, const std::string& whyNot);

  const SharedParts parts_;
  const std::function<bool()> leads_;
  const std::unique_ptr<PausingApiServer> server_;
  LabelledObjects objects_;
  Worker worker_;
  const Patience patience_;
  const ObjectClient client_;
  LabelReconciler reconciler_;
  Controller controller_;
  std::shared_ptr<const PolicySet> used_;  // that objects_ goes by; of the worker's thread, as the next
  std::vector<std::string> conflicts_;     // that were told
  mutable kube::Mutex mutex_;
  std::map<kube::GroupResource, std::string> unknown_ LASTOUT_GUARDED_BY(mutex_);  // types, and why
  TypeWatches watches_;
};

}  // namespace lastout::server
