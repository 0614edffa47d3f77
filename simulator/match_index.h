// MatchIndex: which of many MatchResources may match a request, without a look at each of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kube/object_key.h"
#include "simulator/admission_review.h"
#include "simulator/match_resources.h"

namespace lastout::simulator {

// By the types that the rules name, and by a label that the objectSelector needs: of thousands of policies
// most are about other types, or about objects with a label that few objects have. Threading: none; any
// number of threads may read it once all is added.
class MatchIndex {
 public:
  // Adds what stands at `position` of the list that is indexed.
  void add(const kube::MatchResources& resources, size_t position);
  // Returns the positions of all that match the request, and possibly of some that do not, in ascending
  // order.
  std::vector<size_t> candidates(const ReviewRequest& request) const;

 private:
  struct Positions {
    std::vector<size_t> ofAll;                                           // that need no label
    std::map<std::string, std::vector<size_t>, std::less<>> ofLabelled;  // by the key of a label they need
  };

  std::map<kube::GroupResource, Positions> byType_;  // "*": any group, any resource
};

}  // namespace lastout::simulator
