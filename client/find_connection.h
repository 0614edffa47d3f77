// findConnection: which cluster is meant, by what the user gave and where the program runs.
#pragma once

#include <string>

#include "client/connection.h"
#include "client/environment.h"
#include "client/in_cluster.h"
#include "kube/result.h"

namespace lastout::client {

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
