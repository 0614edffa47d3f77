// Who attacks, what is attacked, and what a tenant writes who would have lastout delete it.
#pragma once

#include <string>
#include <vector>

namespace lastout::security {

struct Object {
  std::string group;
  std::string resource;
  std::string namespaceName;
  std::string name;
  // As kubectl takes it.
  std::string arguments() const;
  // As lastout and its policies name it.
  std::string toString() const;
};

// The tokens file: "token-of-" and the name is the token of `tenant` and `status-writer`, and of lastout's
// `webhook` and `controller`. Their rights come from RBAC alone.
extern const char* const kTokensFile;
// The tenant may do everything in namespace team, write CriticalServices, patch Deployments in app, and
// delete what is in namespace lent without patching it. The status writer has one right.
std::string rightsOfAttackers();

// Of the CriticalService `owned`, whose criterion holds: the provider, and the namespace, Secret and
// ClusterRole that it guards with it.
const Object& provider();
const Object& secret();
const Object& clusterRole();
const std::vector<Object>& needed();
// What no CriticalService names.
const std::vector<Object>& foreign();
// All of these.
std::vector<Object> victims();

// A CriticalService for the Deployment `provider` of that namespace. Its criterion holds: no Deployment has
// that finalizer. `more`: a further field of the spec.
std::string service(const std::string& name, const std::string& space, const std::string& more = {});
// That field: spec.guard with these dependencies.
std::string listing(const std::vector<Object>& objects);
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
