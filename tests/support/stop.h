// stop: the end of a test program whose own material is wrong.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace lastout::testing {

[[noreturn]] inline void stop(std::string_view why) {
  std::cerr << why << "\n";
  std::abort();
}

}  // namespace lastout::testing
