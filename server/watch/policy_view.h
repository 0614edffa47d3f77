// PolicyView: the DeletionPolicies of a real cluster, and what they ask of other objects, as watches tell it:
// written by their threads, read by those that answer reviews.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/reflector.h"
#include "kube/locks.h"
#include "protection/fact_index.h"
#include "protection/hold_finalizers.h"
#include "protection/policy.h"
#include "protection/policy_set.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_clusters.h"

namespace lastout::server {

using protection::PolicySet;

struct PolicyViewOptions {
  std::chrono::milliseconds allowedAge{30'000};  // as of LiveView
  LogSink log = [](Level, const std::string&) {};
  // Told of a policy of which an object lists what it cannot protect, and of that object in words; by any
  // thread. May be empty.
  std::function<void(const kube::ObjectMeta& policy, const std::string& lister, const std::string& why)>
      inVain = {};
  // Where ancestors may be besides. It must outlive the view.
  const PolicyClusters* clusters = nullptr;  // nullptr: nowhere
  // As of unaskedNamespaces(): what is listed there is not protected.
  std::vector<std::string> unasked = {};
};

// Safe for any number of threads.
class PolicyView {
 public:
  // `view`: which types there are.
  PolicyView(const LiveView& view, PolicyViewOptions options);
  PolicyView(const PolicyView&) = delete;
  PolicyView& operator=(const PolicyView&) = delete;

  // --- what the cluster tells of DeletionPolicies
  // Adds or updates a policy. If it cannot be understood, the version that this view understood last stays in
  // force, or else the one in its status.
  void upsertPolicy(const kube::Object& object);
  void removePolicy(const std::string& name, std::string_view uid);
  void knowPolicies(const client::SyncStatus& knowledge, TimePoint now);
  void noPolicies();  // the API server does not serve the type, and its CRD is not there

  // --- and of the types that policies ask for: as of protection::FactIndex
  void upsert(const kube::Object& object, uint64_t generation, const std::string& cluster = {});
  void remove(const kube::ObjectKey& key, std::string_view uid, uint64_t generation,
              const std::string& cluster = {});
  void know(const protection::ClusterType& type, const client::SyncStatus& knowledge, uint64_t generation,
            TimePoint now);
  void cannotKnow(const protection::ClusterType& type, const std::string& why, uint64_t generation);
  void absent(const kube::GroupResource& type);
  void typesChanged();
  void wantAncestors(const protection::ClusterType& type);
  void tick(TimePoint now);  // what a broken watch told may be too old by now

  // --- what follows from it
  std::vector<protection::WantedType> wanted() const;
  // Why the policies are not known; nullopt: they are.
  std::optional<std::string> whyUnknown() const;
  bool isKnown() const { return isKnown_; }  // waits for nobody
  // The account may not read DeletionPolicies, so that what is in force among them stays unknown until it
  // may. Waits for nobody.
  bool isForbidden() const { return isForbidden_; }
  // Returns true while it is not known yet whether any object lists what a policy protects.
  bool isReadingListers() const;
  // There is a policy, or it is not known whether there is. Waits for nobody.
  bool mayHaveAny() const { return mayHaveAny_; }
  std::shared_ptr<const PolicySet> policies() const;
  bool areNone() const;  // as noPolicies() said last
  // The finalizers of policies that never could be understood, and so are not among policies().
  protection::HoldFinalizers unclearFinalizers() const;
  // Fails where lastout does not know a cluster by that name, with what to do.
  tl::expected<const PolicyCluster*, std::string> clusterNamed(const std::string& name) const;
  // Reads more at once; `read` must not keep anything of it.
  void inspect(const std::function<void(const protection::FactIndex& facts)>& read) const;

 private:
  struct Followed {
    client::SyncStatus knowledge;
    uint64_t generation = 0;
  };
  struct Understood {
    std::string uid;
    std::optional<protection::DeletionPolicy> policy;  // nullopt: it never could be understood
    protection::HoldFinalizers unclear;                // of one that never could be
  };

  void changed() LASTOUT_REQUIRES(mutex_);
  void usePolicies() LASTOUT_REQUIRES(mutex_);
  void settle() LASTOUT_REQUIRES(mutex_);
  // What an object lists in vain, in words; each is empty: nothing is, or that was told.
  struct InVain {
    std::string clusterScoped;  // by a confined lister
    std::string unasked;        // by any
  };
  void tellInVain(const kube::Object& lister, const InVain& why) LASTOUT_EXCLUDES(mutex_);
  InVain whyInVain(const kube::Object& lister) LASTOUT_REQUIRES(mutex_);
  std::string whyNot(const protection::ClusterType& type, const client::SyncStatus& knowledge) const
      LASTOUT_REQUIRES_SHARED(mutex_);

  const PolicyViewOptions options_;
  ProblemsByName problems_;           // of policies
  std::atomic<bool> isKnown_{false};  // written with the lock held, as the next
  std::atomic<bool> isForbidden_{false};
  std::atomic<bool> mayHaveAny_{true};
  mutable kube::SharedMutex mutex_;
  protection::FactIndex facts_ LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, Understood> known_ LASTOUT_GUARDED_BY(mutex_);  // by name
  std::shared_ptr<const PolicySet> policies_ LASTOUT_GUARDED_BY(mutex_);
  std::optional<client::SyncStatus> knowledge_ LASTOUT_GUARDED_BY(mutex_);  // of the policies
  bool hasChanged_ LASTOUT_GUARDED_BY(mutex_) = false;  // `known_`, since policies_ was made of it
  bool areNone_ LASTOUT_GUARDED_BY(mutex_) = false;     // noPolicies()
  std::string whyUnknown_ LASTOUT_GUARDED_BY(mutex_) = "they have not been read yet";
  std::map<protection::ClusterType, Followed> followed_ LASTOUT_GUARDED_BY(mutex_);
  TimePoint now_ LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, std::string> toldInVain_ LASTOUT_GUARDED_BY(mutex_);  // by uid
};

}  // namespace lastout::server
