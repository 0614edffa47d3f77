// FinalizerAges: since when the watches have shown lastout's finalizer on providers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "client/reflector.h"
#include "criticalservice/provider_types.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace lastout::server {

// An API server looks once, before it asks anybody, whether an object has finalizers; one that has none it
// deletes at once, although it may have some when admission is asked. So the finalizer holds a provider only
// against a DELETE that came after it, and a review does not say when its request came: only what has stood
// for longer than any request lasts can be relied upon. Not safe for several threads.
class FinalizerAges {
 public:
  void note(const kube::ObjectKey& object, const kube::ObjectMeta& meta, client::TimePoint now) {
    if (!criticalservice::canBeHeld(object.type)) return;
    const auto found = seen_.find(object);
    if (!kube::hasFinalizer(meta, kube::kCriteriaFinalizer)) {
      if (found != seen_.end()) seen_.erase(found);
    } else if (found == seen_.end() || found->second.uid != meta.uid) {
      seen_[object] = {meta.uid, now};
    }
  }
  void remove(const kube::ObjectKey& object) { seen_.erase(object); }
  void forget(const kube::GroupResource& type) {
    std::erase_if(seen_, [&](const auto& one) { return one.first.type == type; });
  }

  // True if the object with this uid has had the finalizer since `time` or before.
  bool isOlderThan(client::TimePoint time, const kube::ObjectKey& object, std::string_view uid) const {
    const auto found = seen_.find(object);
    return found != seen_.end() && found->second.uid == uid && found->second.since <= time;
  }

 private:
  struct Seen {
    std::string uid;
    client::TimePoint since;
  };
  std::map<kube::ObjectKey, Seen> seen_;
};

}  // namespace lastout::server
