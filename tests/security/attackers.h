// The attackers and their rights, the objects that they attack, and the CriticalServices that a tenant tries
// to write so that lastout deletes these objects.
#pragma once

#include <string>
#include <vector>

#include "kube/object_key.h"

namespace lastout::security {

using kube::ObjectKey;

// The object, in the words that kubectl takes: "deployments.apps provider -n app".
std::string argumentsOf(const ObjectKey& object);

// The tokens file: "token-of-" and the name is the token of `tenant` and `status-writer`, and of lastout's
// `webhook` and `controller`. Their rights come from RBAC alone.
extern const char* const kTokensFile;
// The tenant may do everything in namespace team, write CriticalServices, patch Deployments in app, and
// delete what is in namespace lent without patching it. The status writer has one right.
std::string rightsOfAttackers();

// The provider of the CriticalService `owned`, whose criterion is met, and what `owned` guards with it: the
// namespace, a Secret and a ClusterRole.
const ObjectKey& provider();
const ObjectKey& secret();
const ObjectKey& clusterRole();
const std::vector<ObjectKey>& needed();
// What no CriticalService names.
const std::vector<ObjectKey>& foreign();
// All of these.
std::vector<ObjectKey> victims();

// A CriticalService for the Deployment `provider` of that namespace. Its criterion holds: no Deployment has
// that finalizer. `more`: a further field of the spec.
std::string service(const std::string& name, const std::string& space, const std::string& more = {});
// That field: spec.guard with these dependencies.
std::string listing(const std::vector<ObjectKey>& objects);
// `owned`, and a Deployment `provider` in app, team and lent.
std::string manifests();

// A CriticalService that the tenant may not write, and the words of the two that refuse it.
struct Theft {
  std::string manifest;
  std::string policy;   // of the API server's policy
  std::string lastout;  // of lastout, where there is no policy: a right that is missing
};
std::vector<Theft> thefts();

}  // namespace lastout::security
