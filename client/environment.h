// Environment: the variables of a process, passed in as a value.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lastout::client {

using Environment = std::map<std::string, std::string, std::less<>>;

// Returns those of `variables`, as in environ: "NAME=value", the last is nullptr.
Environment environmentOf(const char* const* variables);
// Those of this process, as they are now.
Environment processEnvironment();

// A variable's value; "" when it is not set.
inline std::string_view valueOf(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : found->second;
}

}  // namespace lastout::client
