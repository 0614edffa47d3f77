// uninstall: takes away, at an API server, whatever of lastout would still hold or deny something when it is
// gone: `lastout uninstall`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "kube/result.h"
#include "server/requests.h"
#include "server/running_lastout.h"
#include "server/uninstall_report.h"

namespace lastout::server {

struct UninstallOptions {
  std::string namespaceName = "lastout";  // where lastout is installed
  std::vector<LeaseName> leases;          // whose holder a lastout that runs may be
  std::string secretNamespace = "lastout";
  std::string secretName = "lastout-tls";
  std::chrono::milliseconds timeout{120'000};  // for the Pods to be gone
  bool dryRun = false;                         // changes nothing
  bool dropsPutOff = false;  // go on although deletions are put off, which nobody carries out then
  Patience patience;
  TellLine tell;      // what is done, a line each
  TellLine complain;  // what is not, and why
};

// In this order, each step as often as one likes: no lastout runs any more (its Deployment is deleted; where
// another holds the Lease nothing else is done); the webhook configuration goes, for nobody would answer;
// finalizers of lastout's, of AppliedManifestWorks and of the types that providers are of; the deletions that
// CriticalServices remember; the certificate's Secret, and the Leases. CriticalServices, their CRD and what
// else deploy/ has are left, which is told in the end. What one step is refused keeps none of the later ones
// from being done.
//
// False: something that should be gone is not, or nothing was done since deletions are put off. Fails when
// the API server does not answer.
kube::Result<bool> uninstall(client::ApiServer& server, const UninstallOptions& options);

}  // namespace lastout::server
