// What the command line says of the Lease among several lastouts.
#pragma once

#include <string>

#include "client/backoff.h"
#include "kube/result.h"
#include "server/controllers/lease_holder.h"

namespace lastout::cmd {

struct LeaseChoice {
  std::string namespaceName;  // empty: ownNamespace, or else "default"
  std::string ownNamespace;   // may be empty
  std::string name;
  std::string identity;  // empty: the host's name and a random number, as Pods share process ids
};

// Fails with a message that names the option. `random` is for an identity that nobody chose.
kube::Result<server::LeaseHolderOptions> leaseOf(const LeaseChoice& choice,
                                                 const client::RandomFraction& random);

}  // namespace lastout::cmd
