// PolicyTypes: compares the types and fields that DeletionPolicies name with those of a cluster: with what it
// serves, and with the schemas of its CustomResourceDefinitions (protection/known_types.h).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/access.h"
#include "client/discovery.h"
#include "kube/object.h"
#include "protection/known_types.h"
#include "server/live_view.h"
#include "server/policy_reads.h"

namespace lastout::server {

// One thread at a time, but for stop().
class PolicyTypes {
 public:
  // `live` must outlive it. `readAgainAfter`: a definition is believed for so long.
  PolicyTypes(const std::shared_ptr<client::Access>& access, const LiveView& live,
              std::chrono::milliseconds readAgainAfter = std::chrono::milliseconds(30'000))
      : live_(live), readAgainAfter_(readAgainAfter), reads_(access) {}
  PolicyTypes(const PolicyTypes&) = delete;
  PolicyTypes& operator=(const PolicyTypes&) = delete;

  // Returns what the policy names and the cluster does not have, in one text; empty: it has all of it, as far
  // as is certain. Waits for the API server where a definition is not known, or not since a while.
  std::string unknownTo(const protection::DeletionPolicy& policy);
  void stop() { reads_.stop(); }

 private:
  struct Definition {
    std::optional<kube::Object> object;  // nullopt: there is none, or it cannot be read
    TimePoint readAt;
  };

  bool isMissing(const protection::ResourcePattern& pattern) const;
  const kube::Value* definitionOf(const kube::GroupResource& type);

  const LiveView& live_;
  const std::chrono::milliseconds readAgainAfter_;
  PolicyReads reads_;
  std::map<kube::GroupResource, Definition> definitions_;
};

// The same once, by what was discovered.
std::string unknownTo(const PolicyReads& reads, const client::Discovery& discovery,
                      const protection::DeletionPolicy& policy);

}  // namespace lastout::server
