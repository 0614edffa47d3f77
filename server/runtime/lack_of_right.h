// isLackOfRight: tells the RBAC authorizer's refusals from those of others.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

namespace lastout::server {

// It says that a request with one of these verbs is not allowed ("cannot delete resource"); no webhook does.
inline bool isLackOfRight(const std::string& problem, std::initializer_list<const char*> verbs) {
  return std::ranges::any_of(verbs, [&](const char* verb) {
    return problem.find(std::string(" cannot ") + verb + " resource ") != std::string::npos;
  });
}

}  // namespace lastout::server
