// PolicyTypes: compares the types and fields that DeletionPolicies name with those of a cluster: with what it
// serves, and with the schemas of its CustomResourceDefinitions (protection/known_types.h); and the types
// that they are about with what lastout may list.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/discovery.h"
#include "kube/object.h"
#include "kube/result.h"
#include "protection/known_types.h"
#include "server/review/authorization.h"
#include "server/review/policy_reads.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

// One thread at a time, but for stop().
class PolicyTypes {
 public:
  // All but `access` must outlive it. `lister`: the userInfo of the account that reviews DELETEs; empty: it
  // is this one. `readAgainAfter`: a definition, or what lastout may do, is believed for so long.
  PolicyTypes(const std::shared_ptr<client::Access>& access, const LiveView& live, const PolicyView& view,
              const ObjectRights& rights, std::string lister,
              std::chrono::milliseconds readAgainAfter = std::chrono::milliseconds(30'000))
      : live_(live),
        view_(view),
        rights_(rights),
        lister_(std::move(lister)),
        readAgainAfter_(readAgainAfter),
        reads_(access) {}
  PolicyTypes(const PolicyTypes&) = delete;
  PolicyTypes& operator=(const PolicyTypes&) = delete;

  // Returns what the policy names and the cluster does not have, in one text; empty: nothing of it is known
  // to be missing. nullopt: it cannot be told now, as discovery of a type has a gap or its definition was
  // never read. Waits for the API server where a definition is not known, or not since a while; one that
  // cannot be read again is believed as it was.
  std::optional<std::string> unknownTo(const protection::DeletionPolicy& policy);
  // Returns which types the policy seeks in Namespaces and behind CRDs that the lister may not list, and
  // what follows from it (protection::unreadableTypes); empty: none. nullopt: the API server does not tell
  // now.
  std::optional<std::string> unreadableOf(const protection::DeletionPolicy& policy);
  void stop() { reads_.stop(); }

 private:
  struct Definition {
    kube::Result<std::optional<kube::Object>> read;  // the last that succeeded; an error: none did
    TimePoint askedAt;
  };

  const kube::Result<std::optional<kube::Object>>& definitionOf(const kube::GroupResource& type);

  struct MayList {
    bool may = false;
    TimePoint askedAt;
  };
  // nullptr: the API server does not tell now.
  const MayList* mayList(const kube::GroupResource& type, TimePoint deadline);

  const LiveView& live_;
  const PolicyView& view_;
  const ObjectRights& rights_;
  const std::string lister_;
  const std::chrono::milliseconds readAgainAfter_;
  PolicyReads reads_;
  std::map<kube::GroupResource, Definition> definitions_;
  std::map<kube::GroupResource, MayList> mayList_;
};

// Returns a sentence for each type that the policy names and the cluster does not serve, as far as discovery
// has told. Asks nobody, and compares no fields.
std::vector<std::string> missingTypes(const LiveView& live, const protection::DeletionPolicy& policy);

// What one comparison found.
struct ComparedTypes {
  std::string unknown;  // what the policy names and the cluster does not have; empty: nothing is known
  std::set<std::string> unclear;  // a sentence for each type that could not be compared, with the reason
};

// Compares once, by what was discovered.
ComparedTypes compareTypes(const PolicyReads& reads, const client::Discovery& discovery,
                           const protection::DeletionPolicy& policy);

}  // namespace lastout::server
