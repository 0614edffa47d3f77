// HeldPolicyRole: the part of the controller role that holds objects for policies (--hold-policies): it
// follows the policies, what they hold and what depends on it, and settles that while this lastout leads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/watcher.h"
#include "kube/locks.h"
#include "protection/external_step.h"
#include "server/held_objects.h"
#include "server/held_policies.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"
#include "server/runtime/worker.h"
#include "server/shared_parts.h"

namespace lastout::server {

// Its functions may be called by any thread; start(), end() and stop() by one at a time.
class HeldPolicyRole {
 public:
  // `leads`: this lastout holds the Lease.
  HeldPolicyRole(const SharedParts& parts, std::function<bool()> leads);
  ~HeldPolicyRole() { stop(); }
  HeldPolicyRole(const HeldPolicyRole&) = delete;
  HeldPolicyRole& operator=(const HeldPolicyRole&) = delete;

  void start() { worker_.start(); }  // once
  void end() { worker_.end(); }      // nothing more is begun; waits for nothing
  void stop();                       // for good
  // Time has passed, or types may have changed. To be called each second.
  void reconsider();
  void wake() { worker_.wake(); }

 private:
  HeldPoliciesOptions policiesOptions() const;
  ControllerOptions controllerOptions();
  WorkerOptions workerOptions(std::function<bool()> leads);
  void follow(const kube::GroupResource& type) LASTOUT_REQUIRES(watchersMutex_);
  std::string whyUnserved(const kube::GroupResource& type) const;
  std::unique_ptr<client::Watcher> watcherOf(const kube::ResourceType& type);
  client::Audience audienceOf(const kube::ResourceType& type);
  void toldOfPolicy(const kube::Object& object);
  void policyIsGone(const std::string& name);
  void changed(const HeldObjects::Changed& objects);

  const SharedParts parts_;
  const std::unique_ptr<client::ApiServer> server_;
  HeldObjects objects_;
  protection::SimulatedDatabase external_;
  Worker worker_;
  const Patience patience_;
  const ObjectClient client_;
  HeldPolicies policies_;
  Controller controller_;
  kube::Mutex mutex_;
  std::map<std::string, protection::DeletionPolicy> known_ LASTOUT_GUARDED_BY(mutex_);  // by name
  kube::Mutex watchersMutex_;  // taken before the other
  std::map<kube::GroupResource, std::unique_ptr<client::Watcher>> watchers_
      LASTOUT_GUARDED_BY(watchersMutex_);
  bool stopped_ LASTOUT_GUARDED_BY(watchersMutex_) = false;
};

}  // namespace lastout::server
