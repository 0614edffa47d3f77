// CompiledText: a file that is part of the program (lastout_texts() in cmake/LastoutTargets.cmake).
#pragma once

#include <string_view>

namespace lastout::kube {

struct CompiledText {
  std::string_view file;  // from the repository's top folder: "deploy/crd/criticalservices.yaml"
  std::string_view text;
};

}  // namespace lastout::kube
