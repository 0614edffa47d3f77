// Certificate: why a scenario is PROVEN, in a form that is checked without the program that found it.
//
// It lists every state that can be reached, each with its rank: 0 where the goal holds, else more than that
// of some state after it. That proves that the goal can be reached from each of them, as ranks cannot fall
// for ever. The check shares the machine with the proof, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"
#include "prove/explore.h"
#include "replay/compile.h"

namespace lastout::prove {

inline constexpr uint64_t kMostCertifiedStates = 1'000'000;
inline constexpr size_t kLongestCertificate = size_t{1} << 30;  // bytes of its text

struct Certificate {
  uint32_t words = 0;            // in one state
  std::vector<uint64_t> states;  // one after the other
  std::vector<uint32_t> ranks;   // of each state
};

// Returns the certificate of an exploration that is complete and in which every state can reach the goal.
Certificate certificateOf(const Exploration& found);

// Returns a line for each state, "rank word word ...", in hexadecimal, behind a line that says how many there
// are.
std::string toText(const Certificate& certificate);

// Returns what toText() has written. Fails on anything else, and names the line.
kube::Result<Certificate> parseCertificate(std::string_view text, const std::string& file);

// Returns why the certificate does not prove the scenario; nullopt: it does. `orders` as in ProofScope.
std::optional<std::string> problemOf(const Certificate& certificate, const replay::Compiled& compiled,
                                     bool orders);

}  // namespace lastout::prove
