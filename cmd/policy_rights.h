// tellRights: says which rights lastout needs for deletion policies, and which of them its accounts lack.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/discovery.h"
#include "cmd/policy_sources.h"

namespace lastout::cmd {

// Says it on the standard error, a line for each policy and account. `namespaceName`: where lastout is
// installed. Says what cannot be found out, and why: the user may lack the right to ask.
void tellRights(const std::shared_ptr<client::Access>& access, const client::Discovery& discovery,
                const std::vector<PolicySource>& sources, const std::string& namespaceName);

}  // namespace lastout::cmd
