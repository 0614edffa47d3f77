// What a service account of deploy/ may do, for the tokens file of `lastout up` without --rbac.
#pragma once

#include <string>
#include <vector>

namespace lastout::clients {

struct Account {
  std::string namespaceName;
  std::string name;
  std::string token;
};

// The tokens file with these service accounts, each with its token and what the manifests' bindings give it:
// roles as they are, aggregated ones with the rules of those that they select. A binding to a role that is
// not there fails the test, and so do manifests that cannot be read.
std::string tokensFile(const std::string& manifests, const std::vector<Account>& accounts);

}  // namespace lastout::clients
