// The API server's own words for a name that it refuses, one sentence for each rule that is broken; none when
// the name is good (rest/018).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"

namespace lastout::simulator {

std::vector<std::string> subdomainProblems(std::string_view name);
std::vector<std::string> serviceNameProblems(std::string_view name);  // RFC 1035
// Of an object of this type: kube::nameProblem()'s rules.
std::vector<std::string> nameProblems(const kube::GroupResource& type, std::string_view name);
std::vector<std::string> qualifiedNameProblems(std::string_view text);  // keys of labels, finalizers
std::vector<std::string> labelValueProblems(std::string_view value);

}  // namespace lastout::simulator
