// What the recorded stories are told for, to be found again in whatever plays them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/recordings/recorded_story.h"

namespace lastout::testing {

// The objects that this happened to.
std::set<std::string> namesOf(const std::vector<Happened>& happened, cluster::EventKind kind);

// The agent reports the provider's work gone while everything that it applied is still there.
void expectGoneTooEarly(const std::vector<Happened>& happened);

// The deadlock's reason: every criterion holds, and nobody asks for the provider any more.
void expectProviderForgotten(const std::vector<Happened>& happened);

}  // namespace lastout::testing
