// uninstall: removes everything of lastout from a cluster that would still hold or deny something without it:
// `lastout uninstall`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "kube/result.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/running_lastout.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

struct UninstallOptions {
  std::string namespaceName = "lastout";  // where lastout is installed
  std::vector<LeaseName> leases;          // whose holder a lastout that runs may be
  std::string secretNamespace = "lastout";
  std::string secretName = kInstalledSecret;
  std::chrono::milliseconds timeout{120'000};  // for the Pods to be gone
  bool dryRun = false;                         // changes nothing
  bool dropsDeferredDeletions = false;  // go on although a teardown is under way, which nobody orders then
  Patience patience;
  TellLine tell;      // what is done, a line each
  TellLine complain;  // what is not, and why
};

// First it reads what has to be known: whether the webhook configuration is of a lastout in another
// namespace, which ends it; deletions that are deferred, AppliedManifestWorks, providers and objects of
// DeletionPolicies that are being deleted and wait for lastout (without dropsDeferredDeletions each ends it);
// and whether it may look at Pods and Leases. Then, in this order, each step as often as one likes: no
// lastout runs any more (its Deployments are deleted; where another holds a Lease nothing else is done); the
// ValidatingAdmissionPolicyBindings made of DeletionPolicies go, for a policy may protect what comes next;
// the webhook configuration goes, for nobody would answer; finalizers of lastout's, of AppliedManifestWorks,
// of providers, and of objects that policies hold; the ValidatingAdmissionPolicies made of DeletionPolicies;
// the deletions that CriticalServices record; the certificate's Secret, and the Leases. CriticalServices,
// DeletionPolicies, their CRDs and what else deploy/ has are left, which is told in the end. A refusal in one
// of the later steps keeps none of the others from being done.
//
// Returns false if something is left that should be gone, or if it stopped because a teardown is under way.
// Fails if the API server does not answer.
kube::Result<bool> uninstall(client::ApiServer& server, const UninstallOptions& options);

}  // namespace lastout::server
