// PolicyTypes: compares the types and fields that DeletionPolicies name with those of a cluster: with what it
// serves, and with the schemas of its CustomResourceDefinitions (protection/known_types.h).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "client/access.h"
#include "client/discovery.h"
#include "kube/object.h"
#include "kube/result.h"
#include "protection/known_types.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"

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

  // Returns what the policy names and the cluster does not have, in one text; empty: nothing of it is known
  // to be missing. nullopt: it cannot be told now, as discovery of a type has a gap or its definition was
  // never read. Waits for the API server where a definition is not known, or not since a while; one that
  // cannot be read again is believed as it was.
  std::optional<std::string> unknownTo(const protection::DeletionPolicy& policy);
  void stop() { reads_.stop(); }

 private:
  struct Definition {
    kube::Result<std::optional<kube::Object>> read;  // the last that succeeded; an error: none did
    TimePoint askedAt;
  };

  const kube::Result<std::optional<kube::Object>>& definitionOf(const kube::GroupResource& type);

  const LiveView& live_;
  const std::chrono::milliseconds readAgainAfter_;
  PolicyReads reads_;
  std::map<kube::GroupResource, Definition> definitions_;
};

// What one comparison found.
struct ComparedTypes {
  std::string unknown;  // what the policy names and the cluster does not have; empty: nothing is known
  std::set<std::string> unclear;  // a sentence for each type that could not be compared, with the reason
};

// Compares once, by what was discovered.
ComparedTypes compareTypes(const PolicyReads& reads, const client::Discovery& discovery,
                           const protection::DeletionPolicy& policy);

}  // namespace lastout::server
