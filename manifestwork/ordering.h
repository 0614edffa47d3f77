// Ordering: what a ManifestWork and an AppliedManifestWork go after, as the graph's conditions. Together they
// say the truth rule: a work is not gone before what it applied is gone.
#pragma once

#include <span>
#include <vector>

#include "graph/condition.h"
#include "manifestwork/manifest_work.h"

namespace lastout::manifestwork {

// `subject` goes after `condition`; what graph::Graph::require takes.
struct WorkRequirement {
  kube::ObjectKey subject;
  graph::Condition condition;  // of kind Object; with a uid where one is known
  graph::Origin origin;
};

// An AppliedManifestWork goes after each object that it notes and its work does not orphan, with the uid that
// it notes: an object of that name that somebody else made later does not hold it back.
std::vector<WorkRequirement> requirementsOf(const AppliedManifestWork& applied);

// A ManifestWork goes after every one of `applied` that carries it out; when none does, after the one that an
// agent would write (appliedName), which need not exist yet.
std::vector<WorkRequirement> requirementsOf(const ManifestWork& work,
                                            std::span<const AppliedManifestWork> applied);

}  // namespace lastout::manifestwork
