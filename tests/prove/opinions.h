// What lastout prove and Rumur each say of one scenario.
#pragma once

#include <gtest/gtest.h>
#include <re2/re2.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "kube/parse.h"
#include "prove/murphi.h"
#include "prove/proof_report.h"
#include "tests/replay/play.h"
#include "tests/support/program.h"

namespace lastout::prove {

struct Opinion {
  std::string verdict;
  uint64_t states = 0;
  friend bool operator==(const Opinion&, const Opinion&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Opinion& opinion) {
  return out << opinion.verdict << ", " << opinion.states << " states";
}

inline std::unique_ptr<const replay::Ready> shipped(const std::string& name) {
  const std::string path = "scenarios/" + name + ".yaml";
  return replay::ready(*kube::readFile(path), path);
}

inline ProofScope scopeOf(const replay::Ready& ready) {
  return {.orders = ready.scenario.expect.ends != replay::Ending::Stuck};
}

inline Opinion ofMachine(const replay::Ready& ready) {
  const Proof proof = proveScenario(ready.compiled, scopeOf(ready));
  return {.verdict = std::string(word(proof.verdict)), .states = proof.states};
}

// A folder of its own, which goes with it.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("lastout-murphi-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// What Rumur says of a model.
inline Opinion ofRumur(const std::string& model) {
  const Folder folder;
  std::ofstream(folder.file("model.m")) << model;
  const testing::Ran ran = testing::shell("scripts/second-opinion --model " + folder.file("model.m"));
  Opinion opinion;
  EXPECT_TRUE(RE2::PartialMatch(ran.out, R"(^(.+), (\d+) states)", &opinion.verdict, &opinion.states))
      << ran.out << ran.err;
  return opinion;
}

inline std::string modelOf(const replay::Ready& ready) {
  auto model = toMurphi(ready.compiled, scopeOf(ready));
  EXPECT_TRUE(model) << (model ? "" : toString(model.error().front()));
  return model.value_or("");
}

}  // namespace lastout::prove
