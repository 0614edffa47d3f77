// ControlPlane: the stored objects, the machine that changes them, and what the API server derives from them.
//
// The machine (cluster/) says what happens to objects; their contents live here. Every write goes to the
// machine first, and what it says happened (this object is gone, that one was created by a controller) is
// then done to the contents.
//
// Threading: one lock guards everything, `mutex`; all functions want it held, but for those that say so.
// Nobody holds it while a webhook is called, or while an object is checked that a client sent.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/live_cluster.h"
#include "kube/kubernetes_version.h"
#include "kube/locks.h"
#include "simulator/mutation.h"
#include "simulator/rbac.h"
#include "simulator/served_type.h"
#include "simulator/status.h"
#include "simulator/storage.h"
#include "simulator/validating_admission_policies.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {

// Called by several threads at once.
struct ControlPlaneEnvironment {
  std::function<std::chrono::sys_seconds()> wallClock;  // for timestamps
  std::function<std::chrono::milliseconds()> time;      // the controllers'
  std::function<uint64_t()> random;                     // for uids and generated names
  // What watches go by: their bookmarks and their end.
  std::function<std::chrono::steady_clock::time_point()> stopwatch = std::chrono::steady_clock::now;
};

// An APIService with a Service: another API server is behind it.
struct AggregatedApi {
  std::string group;
  std::string version;
  kube::ObjectKey service;
  bool answers = false;  // its condition Available
};

class ControlPlane {
 public:
  // Each is called after a write, with the lock held.
  using Observer = std::function<void(const Write&)>;

  ControlPlane(cluster::Timing timing, size_t history, ControlPlaneEnvironment context,
               kube::KubernetesVersion kubernetes = kube::kNewestKubernetes);

  kube::Mutex mutex;
  kube::ConditionVariable changed;  // notified after writes, and when the clock is set or a watch is ended

  Storage storage LASTOUT_GUARDED_BY(mutex);
  TypeRegistry types LASTOUT_GUARDED_BY(mutex);
  // These have locks of their own.
  Webhooks webhooks;
  ValidatingAdmissionPolicies policies;
  Rbac rbac;
  cluster::LiveCluster live LASTOUT_GUARDED_BY(mutex);
  std::string certificates;  // PEM: what clients are told to trust
  // Content of terminating namespaces, and why the namespace controller was last refused to delete it.
  std::unordered_map<kube::ObjectKey, std::string> refusedContent LASTOUT_GUARDED_BY(mutex);

  // By the names of the APIServices.
  std::map<std::string, AggregatedApi> aggregatedApis LASTOUT_GUARDED_BY(mutex);

  // What /apis and OpenAPI name: what is served, and for a second after the end of a CRD still its type,
  // although its paths, also that of its group and version, answer 404 (crd-end/changes-*.json).
  TypeRegistry discoveredTypes() LASTOUT_REQUIRES(mutex);

  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  // These need no lock.
  std::string now() const;  // as timestamps are written
  int64_t seconds() const;  // since the epoch
  std::string newUid() const;
  kube::KubernetesVersion kubernetes() const { return kubernetes_; }
  uint64_t random() const { return environment_.random(); }
  std::chrono::steady_clock::time_point stopwatch() const { return environment_.stopwatch(); }

  // Fails, in the API server's words, if the object cannot be created now: its name is taken, or its
  // namespace or type does not exist or is being deleted.
  ApiResult<void> mayCreate(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  // Whether commit() would do it: as mayCreate() where something is created, and 422 for what the machine
  // cannot hold.
  ApiResult<void> mayCommit(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  // Commits a reviewed mutation, if it mayCommit(); `before` must still be the stored record. An update that
  // changes nothing writes nothing. Returns the stored record or, if this write removes the object, its last
  // record. The type must be served.
  ApiResult<RecordRef> commit(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  // Stores what a controller writes beside the machine: a status, or an annotation.
  RecordRef store(const kube::ObjectKey& key, Json object) LASTOUT_REQUIRES(mutex);
  // Applies the machine's events to the contents; stores admitted mutations as they were admitted.
  void follow(const cluster::Events& events, std::span<Mutation> admitted = {}) LASTOUT_REQUIRES(mutex);
  // Whether the machine can hold what the mutation stores, and, of a ManifestWork, what that applies.
  kube::Result<void> holds(const Mutation& mutation) LASTOUT_REQUIRES(mutex);

 private:
  ApiResult<RecordRef> commitCreate(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  ApiResult<RecordRef> commitUpdate(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  ApiResult<RecordRef> commitDelete(const Mutation& mutation) LASTOUT_REQUIRES(mutex);
  void created(cluster::Slot slot, std::span<Mutation> admitted) LASTOUT_REQUIRES(mutex);
  void gone(cluster::Slot slot) LASTOUT_REQUIRES(mutex);
  void align(cluster::Slot slot, std::span<const Mutation> admitted) LASTOUT_REQUIRES(mutex);
  void noticed(const Write& write) LASTOUT_REQUIRES(mutex);
  void serve(const Write& write) LASTOUT_REQUIRES(mutex);
  void aggregate(const kube::ObjectKey& apiService, const Json& object, bool isGone) LASTOUT_REQUIRES(mutex);
  void registerAdmission(const Json& object, bool isGone) LASTOUT_REQUIRES(mutex);
  void unserve(const kube::GroupResource& type) LASTOUT_REQUIRES(mutex);

  // A type whose CRD is gone, for discovery.
  struct FormerType {
    ServedTypePointer type;
    std::chrono::milliseconds namedUntil;  // on the controllers' clock
  };

  ControlPlaneEnvironment environment_;
  kube::KubernetesVersion kubernetes_;
  std::vector<Observer> observers_;
  std::vector<FormerType> formerTypes_ LASTOUT_GUARDED_BY(mutex);
};

}  // namespace lastout::simulator
