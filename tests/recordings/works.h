// The ManifestWorks of a recorded story, as its clients wrote them.
#pragma once

#include <string>
#include <vector>

#include "simulator/json.h"
#include "tests/recordings/recorded_story.h"

namespace lastout::testing {

// Where an API serves them, and the provider that one of them applies.
inline constexpr const char* kWorks =
    "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
inline constexpr const char* kProvider =
    "/apis/apps/v1/namespaces/finalizer-namespace/deployments/finalizer-deployment";

// As they were when the story began, in the order in which their objects can be applied: the CRD, its
// instance, the provider.
std::vector<simulator::Json> worksOf(const StoryName& story);

}  // namespace lastout::testing
