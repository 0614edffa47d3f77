// discover: which types an API server serves now, under which versions, and what may be done with them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_server.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::client {

// A type that the server serves.
struct DiscoveredType {
  kube::ResourceType type;            // its version: the one that the server prefers of those that serve it
  std::vector<std::string> versions;  // all that serve it, that one first
  bool canGet = false;
  bool canList = false;
  bool canWatch = false;
};

// A group and version, or something in it, that could not be read: what it serves is not known.
struct DiscoveryGap {
  std::string group;
  std::string version;      // empty: any of the group
  std::string why;          // for a person
  bool isNotFound = false;  // its path answers 404: no API server serves it now, although the group names it
};

struct Discovery {
  // What kube::ResourceMap::builtIn() knows, and everything that is served; what only the former knows need
  // not be there.
  kube::ResourceMap types;
  std::map<kube::GroupResource, DiscoveredType> served;
  std::vector<DiscoveryGap> gaps;
  std::map<std::string, std::vector<std::string>> versions;  // of each group, the preferred one first

  const DiscoveredType* find(const kube::GroupResource& type) const;  // nullptr: not served, or in a gap
  // nullptr: the whole group is known; of a pattern (kube/patterns.h): all groups that it means.
  const DiscoveryGap* gapIn(std::string_view group) const;
  // True if an API server may serve types of the group that are not known: it has a gap whose path may answer
  // later. After the end of a CRD, API servers go on to name its group for a moment, and the path answers
  // 404.
  bool mayServeMore(std::string_view group) const;
};

// Asks for /api, /apis, and each version of each group. One that fails, as aggregated APIs do whose server is
// away, becomes a gap; the others count. Fails when /api or /apis cannot be read.
kube::Result<Discovery> discover(ApiServer& server);

// The same, some time after `before`: asks only for the versions of these groups, and of those that were not
// known then or have other versions now.
kube::Result<Discovery> discoverAgain(ApiServer& server, const Discovery& before,
                                      const std::set<std::string>& groups);

}  // namespace lastout::client
