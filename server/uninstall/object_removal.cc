#include "server/uninstall/object_removal.h"

#include "client/writes.h"
#include "kube/well_known.h"
#include "protection/cel.h"

namespace lastout::server {
namespace {

constexpr int kMostRemoveConflicts = 10;

}  // namespace

RequestResult<bool> removeObject(const ObjectClient& objectClient, bool dryRun, const std::string& path,
                                 const std::string& policy) {
  for (int conflicts = 0;; ++conflicts) {
    const auto meta = objectClient.readMetadata(path);
    if (!meta) return tl::unexpected(meta.error());
    if (!*meta) return false;
    if (dryRun) return true;
    const auto written =
        objectClient.write(client::deletion(path, (*meta)->uid, (*meta)->resourceVersion, policy));
    if (written || !isConflict(written.error()) || conflicts == kMostRemoveConflicts) return written;
  }
}

bool tellRemoved(const kube::ObjectKey& object, const RequestResult<bool>& answer, UninstallReport& report) {
  if (!answer) {
    report.refused(toString(object), "be deleted", answer.error());
    return false;
  }
  if (*answer)
    report.did(toString(object), "deleted");
  else
    report.note(toString(object) + ": is not there");
  return true;
}

bool isDeniedByPolicy(const NotDone& refusal) {
  return refusal.why.find("ValidatingAdmissionPolicy '" + std::string(protection::kAdmissionPolicyPrefix)) !=
         std::string::npos;
}

PolicyLock::PolicyLock(const ObjectClient& objectClient, const Patience& patience, UninstallReport& report,
                       const char* name)
    : client_(objectClient),
      patience_(patience),
      report_(report),
      key_{kube::kValidatingAdmissionPolicyBindings, "", name} {}

bool PolicyLock::denied(const RequestResult<bool>& answer) const {
  return !answer &&
         answer.error().why.find("ValidatingAdmissionPolicy '" + key_.name + "'") != std::string::npos;
}

RequestResult<bool> PolicyLock::remove(const kube::ObjectKey& object, const std::string& policy) {
  const std::string path = client::objectPath(object);
  auto answer = removeObject(client_, report_.isDryRun(), path, policy);
  if (report_.isDryRun() && answer && *answer) tellInDryRun(object);
  for (int pauses = 0; denied(answer) && pauses < kMostLockPauses; ++pauses) {
    if (isOpened_)
      patience_.pause(kLockPause);
    else if (tellRemoved(key_, removeObject(client_, false, client::objectPath(key_)), report_))
      isOpened_ = true;
    else
      break;
    answer = removeObject(client_, false, path, policy);
  }
  return answer;
}

// A dry run deletes nothing, so no API server has said yet whether the lock is in the way.
void PolicyLock::tellInDryRun(const kube::ObjectKey& object) {
  const auto standing = client_.readMetadata(client::objectPath(key_));
  if (isTold_ || !standing || !*standing) return;
  isTold_ = true;
  report_.note(toString(key_) + ": would be deleted, unless its policy lets this account delete " +
               toString(object));
}

void PolicyLock::tellOpened(const std::string& locked) {
  if (isOpened_)
    report_.problem(toString(key_) + ": is deleted, and " + locked +
                    " that it locks is still there: run this again, or put it back as it was installed, by "
                    "kubectl apply or Helm");
}

}  // namespace lastout::server
