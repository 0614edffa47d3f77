// HeldObjectReconciler: runs the deletion of objects that policies hold by a finalizer: makes a plan for one
// object (protection/hold_plan.h), and executes the plan's actions at the API server. It has no thread: a
// Controller calls it for one object after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protection/hold_plan.h"
#include "server/controllers/force_guards.h"
#include "server/controllers/held_objects.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

// What became of a held object, for metrics.
enum class HeldOutcome : uint8_t {
  Blocked,    // it was deleted, and is held
  Pending,    // a user has to confirm that its children go
  Cascading,  // its children are deleted
  Begun,      // force began its deletion
  LetGo,      // its finalizer was taken off
  Forced,     // its finalizer was taken off, which force alone allowed
};
std::string_view toString(HeldOutcome outcome);  // "blocked"

struct HeldObjectReconcilerOptions {
  std::function<std::optional<kube::ResourceType>(const kube::GroupResource& type)> findType;
  std::function<int64_t()> clock;  // seconds since the epoch
  std::function<bool()> mayAct;    // this lastout holds the Lease; asked before each action
  std::function<void(const kube::Object& object, const protection::HoldEvent& event)> tell;
  std::function<void(HeldOutcome outcome)> count;
  LogSink log;
};

// One thread at a time, but for problemOf().
class HeldObjectReconciler {
 public:
  // All must outlive it.
  HeldObjectReconciler(HeldObjects& objects, const ObjectClient& client, HeldObjectReconcilerOptions options)
      : objects_(objects), client_(client), options_(std::move(options)) {}

  Settled settle(const kube::ObjectKey& key);
  // Why an object of the type could not be given its finalizer last; empty: none is known. By any thread.
  std::string problemOf(const kube::GroupResource& type) const;

 private:
  protection::HoldPlan planFor(const HeldObject& held) const;
  RequestResult<std::optional<HeldObject>> readAgain(const kube::ObjectKey& key,
                                                     const kube::ResourceType& type, bool withChildren) const;
  RequestResult<void> execute(HeldObject& held, const kube::ResourceType& type,
                              const protection::HoldPlan& plan);
  RequestResult<void> patchStatus(HeldObject& held, const kube::ResourceType& type,
                                  const protection::HoldPlan& plan) const;
  RequestResult<void> setFinalizers(const HeldObject& held, const kube::ResourceType& type,
                                    const protection::HoldPlan& plan) const;
  RequestResult<void> deleteChildren(const protection::HoldPlan& plan) const;
  bool noteRejected(const HeldObject& held, const protection::HoldPlan& plan, const NotDone& refusal);
  void noteAwaited(const std::string& uid, const protection::HoldPlan& plan);
  void report(const HeldObject& held, const protection::HoldPlan& plan);
  void reportIgnored(const kube::Object& object, const std::string& why);

  HeldObjects& objects_;
  const ObjectClient& client_;
  const HeldObjectReconcilerOptions options_;
  const ForceGuards guards_{client_};
  std::map<std::string, int64_t> awaited_;       // by the object's uid: since when a report is awaited
  std::map<std::string, std::string> rejected_;  // by the object's uid: the status that was rejected last
  std::map<std::string, std::string> ignored_;   // why force does not count, as it was told; by uid
  mutable kube::Mutex mutex_;
  std::map<kube::GroupResource, std::string> problems_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
