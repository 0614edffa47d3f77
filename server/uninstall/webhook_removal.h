// WebhookRemoval: how uninstalling takes away the ValidatingWebhookConfiguration, and the binding of the
// policy that keeps others from doing so.
#pragma once

#include <string>

#include "kube/object_key.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/object_removal.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// One thread at a time.
class WebhookRemoval {
 public:
  // All must outlive it.
  WebhookRemoval(const ObjectClient& objectClient, const Patience& patience, UninstallReport& report);

  // True unless it is of a lastout in another namespace, which is not to lose it, or that cannot be known.
  bool isOf(const std::string& namespaceName);
  // Deletes it, and before it, where that is refused because of it, the binding.
  void remove();
  // Tells how to end all guarding, when it may be there and no replica is left to answer.
  void tellWayOut();
  // Complains if it was deleted, and is there again.
  void lookAgain();

 private:
  kube::ObjectKey key() const;
  std::string path() const;
  RequestResult<bool> removeProtected();

  const ObjectClient& client_;
  const Patience& patience_;
  UninstallReport& report_;
  PolicyLock lock_;
  const std::string name_;
  bool isGone_ = false;
};

}  // namespace lastout::server
