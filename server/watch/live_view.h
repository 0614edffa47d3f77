// LiveView: what lastout knows about a real cluster: its watches write it, and the threads that answer
// reviews read it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "client/discovery.h"
#include "client/reflector.h"
#include "kube/locks.h"
#include "kube/object.h"
#include "server/controllers/work_finalizer_plan.h"
#include "server/runtime/log.h"
#include "server/watch/finalizer_ages.h"

namespace lastout::server {

using TimePoint = client::TimePoint;

struct LiveViewOptions {
  std::string ownNamespace;  // empty: lastout runs outside the cluster
  // How long "nothing is there" is believed of a type whose watch is broken.
  std::chrono::milliseconds allowedAge{30'000};
  // The finalizer on a provider counts after so long: a request to an API server lasts 60 s at most, unless
  // its --request-timeout says otherwise.
  std::chrono::milliseconds holdsAfter{65'000};
  // Followed where the API server serves them, although no CriticalService names them.
  std::vector<kube::GroupResource> alsoFollowed = {};
  // Told of CriticalServices that cannot be understood; called by any thread, as the next.
  LogSink log = [](Level, const std::string&) {};
  // Told of each change by which a provider loses what it needs, or what guards it. May be empty.
  std::function<void(const admission::Weakening& news)> weakened = {};
};

// How a type stands, for people and metrics.
struct TypeStanding {
  kube::GroupResource type;
  graph::Knowledge knowledge = graph::Knowledge::Unknown;
  uint32_t objects = 0;
  std::string why;  // what went wrong last
};

// The types that are followed whatever CriticalServices name.
const std::vector<kube::GroupResource>& alwaysWatched();

// Safe for any number of threads.
class LiveView {
 public:
  explicit LiveView(LiveViewOptions options);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // --- what the cluster tells
  // Of an object that cannot be read no more is known than was told before.
  void upsert(const kube::ResourceType& type, client::StreamedObject object, TimePoint now);
  void remove(const kube::GroupResource& type, const client::Removed& object);
  void know(const kube::GroupResource& type, const client::SyncStatus& knowledge, TimePoint now);
  // Which types there are. Of those that are not served, and whose CRD is known to be gone, nothing is there.
  void discovered(client::Discovery discovery, TimePoint now);
  // Forgets the type, which is no longer watched.
  void forget(const kube::GroupResource& type, TimePoint now);
  // Time has passed: what a broken watch told may be too old by now.
  void tick(TimePoint now);

  // --- what follows from it
  // The types that must be watched: CriticalServices, CustomResourceDefinitions and Namespaces, all that the
  // CriticalServices name, and of `alsoFollowed` those that are served.
  std::vector<kube::GroupResource> wanted() const;
  // Those of them whose objects tell what providers need or convert, or what works have applied: to be
  // followed with client::Content::References.
  std::set<kube::GroupResource> wantedWithReferences() const;
  // Chooses what to keep, from now on, of each object of the type that is told: the fields that criteria ask
  // about, and, unless these are kept `alone`, what client::Content::References has. Returns true if there
  // are such fields: then the type has to be followed with client::Content::Whole.
  bool keepFields(const kube::GroupResource& type, bool alone);
  // Returns true if criteria ask about more than was kept: all objects have to be told once more, and the
  // type counts as unknown until then.
  bool lacksFields(const kube::GroupResource& type) const;
  // CriticalServices, CustomResourceDefinitions and Namespaces are known, and what providers need was known
  // once (hasReadDependencies()). Waits for nobody.
  bool isReady() const { return isReady_; }
  // Returns true once every type that tells the dependencies of providers was listed, or is known to be
  // unreadable, or took too long. Stays true: the dependencies of a later CriticalService are guarded as soon
  // as they are known, and its status says so until then.
  bool hasReadDependencies() const { return hasReadDependencies_; }
  // Returns the wanted types that are not served, or not known to be, but may be soon; and those that
  // discovery still names although their CRD is gone.
  std::vector<kube::GroupResource> awaited() const;
  std::optional<kube::ResourceType> find(const kube::GroupResource& type) const;  // among all that are served
  // A CRD of it was seen, by this lastout or, as statuses say, a former one, and no other API server may
  // serve it now, instead: discovery of its group has no gap, or one that answers 404.
  bool wasDefined(const kube::GroupResource& type) const;
  // Calls it for each type that is served, with the view's lock held.
  void forEachServed(const std::function<void(const client::DiscoveredType& served)>& visit) const;
  // Why not all that is served of the group ("*": of any) is known; nullopt: it is.
  std::optional<std::string> gapIn(const std::string& group) const;
  // Nothing serves the type, and no CRD defines it, as far as is certain; also of a type that is not wanted.
  bool isAbsent(const kube::GroupResource& type) const;
  bool isFollowed(
      const kube::GroupResource& type) const;  // by a watch that is not broken, as far as is known
  graph::Knowledge knowledge(const kube::GroupResource& type) const;
  // As the watch has told; in the namespace, or all where that is empty.
  uint32_t objectCount(const kube::GroupResource& type, std::string_view namespaceName = {}) const;
  std::vector<TypeStanding> standings() const;
  size_t remembered() const;  // types that a CRD was seen of, or none

  // As ClusterView::judge(), of what may be believed at `now`.
  admission::PreliminaryVerdict judge(
      const kube::ObjectKey& key, TimePoint now, std::span<const admission::ObservedObject> seen = {},
      admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending);
  // Returns true if lastout's finalizer holds the object with this uid against any DELETE that is reviewed at
  // `now`.
  bool isHeldBy(const kube::ObjectKey& key, std::string_view uid, TimePoint now) const;
  // Why what providers need is not known well enough here to tell that no provider needs the object, while
  // another process may know; nullopt: it is.
  std::optional<std::string> whyMayBeNeeded(const kube::ObjectKey& key) const;
  // The denial with these words for why it could not be confirmed.
  admission::Explanation unconfirmed(
      const kube::ObjectKey& key, std::string_view why,
      admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending) const;

  // The name of one of these CriticalServices, as they were read past the watch, that guards the object and
  // asks for what the watch has not told yet; empty: none does.
  std::string untoldGuard(const kube::ObjectKey& key, const std::vector<kube::Object>& services) const;

  const std::string& ownNamespace() const { return options_.ownNamespace; }
  // Reads more at once; `read` must not keep anything of it.
  void inspect(const std::function<void(const admission::ClusterView& view, const kube::ResourceMap& types)>&
                   read) const;
  // The same, with what AppliedManifestWorks list as applied.
  void inspectWorks(const std::function<void(const ViewOfWorks& works)>& read) const;

 private:
  graph::Knowledge standingOf(const kube::GroupResource& type, const client::SyncStatus& knowledge,
                              TimePoint now) const LASTOUT_REQUIRES_SHARED(mutex_);
  graph::Knowledge standingOfUnserved(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool hasLostItsCrd(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool wasEverDefined(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool isLeavingDiscovery(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  graph::Knowledge standing(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool isThere(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool wasThere(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool isCertain(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  bool isServed(std::string_view group) const LASTOUT_REQUIRES_SHARED(mutex_);
  std::vector<kube::GroupResource> typesThere() const LASTOUT_REQUIRES_SHARED(mutex_);
  void redefined(const kube::GroupResource& type) LASTOUT_REQUIRES(mutex_);
  void settle(const kube::GroupResource& type, TimePoint now) LASTOUT_REQUIRES(mutex_);
  void settleAll(TimePoint now) LASTOUT_REQUIRES(mutex_);
  std::vector<kube::GroupResource> wantedNow() const LASTOUT_REQUIRES_SHARED(mutex_);
  std::set<kube::GroupResource> patternsNow() const LASTOUT_REQUIRES_SHARED(mutex_);

  void forgetDefinitions() LASTOUT_REQUIRES(mutex_);
  bool lacksFieldsNow(const kube::GroupResource& type) const LASTOUT_REQUIRES_SHARED(mutex_);
  void noteFields() LASTOUT_REQUIRES(mutex_);
  void noteReadiness(TimePoint now) LASTOUT_REQUIRES(mutex_);
  bool isUndecided() const LASTOUT_REQUIRES_SHARED(mutex_);
  ViewOfWorks works() const LASTOUT_REQUIRES_SHARED(mutex_) {
    return {view_, types_, options_.ownNamespace, recorded_};
  }
  void guard(const kube::Object& service) LASTOUT_EXCLUDES(mutex_);
  void note(const kube::Object& told, TimePoint now) LASTOUT_REQUIRES(mutex_);
  void tellOfWeakening(const std::vector<admission::Weakening>& news) const LASTOUT_EXCLUDES(mutex_);

  const LiveViewOptions options_;
  ProblemsByName problems_;           // of CriticalServices
  std::atomic<bool> isReady_{false};  // written with the lock held, as the next
  std::atomic<bool> hasReadDependencies_{false};
  mutable kube::SharedMutex mutex_;
  client::Discovery discovery_ LASTOUT_GUARDED_BY(mutex_);
  bool isDiscovered_ LASTOUT_GUARDED_BY(mutex_) = false;
  kube::ResourceMap types_ LASTOUT_GUARDED_BY(mutex_) = kube::ResourceMap::builtIn();
  admission::ClusterView view_ LASTOUT_GUARDED_BY(mutex_);
  RecordedObjects recorded_ LASTOUT_GUARDED_BY(mutex_);
  FinalizerAges finalizerAges_ LASTOUT_GUARDED_BY(mutex_);
  std::map<kube::GroupResource, client::SyncStatus> watched_ LASTOUT_GUARDED_BY(mutex_);
  // Types with a CRD, or that had one and are served or wanted still.
  std::set<kube::GroupResource> defined_ LASTOUT_GUARDED_BY(mutex_);
  // That were served without one: aggregated APIs.
  std::set<kube::GroupResource> undefined_ LASTOUT_GUARDED_BY(mutex_);
  // Whether types are namespaced that are served, or were when discovery of their group had no gap yet.
  std::map<kube::GroupResource, bool> scopes_ LASTOUT_GUARDED_BY(mutex_);
  criticalservice::FieldsByType askedFields_ LASTOUT_GUARDED_BY(mutex_);  // by criteria
  criticalservice::FieldsByType keptFields_ LASTOUT_GUARDED_BY(mutex_);   // of the types that are followed
  std::set<kube::GroupResource> fieldsAlone_ LASTOUT_GUARDED_BY(mutex_);  // no other field of theirs is kept
  TimePoint settledAt_ LASTOUT_GUARDED_BY(mutex_);
  std::vector<admission::Weakening> weakened_ LASTOUT_GUARDED_BY(mutex_);  // by what is being told of
  // Since when all is known but, maybe, what providers need.
  std::optional<TimePoint> knownSince_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
