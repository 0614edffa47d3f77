#include "server/uninstall/webhook_removal.h"

#include <chrono>

#include "client/api_server.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "server/uninstall/object_removal.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

// The policy that lets lastout's accounts alone delete the configuration; its binding has the same name.
constexpr const char* kLock = "lastout-configuration";
constexpr std::chrono::milliseconds kLockPause{200};
constexpr int kMostLockPauses = 50;  // API servers learn by a watch that a binding is gone

kube::ObjectKey lockKey() { return {kube::kValidatingAdmissionPolicyBindings, "", kLock}; }

bool isLocked(const RequestResult<bool>& answer) {
  return !answer && answer.error().why.find(kLock) != std::string::npos;
}

}  // namespace

WebhookRemoval::WebhookRemoval(const ObjectClient& objectClient, const Patience& patience,
                               UninstallReport& report)
    : client_(objectClient), patience_(patience), report_(report), name_(WebhookConfiguration().name) {}

kube::ObjectKey WebhookRemoval::key() const { return {kube::kValidatingWebhookConfigurations, "", name_}; }

std::string WebhookRemoval::path() const { return client::objectPath(key()); }

// An account that may not read it cannot delete it either.
bool WebhookRemoval::isOf(const std::string& namespaceName) {
  const auto standing = client_.read(path());
  if (!standing && standing.error().code != 403) {
    report_.refused(toString(key()), "be read", standing.error());
    return false;
  }
  const std::string home = standing && *standing ? homeOf(**standing) : "";
  if (home.empty() || home == namespaceName) return true;
  report_.problem(toString(key()) + ": is of the lastout in namespace " + kube::inQuotes(home) + ", not in " +
                  kube::inQuotes(namespaceName) + ": say which one with --namespace");
  return false;
}

void WebhookRemoval::tellWayOut() {
  const auto standing = client_.readMetadata(path());
  if (standing && !*standing) return;
  report_.problem(
      "unless a lastout still answers, what is under review is denied now; to end that, and all guarding: "
      "kubectl delete validatingwebhookconfiguration " +
      name_);
}

void WebhookRemoval::remove() {
  isGone_ = tellRemoved(key(), removeLocked(), report_);
  if (!isGone_) tellWayOut();
}

// The account of Helm's Job may delete it, as the policy says; others have to open the lock, and may, or not.
// What a DeletionPolicy denies is asked again, for its binding is deleted by then.
RequestResult<bool> WebhookRemoval::removeLocked() {
  auto answer = removeObject(client_, report_.isDryRun(), path());
  if (report_.isDryRun()) tellOfLock();
  bool isOpened = false;
  for (int pauses = 0; !answer && pauses < kMostLockPauses; ++pauses) {
    if (isLocked(answer) && !isOpened) {
      const auto opened = removeObject(client_, report_.isDryRun(), client::objectPath(lockKey()));
      if (!tellRemoved(lockKey(), opened, report_)) return answer;
      isOpened = true;
    } else if (isLocked(answer) || isDeniedByPolicy(answer.error())) {
      patience_.pause(kLockPause);
    } else {
      break;
    }
    answer = removeObject(client_, report_.isDryRun(), path());
  }
  if (!answer && isOpened)
    report_.problem(toString(lockKey()) +
                    ": is deleted, and the configuration that it locks is still there: run this "
                    "again, or put it back as it was installed, by kubectl apply or Helm");
  return answer;
}

// A dry run deletes nothing, so no API server has said yet whether the lock is in the way.
void WebhookRemoval::tellOfLock() {
  const auto standing = client_.readMetadata(client::objectPath(lockKey()));
  if (standing && *standing)
    report_.note(toString(lockKey()) + ": would be deleted, unless its policy lets this account delete " +
                 toString(key()));
}

void WebhookRemoval::lookAgain() {
  if (report_.isDryRun() || !isGone_) return;
  const auto standing = client_.readMetadata(path());
  if (!standing) return report_.refused(toString(key()), "be read", standing.error());
  if (!*standing || (*standing)->deletionTimestamp) return;
  report_.problem(toString(key()) +
                  ": is there again: a lastout serve runs whose Lease is none of those that were looked at, "
                  "and puts back what was taken away: end it, and run this again, with its --namespace");
}

}  // namespace lastout::server
