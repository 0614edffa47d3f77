// Invariants: what is true whatever comes from outside, so that a violation is a defect of lastout's. They
// stay on in release: a process that has lost count must not go on deciding. It says where, and ends by
// abort(); API servers then deny what is guarded until the next one answers.
#pragma once

namespace lastout::kube {

// Writes the place and the condition to standard error, and ends the process.
[[noreturn]] void endByInvariant(const char* condition, const char* file, int line);

}  // namespace lastout::kube

// For conditions that cost a comparison or two. Input is never checked by this: its errors are values
// (kube/result.h).
#define LASTOUT_INVARIANT(condition)                   \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::lastout::kube::endByInvariant(#condition, __FILE__, __LINE__))
