// What the command line says of the Lease among several lastouts.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "client/backoff.h"
#include "kube/result.h"
#include "server/controllers/lease_holder.h"
#include "server/uninstall/running_lastout.h"

namespace lastout::cmd {

struct LeaseChoice {
  std::string namespaceName;  // empty: ownNamespace, or else "default"
  std::string ownNamespace;   // may be empty
  std::string name = "lastout";
  std::string identity;  // empty: the host's name and a random number, as Pods share process ids
};

// Fails with a message that names the option. `random` is for an identity that nobody chose.
kube::Result<server::LeaseHolderOptions> leaseOf(const LeaseChoice& choice,
                                                 const client::RandomFraction& random);

// --lease-namespace and --lease-name, of commands that look for a `lastout serve` that runs.
void addLeases(CLI::App& command, LeaseChoice& choice);
// Where its Lease may be: in the namespace that was chosen, or else in ownNamespace and "default". Fails as
// leaseOf() does.
kube::Result<std::vector<server::LeaseName>> leasesOf(const LeaseChoice& choice);

}  // namespace lastout::cmd
