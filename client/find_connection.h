// findConnection: which cluster is meant, by what the user gave, the variables of the process, and where it
// runs.
#pragma once

#include <string>

#include "client/connection.h"
#include "client/environment.h"
#include "kube/result.h"

namespace lastout::client {

constexpr const char* kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

// Whether the environment is that of a Pod.
bool isInCluster(const Environment& environment);

// The connection as the service account whose token, ca.crt and namespace are in `folder`; the token is read
// again as it rotates (Credentials). Fails when the environment names no API server, and when one of token
// and ca.crt cannot be used. https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
kube::Result<ConnectionConfig> inClusterConnection(const Environment& environment,
                                                   const std::string& folder = kServiceAccountFolder);

// Both may be empty.
struct ConnectionChoice {
  std::string kubeconfig;  // one file
  std::string context;
};

// The first of these that is there: the file of `choice`; the files that KUBECONFIG joins with ":"; the
// cluster that this runs in, unless a context is chosen; $HOME/.kube/config. Fails when none is, or the one
// that is cannot be used: never goes on to the next then, which might be another cluster.
tl::expected<ConnectionConfig, kube::Errors> findConnection(
    const ConnectionChoice& choice, const Environment& environment,
    const std::string& serviceAccountFolder = kServiceAccountFolder);

}  // namespace lastout::client
