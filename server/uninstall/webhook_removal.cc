#include "server/uninstall/webhook_removal.h"

#include "client/api_server.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

// The policy that lets lastout's accounts alone delete the configuration; its binding has the same name.
constexpr const char* kLock = "lastout-configuration";

}  // namespace

WebhookRemoval::WebhookRemoval(const ObjectClient& objectClient, const Patience& patience,
                               UninstallReport& report)
    : client_(objectClient),
      patience_(patience),
      report_(report),
      lock_(objectClient, patience, report, kLock),
      name_(WebhookConfiguration().name) {}

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
  isGone_ = tellRemoved(key(), removeProtected(), report_);
  if (!isGone_) tellWayOut();
}

// The account of Helm's Job may delete it, as the policy says; others have to open the lock, and may, or not.
// What a DeletionPolicy denies is asked again, for its binding is deleted by then.
RequestResult<bool> WebhookRemoval::removeProtected() {
  auto answer = lock_.remove(key());
  for (int pauses = 0; !answer && isDeniedByPolicy(answer.error()) && pauses < kMostLockPauses; ++pauses) {
    patience_.pause(kLockPause);
    answer = lock_.remove(key());
  }
  if (!answer) lock_.tellOpened("the configuration");
  return answer;
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
