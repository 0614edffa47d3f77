// A cluster with all of deploy/ in it, and `lastout uninstall` with the rights of its Helm hook and no
// others.
#pragma once

#include <string>
#include <vector>

#include "tests/clients/serving.h"

namespace lastout::clients {

// The text of a file; empty: there is none.
std::string fileText(const std::string& path);

class Uninstalling : public Serving {
 protected:
  // start(), with the account of the hook, to which these manifests may bind more; and deploy/ is applied. A
  // `lastout serve` of the test is another user than its policies know, so that these are not in force.
  void startDeployed(std::vector<std::string> options, const std::string& manifests = "");
  // Returns what it printed on both outputs.
  std::string uninstall(const std::string& options, int expected) const;
};

}  // namespace lastout::clients
