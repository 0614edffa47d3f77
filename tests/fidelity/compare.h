// Compare: where two answers differ, apart from what differs from run to run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/json.h"

namespace lastout::fidelity {

using simulator::Json;

struct Difference {
  std::string path;      // "body.items[2].metadata.name", "body.resources[pods].verbs"
  std::string recorded;  // compact JSON; empty: not there
  std::string own;
};

// The answer without what differs from run to run. managedFields and audit ids go, as do the objects that the
// recorded control plane's distributor adds; uids, times, resource versions and continue tokens become one
// word each, in messages, too: so it is still compared whether they are there.
Json comparable(Json answer);

// Where they differ, in the order of the paths. Elements of arrays are paired by their names (or types), with
// a path that ends in "[order]" where those are in another order; by their place where they share none.
std::vector<Difference> differences(const Json& recorded, const Json& own);

// What the recorded control plane made up, and what the embedded cluster made up in its place.
class Identities {
 public:
  // Learns from two answers to the same request: uids, resource versions and continue tokens; generated names
  // and hashes of pod templates.
  void learn(const Json& recorded, const Json& own);
  // The text of a request with the uids, resource versions and continue tokens that there are here.
  std::string translated(std::string text) const;
  // An answer from here with the generated names and the hashes that were recorded: once one has been told,
  // it has to stay the same.
  Json asRecorded(Json own) const;

 private:
  std::map<std::string, std::string> own_;       // by what was recorded
  std::map<std::string, std::string> recorded_;  // by what is here
};

}  // namespace lastout::fidelity
