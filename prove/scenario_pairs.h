// scenario_pairs: a scenario as it was and as it is, read from the files of both sides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/batch.h"
#include "replay/input_file.h"

namespace lastout::prove {

// Each nullptr where it is not there.
struct ScenarioPair {
  std::unique_ptr<const replay::Ready> before;
  std::unique_ptr<const replay::Ready> now;
  std::string whyNoBefore;  // why the former file cannot be read; empty: it can, or there is none
};

// What one file is and was; an empty name: there is none.
struct FilePair {
  std::string now;
  std::string before;
  bool isNamed = false;  // by a person, so that `now` has to be a scenario
};

// Reads the scenario in both files. nullopt: it is none on either side, or one that could not be read and is
// gone. Fails on what is now and cannot be read.
tl::expected<std::optional<ScenarioPair>, kube::Errors> loadPair(const FilePair& files);

// Reads all manifests of a side as one scenario, in which the references are deleted
// (replay::scenarioOfDeletions()); of a side without files there is none. Fails as loadPair().
tl::expected<ScenarioPair, kube::Errors> pairOfDeletions(
    const tl::expected<std::vector<replay::InputFile>, kube::Errors>& now,
    const tl::expected<std::vector<replay::InputFile>, kube::Errors>& before,
    const std::vector<std::string>& references);

// The files that the scenario was read from.
std::vector<std::string> filesOf(const replay::Ready& ready);

// True if both were read from files of the same bytes, so that what is true of one is true of the other.
bool isUnchanged(const ScenarioPair& pair);

// Returns the former scenario with the end that is expected now, so that both proofs answer the same
// question: `before`, `never` and `exists` have to hold in every order only where it is not expected to get
// stuck. nullptr: it expects that as it is, or cannot.
std::unique_ptr<const replay::Ready> askedAsNow(const ScenarioPair& pair);

}  // namespace lastout::prove
