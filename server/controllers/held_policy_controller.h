// HeldPolicyController: the part of the controller role that holds objects for policies (--hold-policies): it
// follows what policies hold and what depends on it, and settles that while this lastout leads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/watcher.h"
#include "server/controllers/held_object_reconciler.h"
#include "server/controllers/held_objects.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"
#include "server/runtime/worker.h"
#include "server/shared_parts.h"
#include "server/watch/type_watches.h"

namespace lastout::server {

// Its functions may be called by any thread; start(), end() and stop() by one at a time.
class HeldPolicyController {
 public:
  // `leads`: this lastout holds the Lease.
  HeldPolicyController(const SharedParts& parts, std::function<bool()> leads);
  ~HeldPolicyController() { stop(); }
  HeldPolicyController(const HeldPolicyController&) = delete;
  HeldPolicyController& operator=(const HeldPolicyController&) = delete;

  void start() { worker_.start(); }  // once
  void end() { worker_.end(); }      // nothing more is begun; waits for nothing
  void stop();                       // for good
  // Time has passed, or policies or types may have changed. To be called each second, too.
  void wake() { worker_.wake(); }

  // Why the policy's objects get no finalizer; empty: they get it, as far as is known.
  std::string problemOf(const protection::DeletionPolicy& policy) const;

 private:
  HeldObjectReconcilerOptions reconcilerOptions() const;
  ControllerOptions controllerOptions();
  WorkerOptions workerOptions(std::function<bool()> leads);
  TypeWatchesOptions watchesOptions();
  void toldOfUnserved(const kube::GroupResource& type);
  std::string whyUnserved(const kube::GroupResource& type) const;
  client::ReflectorHandlers handlersOf(const kube::ResourceType& type);
  client::ReflectorHandlers handlersOfAdmissionPolicies();
  bool look();
  bool usePolicies();
  void changed(const HeldObjects::Changed& objects);

  const SharedParts parts_;
  const std::unique_ptr<client::ApiServer> server_;
  HeldObjects objects_;
  Worker worker_;
  const Patience patience_;
  const ObjectClient client_;
  HeldObjectReconciler reconciler_;
  Controller controller_;
  std::shared_ptr<const PolicySet> used_;  // that objects_ goes by; of the worker's thread
  TypeWatches watches_;
};

}  // namespace lastout::server
