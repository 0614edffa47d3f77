// What a service account of deploy/ may do, for the tokens file of `lastout up`, which knows no RBAC.
#pragma once

#include <string>

namespace lastout::clients {

struct Account {
  std::string namespaceName;
  std::string name;
};

// The tokens file with one user: the service account, with `token` and what the manifests' bindings give it:
// roles as they are, aggregated ones with the rules of those that they select. A binding to a role that is
// not there fails the test, and so do manifests that cannot be read.
std::string tokensFile(const std::string& manifests, const Account& account, const std::string& token);

}  // namespace lastout::clients
