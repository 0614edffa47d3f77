// recorded_verdicts: replays a recording to lastout event by event, and compares lastout's verdict with each
// recorded one, so that a recorded cluster tests the verdicts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admission/cluster_view.h"
#include "replay/recording.h"
#include "replay/report.h"

namespace lastout::replay {

// lastout's view of the recorded cluster. The recording must show every change of the types that its
// CriticalServices name; a type that it never shows has no objects.
class RecordedCluster {
 public:
  // `fields`: those that CriticalServices ask about at any time.
  explicit RecordedCluster(criticalservice::FieldsByType fields = {}) : fields_(std::move(fields)) {}

  // What lastout says where a verdict on a DELETE was recorded.
  struct ExplainedVerdict {
    admission::Verdict verdict;
    admission::Explanation explanation;  // of a denial
  };

  // Verdicts are given for reviews that lastout decides: DELETEs of objects themselves, unless another
  // webhook denied them. Fails on a CriticalService that cannot be understood, as ClusterView::guard().
  tl::expected<std::optional<ExplainedVerdict>, kube::Errors> take(const RecordedEvent& event);
  // Returns the verdict on a DELETE with that propagationPolicy, at any time.
  ExplainedVerdict verdictOn(const kube::ObjectKey& key, std::string_view policy = {}) const;

 private:
  tl::expected<void, kube::Errors> watch(const RecordedEvent& event);

  admission::ClusterView view_;
  const criticalservice::FieldsByType fields_;
};

// Returns the recording as a report with an outcome for each verdict, which holds if lastout's verdict is the
// recorded one. If the recording has no reviews, the timeline says what lastout would have denied. A
// CriticalService that lastout cannot understand, or a last line that was cut off, is a warning.
tl::expected<ScenarioReport, kube::Errors> replayRecording(const std::string& path, kube::Errors& warnings);

}  // namespace lastout::replay
