// ChangedFrom: what stands in the folder of --changed-from for the paths of a command line.
#pragma once

#include <string>
#include <vector>

#include "kube/result.h"
#include "prove/scenario_pairs.h"

namespace lastout::cmd {

struct ChangedFrom {
  std::string folder;
  std::vector<std::string> references;  // of --delete; empty: the paths are scenarios
};

// Reads the scenarios in `paths` and what stood for each in the folder; or, with references, all manifests on
// both sides as one scenario each (loadDeletions()). A path stands for the same path below the folder where
// that holds one of the paths, as in a checkout seen from its top folder; else one folder stands for the
// folder itself, and a file for the one of its name in it. What is in the folder is no part of what is now.
// Warnings about what is now go to the standard error. Fails on what is now and cannot be read, and where
// the folder holds neither one of the paths nor anything that matches.
tl::expected<std::vector<prove::ScenarioPair>, kube::Errors> loadPairs(const std::vector<std::string>& paths,
                                                                       const ChangedFrom& from);

// All files of both sides that were read.
std::vector<std::string> filesOf(const std::vector<prove::ScenarioPair>& pairs);

}  // namespace lastout::cmd
