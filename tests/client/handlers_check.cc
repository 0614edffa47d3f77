#include "tests/client/handlers_check.h"

namespace lastout::testing {

client::ReflectorHandlers HandlersCheck::handlers() {
  return {[this](const client::StreamedObject& object) { upsert(object); },
          [this](const client::Removed& object) { remove(object); }, [](const client::SyncStatus&) {}};
}

void HandlersCheck::upsert(const client::StreamedObject& object) {
  const SimulatedObject now{object.meta.uid, std::stoull(object.meta.resourceVersion),
                            object.meta.generation};
  const auto there = objects_.find(object.meta.name);
  if (there != objects_.end() && there->second.uid != now.uid)
    complain("takes the place of an object that is not removed", now.uid);
  Told& told = told_[now.uid];
  if (told.epoch == api_.epoch()) {
    if (told.removed) complain("is told after its removal", now.uid);
    if (now.version < told.version) complain("is told older than it was", now.uid);
  }
  if (once_ && now.version == told.version) complain("is told twice", now.uid);
  told = {now.version, api_.epoch(), false};
  objects_[object.meta.name] = now;
}

void HandlersCheck::remove(const client::Removed& removed) {
  const auto there = objects_.find(removed.name);
  if (removed.namespaceName != "app" || there == objects_.end() || there->second.uid != removed.uid)
    return complain("is removed without being there", removed.uid);
  told_[removed.uid].removed = true;
  objects_.erase(there);
}

void HandlersCheck::complain(const std::string& what, const std::string& uid) {
  if (complaint_.empty()) complaint_ = uid + " " + what;
}

}  // namespace lastout::testing
