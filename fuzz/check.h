// What a fuzz target does when a property does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace lastout::fuzz {

inline void check(bool holds, const char* property, const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", property, detail.c_str());
  std::abort();
}

}  // namespace lastout::fuzz
