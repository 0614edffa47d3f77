// HeldObjects: what is known of the objects that policies hold by a finalizer (protection/hold_plan.h), and
// of what depends on them: told by watches, read by whoever settles them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "kube/object.h"
#include "protection/hold_finalizers.h"
#include "protection/hold_plan.h"
#include "protection/kept_facts.h"
#include "protection/policy.h"

namespace lastout::server {

// A held object with all that its plan rests on but the external step.
struct HeldObject {
  std::shared_ptr<const protection::DeletionPolicy> policy;  // nullptr: none counts for it any more
  kube::Object object;
  std::vector<protection::HeldChild> children;
  std::optional<std::string> childrenUnknown;  // set: why nobody can say which there are
  std::vector<std::string> releasable;         // finalizers that hold it for no policy any more
};

// Why a child stays, in the words of its own status; empty: that says nothing of it.
std::string obstacleOf(const protection::DeletionPolicy& policy, const kube::Object& child);

// Safe for any number of threads. The functions that change something return the held objects that it
// affects.
class HeldObjects {
 public:
  using Changed = std::vector<kube::ObjectKey>;
  using Policies = std::vector<std::shared_ptr<const protection::DeletionPolicy>>;

  // Sets the policies; those that hold objects count, in the order of their names. If two select one object,
  // the first counts, and the finalizers of the others and of former policies are released. `unclear`:
  // finalizers of policies that cannot be understood.
  Changed setPolicies(const std::vector<protection::DeletionPolicy>& policies,
                      protection::HoldFinalizers unclear = {});
  // Finalizers of policies that were there before lastout was told of any.
  Changed knowFormer(const protection::HoldFinalizers& former);
  // The types that have to be known as a whole, each object with its content: those that are held, and those
  // of children.
  std::set<kube::GroupResource> wanted() const;

  Changed upsert(kube::Object object);
  // `uid`: of the one that is gone; another one may have its key by now.
  Changed remove(const kube::ObjectKey& key, std::string_view uid);
  // Whether all objects of the type are known; `whyNot` is empty: they are.
  Changed know(const kube::GroupResource& type, std::string whyNot);
  // There are none of the type any more.
  Changed forget(const kube::GroupResource& type);

  // Why not all objects of the type are known; empty: they are.
  std::string whyNotKnown(const kube::GroupResource& type) const;
  std::vector<kube::ObjectKey> all() const;  // objects that a policy selects, or has selected
  // Returns the held object; nullopt: it does not exist, or needs no plan.
  std::optional<HeldObject> find(const kube::ObjectKey& key) const;
  // The same with the object as it was just read, and with children that were just listed beside those that
  // watches have told of.
  std::optional<HeldObject> find(kube::Object read, const std::vector<kube::Object>& listed = {}) const;

 private:
  using Objects = std::map<kube::ObjectKey, std::shared_ptr<const kube::Object>>;
  struct TypeState {
    Objects objects;
    std::string whyNot = "its objects are not known yet";
  };
  // By the groups of a parent's children (protection/kept_facts.h).
  using Index = std::map<std::string, std::set<kube::ObjectKey>, std::less<>>;
  struct Relation {
    protection::ChildrenTest test;
    Index children;
  };

  void put(kube::Object object, Changed& changed) LASTOUT_REQUIRES(mutex_);
  void take(const kube::ObjectKey& key, Changed& changed) LASTOUT_REQUIRES(mutex_);
  void index(const kube::Object& child, bool isThere, Changed& changed) LASTOUT_REQUIRES(mutex_);
  void noteParents(const protection::ChildrenTest& test, const protection::ParentReference& parent,
                   Changed& changed) const LASTOUT_REQUIRES_SHARED(mutex_);
  std::shared_ptr<const protection::DeletionPolicy> policyOf(const kube::Object& object) const
      LASTOUT_REQUIRES_SHARED(mutex_);
  bool isHeld(const kube::Object& object) const LASTOUT_REQUIRES_SHARED(mutex_);
  void findChildren(HeldObject& held, const std::vector<kube::Object>& listed) const
      LASTOUT_REQUIRES_SHARED(mutex_);
  std::set<kube::ObjectKey> inGroups(const protection::ChildrenTest& test,
                                     const std::vector<std::string>& groups) const
      LASTOUT_REQUIRES_SHARED(mutex_);
  protection::HeldChild childOf(const kube::Object& object) const LASTOUT_REQUIRES_SHARED(mutex_);
  Changed allLocked() const LASTOUT_REQUIRES_SHARED(mutex_);

  mutable kube::SharedMutex mutex_;
  Policies policies_ LASTOUT_GUARDED_BY(mutex_);
  protection::KnownFinalizers finalizers_ LASTOUT_GUARDED_BY(mutex_);
  std::map<kube::GroupResource, TypeState> types_ LASTOUT_GUARDED_BY(mutex_);
  std::vector<Relation> relations_ LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, kube::ObjectKey, std::less<>> byUid_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
