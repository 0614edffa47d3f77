#include "server/uninstall/object_removal.h"

#include "client/writes.h"
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

}  // namespace lastout::server
