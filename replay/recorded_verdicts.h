// recorded_verdicts: a recording, told to lastout event by event, which is asked for its verdict wherever one
// was recorded: what happened in a cluster becomes a test of what decides there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admission/cluster_view.h"
#include "replay/recording.h"
#include "replay/report.h"

namespace lastout::replay {

// lastout beside the recorded cluster. Needs every change of what its CriticalServices speak of; a type of
// which nothing is shown has no objects.
class RecordedCluster {
 public:
  // What lastout says where a verdict on a DELETE was recorded.
  struct ExplainedDecision {
    admission::Decision decision;
    admission::Explanation explanation;  // of a denial
  };

  // Verdicts are given for reviews that lastout decides: DELETEs of objects themselves, unless another
  // webhook denied them. Fails on a CriticalService that cannot be understood, as ClusterView::guard().
  tl::expected<std::optional<ExplainedDecision>, kube::Errors> take(const RecordedEvent& event);
  // At any time, of a DELETE with that propagationPolicy.
  ExplainedDecision verdictOn(const kube::ObjectKey& key, std::string_view policy = {}) const;

 private:
  tl::expected<void, kube::Errors> watch(const RecordedEvent& event);

  admission::ClusterView view_;
};

// The recording as a report with an outcome for each verdict: held where lastout's is the recorded one. Where
// nobody reviewed anything the timeline says what lastout would have denied. What cannot be understood by
// lastout alone (a CriticalService; a last line that was cut off) is a warning.
tl::expected<ScenarioReport, kube::Errors> replayRecording(const std::string& path, kube::Errors& warnings);

}  // namespace lastout::replay
