// What a Pod is given to reach the API server of its own cluster.
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
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
// and ca.crt cannot be used.
kube::Result<ConnectionConfig> inClusterConnection(const Environment& environment,
                                                   const std::string& folder = kServiceAccountFolder);

}  // namespace lastout::client
