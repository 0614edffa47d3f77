// Deleting single objects while lastout is uninstalled, also those that a shipped policy locks, and saying
// what became of each.
#pragma once

#include <chrono>
#include <string>

#include "kube/object_key.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// API servers learn by a watch that a binding is gone: a deletion that it denied is tried again.
inline constexpr std::chrono::milliseconds kLockPause{200};
inline constexpr int kMostLockPauses = 50;

// Deletes one object, in whatever version it is; in a dry run looks whether it is there. False: it is not.
// `policy`: as of client::deletion().
RequestResult<bool> removeObject(const ObjectClient& objectClient, bool dryRun, const std::string& path,
                                 const std::string& policy = {});

// Reports what removeObject() answered about the object. Returns false if the object may still be there.
bool tellRemoved(const kube::ObjectKey& object, const RequestResult<bool>& answer, UninstallReport& report);

// True if a ValidatingAdmissionPolicy that lastout makes of a DeletionPolicy denied the request. Once its
// binding is deleted API servers deny nothing more, each within kInForceAfter (protection/policy_status.h).
bool isDeniedByPolicy(const NotDone& refusal);

// PolicyLock: the binding of a shipped ValidatingAdmissionPolicy of the same name that denies a deletion. One
// thread at a time.
class PolicyLock {
 public:
  // All but the name must outlive it.
  PolicyLock(const ObjectClient& objectClient, const Patience& patience, UninstallReport& report,
             const char* name);

  // As removeObject(); where the lock is why the deletion is denied, deletes the binding, and asks again
  // until the API servers have learnt of that. A dry run tells that the binding would be deleted.
  RequestResult<bool> remove(const kube::ObjectKey& object, const std::string& policy = {});
  // Complains, if the binding was deleted, that what it locks is still there.
  void tellOpened(const std::string& locked);

 private:
  bool denied(const RequestResult<bool>& answer) const;
  void tellInDryRun(const kube::ObjectKey& object);

  const ObjectClient& client_;
  const Patience& patience_;
  UninstallReport& report_;
  const kube::ObjectKey key_;
  bool isOpened_ = false;
  bool isTold_ = false;
};

}  // namespace lastout::server
