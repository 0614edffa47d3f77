// ReplayedDeletions: runs the deletions that annotations ask for (admission/delete_when_free.h) of objects
// that other objects list for policies (protection/replay_plan.h). It has no thread: a Controller calls it
// for one object after the other.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/locks.h"
#include "kube/object.h"
#include "protection/replay_plan.h"
#include "server/controllers/deferred_deletion_event.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

struct ReplayedDeletionsOptions {
  std::function<std::optional<kube::ResourceType>(const kube::GroupResource& type)> findType;
  std::function<std::chrono::sys_seconds()> clock;  // what time it is, for people
  std::function<bool()> mayAct;                     // this lastout holds the Lease; asked before each action
  // As of AdmissionPolicy: isEnforced() and look().
  std::function<std::optional<bool>()> annotationsCount;
  std::function<tl::expected<bool, std::string>()> confirmAnnotationsCount;
  // Of protection::ReplayFacts.
  std::function<bool(const kube::ObjectKey& object)> isGuarded;
  std::function<bool(const kube::Object& object)> isListed;  // by its metadata alone
  std::function<void(const kube::Object& object, const DeferredDeletionEvent& news)> told;
};

// The problem, with what to do about it where RBAC refuses one of the verbs.
std::string withReplayGrant(std::string problem);

// One thread at a time for settle(), any for all else.
class ReplayedDeletions {
 public:
  // It must outlive this.
  ReplayedDeletions(const ObjectClient& client, ReplayedDeletionsOptions options)
      : client_(client), options_(std::move(options)) {}

  // What watches tell. True: the object is to be looked at.
  bool upsert(kube::Object object);
  // `uid`: of the one that is gone; another one may have its key by now.
  void remove(const kube::ObjectKey& key, std::string_view uid);
  void forget(const kube::GroupResource& type);  // the API server does not serve it any more

  std::vector<kube::ObjectKey> all() const;  // with the annotation
  // Those of them that something listed when they were looked at last.
  std::vector<kube::ObjectKey> waiting() const;

  Settled settle(const kube::ObjectKey& key);

 private:
  using Kind = DeferredDeletionEvent::Kind;
  struct Annotated {
    kube::Object object;  // without its content
    bool waits = false;
    std::string told;  // last
  };

  std::optional<kube::Object> find(const kube::ObjectKey& key) const;
  protection::ReplayPlan planFor(const kube::Object& object, std::optional<bool> annotationsCount) const;
  Settled follow(const kube::Object& object, const protection::ReplayPlan& plan);
  Settled execute(const kube::ResourceType& type, const kube::Object& object);
  Settled heldUp(const kube::Object& object, const std::string& problem);
  void tell(const kube::Object& object, Kind kind, const std::string& why = {});

  const ObjectClient& client_;
  const ReplayedDeletionsOptions options_;
  mutable kube::Mutex mutex_;
  std::map<kube::ObjectKey, Annotated> annotated_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
