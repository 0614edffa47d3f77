// ChangedFrom: what stands in the folder of --changed-from for the paths of a command line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/load.h"

namespace lastout::cmd {

// A scenario as it was and as it is, each nullptr where it is not there.
struct ScenarioPair {
  std::unique_ptr<const replay::Ready> before;
  std::unique_ptr<const replay::Ready> now;
  std::string whyNoBefore;  // what is wrong with the former file; empty: nothing is, or there is none

  // True if both were read from the same bytes, so that what is true of one is true of the other.
  bool isUnchanged() const;
};

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
tl::expected<std::vector<ScenarioPair>, kube::Errors> loadPairs(const std::vector<std::string>& paths,
                                                                const ChangedFrom& from);

// All files of both sides that were read.
std::vector<std::string> filesOf(const std::vector<ScenarioPair>& pairs);

}  // namespace lastout::cmd
