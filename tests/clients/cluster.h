// A `lastout up` of a test's own, and its kubectl.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lastout::clients {

// Starts the program on a free port, and ends it as Ctrl-C does, which has to be clean.
class Cluster : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Only once, and before anything else; `options` come after --listen and --kubeconfig-out.
  void start(const std::vector<std::string>& options = {});
  // Instead of `lastout up`: etcd and kube-apiserver of that folder.
  void startReal(const std::string& assets);
  // A line of shell in which kubectl, lastout and $CONFIG, the kubeconfig, are this cluster's.
  testing::Ran run(const std::string& line) const;
  // `kubectl <line>`: what it printed on both outputs, in the words of older releases and without the last
  // line break; any exit code but `expected` fails the test. A $FOLDER/bin/kubectl goes before that of PATH.
  std::string kubectl(const std::string& line, int expected = 0) const;
  // Runs the line of shell, as run() does, until it succeeds; when it never does, says what it said last.
  // Safe for any number of threads.
  void waitUntil(const std::string& line) const;
  // Waits until `lastout up` has printed that; false: it has ended.
  bool hasSaid(const std::string& text) const { return program_->waitFor(text); }
  // What `lastout up` had printed when it was ready.
  const std::string& greeting() const { return program_->greeting(); }
  // Writes a file that kubectl can name as $FOLDER/<name>.
  void write(const std::string& name, const std::string& text) const;

  std::filesystem::path folder_;

 private:
  std::unique_ptr<testing::Running> program_;
};

}  // namespace lastout::clients
