// stopBench: the end of a benchmark that cannot go on.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

namespace lastout::bench {

// Says why, and ends the program.
[[noreturn]] inline void stopBench(const std::string& what) {
  std::cerr << "bench: " << what << "\n";
  std::exit(1);
}

}  // namespace lastout::bench
