// narrate: what happened in a run, in sentences.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "cluster/machine.h"
#include "replay/names.h"
#include "replay/replay.h"

namespace lastout::replay {

struct Line {
  enum class Tone : uint8_t { Plain, Denied, Gone };
  std::chrono::milliseconds at{0};
  std::string text;
  Tone tone = Tone::Plain;
  uint32_t repeats = 0;  // how many times the same happened again later, and when for the last time
  std::chrono::milliseconds until{0};
};

// One line for what an action did to an object; the same denial again and again is told once. Changes that
// say nothing about deletion are left out.
std::vector<Line> narrate(const cluster::Machine& machine, const Names& names,
                          std::span<const Happening> log);

// Who acted: "admin", "the garbage collector", "the agent of manifestworks/cluster1/crd", ...
std::string actorName(const cluster::Model& model, const Names& names, cluster::Actor actor, uint32_t by);

}  // namespace lastout::replay
