// Paths: the files that a command line means.
#pragma once

#include <string>
#include <vector>

#include "kube/parse.h"
#include "kube/result.h"
#include "replay/input_file.h"

namespace lastout::cmd {

// "-" on a command line: the standard input.
inline constexpr const char* kStandardInput = "-";

// The files among `paths` as they are, folders as the .yaml, .yml and .json files in them, at any depth and
// in the order of their names; names that begin with a dot are passed over, links to folders are not
// followed. Each file once. Fails on what is not there or cannot be read, and on a folder without any such
// file.
kube::Result<std::vector<std::string>> expandPaths(const std::vector<std::string>& paths);

// The .yaml, .yml and .json files in a folder, as above; it may have none. Fails on a folder that cannot be
// read.
kube::Result<std::vector<std::string>> manifestsIn(const std::string& folder);

// The bytes of a file, or of the standard input for "-"; fails when there are more than limits.bytes, having
// read no more than that.
kube::Result<std::string> readInput(const std::string& path, const kube::ParseLimits& limits = {});

// All that expandPaths() makes of the paths, read; all together at most 128 MiB.
tl::expected<std::vector<replay::InputFile>, kube::Errors> readInputs(const std::vector<std::string>& paths);

}  // namespace lastout::cmd
