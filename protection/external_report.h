// The external step: an outside controller deletes, keeps or saves the resource outside the cluster that a
// held object represents, and reports that on the object itself, in an annotation or a condition
// (docs/holding.md). lastout only reads the report: it connects to nothing outside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::protection {

// The results that are reported; also the reasons of a condition.
inline constexpr std::string_view kReportedDone = "Done";
inline constexpr std::string_view kReportedFailed = "Failed";

struct ExternalReport {
  enum class State : uint8_t { Missing, Done, Failed };
  State state = State::Missing;
  // Failed: the reported reason. Missing: the report that is expected, and what was found in its place.
  std::string message;
};

// Returns the beginning of each report about the object with this uid and deletion policy: "Delete/6f3c…".
std::string reportedStep(std::string_view word, std::string_view uid);

// Reads the report from the object. A report of another uid or word is Missing: it is about an earlier object
// of the name, or about a deletion policy that the object no longer has.
ExternalReport externalReportIn(const ReportPlace& place, std::string_view word, const kube::ObjectMeta& meta,
                                const kube::Value& content);

}  // namespace lastout::protection
