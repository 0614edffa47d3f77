// The checked-in list of what must have happened before what: tests/recordings/happens-before.yaml.
#pragma once

#include <string>
#include <vector>

#include "kube/reference.h"
#include "tests/recordings/recorded_story.h"

namespace lastout::testing {

struct HappensBefore {
  struct Side {
    std::string text;
    kube::ObjectPattern pattern;
    cluster::EventKind kind = cluster::EventKind::Gone;
    bool matches(const Happened& event) const { return event.kind == kind && pattern.matches(event.key); }
  };
  Side first;
  Side then;
  std::vector<std::string> stories;  // it is said of these
};

// The pairs that are said of this story.
std::vector<HappensBefore> pairsOf(const RecordedStory& story);

// A sentence for each pair that these events contradict: `then` happens and `first` has not happened yet, or
// happens once more.
std::string contradictions(const std::vector<HappensBefore>& pairs, const std::vector<Happened>& events);

}  // namespace lastout::testing
