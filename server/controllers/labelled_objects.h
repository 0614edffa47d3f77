// LabelledObjects: the objects whose labels policies keep (LabelUpkeep), as watches tell of them, and what is
// to change about each (protection/label_plan.h).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/locks.h"
#include "kube/object.h"
#include "protection/label_plan.h"
#include "protection/policy.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// An object with labels to change.
struct LabelledObject {
  std::string apiVersion;
  std::string kind;
  kube::ObjectKey key;
  kube::ObjectMeta meta;              // identity, version and labels alone
  protection::LabelPatch patch;       // never empty
  std::vector<std::string> policies;  // that want it
  bool setsProtection = false;        // the patch sets a protecting label
  bool takesProtection = false;       // or takes one away
  // Since when its labels are not as they were, and should be; nullopt: they never were.
  std::optional<TimePoint> changedAt;
  std::chrono::seconds repairAfter{0};  // of the policies that want a protecting label
};

// Safe for any number of threads. The functions that change something return the objects with labels to
// change among those that it concerns.
class LabelledObjects {
 public:
  using Changed = std::vector<kube::ObjectKey>;

  // Of these the ones that keep labels count, in the order of their names. Where two keep a label with the
  // same key on one object, the first counts. What a policy with cleanupOnShutdown no longer selects, or one
  // that is gone selected, loses the labels.
  Changed setPolicies(const std::vector<protection::DeletionPolicy>& policies);
  // lastout ends: from here on the labels of policies with cleanupOnShutdown are to go, and nothing else is
  // to change.
  Changed cleanUp();
  // Another lastout takes away what is left of policies that are gone.
  void leaveCleanUp();

  // The types whose objects have to be known, by their metadata.
  std::set<kube::GroupResource> wanted() const;
  Changed upsert(const kube::Object& object, TimePoint now);
  // `uid`: of the one that is gone; another one may have its key by now.
  void remove(const kube::ObjectKey& key, std::string_view uid);
  void forget(const kube::GroupResource& type);  // the API server does not serve it any more

  std::vector<kube::ObjectKey> all() const;  // with labels to change
  // nullopt: it is not there, is being deleted, or has the labels that it should have.
  std::optional<LabelledObject> find(const kube::ObjectKey& key) const;
  // Labels that two policies want to be different on objects of one type. Sentences.
  std::vector<std::string> conflicts() const;

 private:
  using Policies = std::vector<std::shared_ptr<const protection::DeletionPolicy>>;
  struct Known {
    std::string apiVersion;
    std::string kind;
    kube::ObjectMeta meta;
    bool wasRight = false;               // its labels were as they should be, for the policies that stand
    std::optional<TimePoint> changedAt;  // since when they no longer are
    // By the name of the policy, what is to be taken away although no policy wants anything of it.
    std::map<std::string, protection::LabelUpkeep> leaving;
  };
  using Objects = std::map<kube::ObjectKey, Known>;

  bool isKept(const protection::LabelUpkeep& upkeep, const kube::ObjectKey& key,
              const kube::Labels& labels) const LASTOUT_REQUIRES_SHARED(mutex_);
  void leave(const Policies& before) LASTOUT_REQUIRES(mutex_);
  Changed lookAtAll() LASTOUT_REQUIRES(mutex_);
  std::optional<LabelledObject> find(const kube::ObjectKey& key, const Known& known) const
      LASTOUT_REQUIRES_SHARED(mutex_);

  mutable kube::SharedMutex mutex_;
  Policies policies_ LASTOUT_GUARDED_BY(mutex_);
  std::map<kube::GroupResource, Objects> types_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
