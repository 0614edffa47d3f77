// toYaml: JSON as YAML for people: blocks, two spaces, and quotes only where they are needed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lastout::kube {

// One document, which ends with a line break; parseYaml() reads the same values from it. What is not UTF-8 is
// replaced. It calls itself for each level of nesting.
std::string toYaml(const nlohmann::ordered_json& document);

}  // namespace lastout::kube
