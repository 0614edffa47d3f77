// tell: a way through a scenario, step by step in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/machine.h"
#include "prove/prove.h"
#include "replay/names.h"
#include "replay/narrate.h"

namespace lastout::prove {

struct NarratedStep {
  std::string text;  // a sentence without its full stop: who did what, what came of it, and why
  replay::Line::Tone tone = replay::Line::Tone::Plain;
};

// Steps are counted from 1; actions that say nothing (a confirming read that holds, a controller's own
// bookkeeping) are no steps of their own.
struct Narrative {
  std::vector<NarratedStep> steps;
  std::vector<replay::Happening> log;  // with Happening::number the step
  std::vector<uint64_t> state;         // where the way ends
};

// Appends the steps of `way` to `told`, which is empty or ends where `way` begins.
void tell(const cluster::Machine& machine, const replay::Names& names, const Way& way, Narrative& told);

}  // namespace lastout::prove
