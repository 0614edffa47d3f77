#include "kube/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace lastout::kube {

// No allocation and no lock: what is broken may be anything.
void endByInvariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "lastout: a defect: %s:%d: %s does not hold; please report it with this line\n", file,
               line, condition);
  std::abort();
}

}  // namespace lastout::kube
