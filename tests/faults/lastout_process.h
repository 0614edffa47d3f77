// LastoutProcess: `lastout serve` as a process of its own, which shows what it shows to everybody: its
// answers over HTTP, what it prints, and how it ends.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "client/http.h"
#include "tests/support/program.h"

namespace lastout::testing {

// For one thread at a time, and started by one that lives at least as long.
class LastoutProcess {
 public:
  // Starts `lastout serve` with these options, the text of a kubeconfig, and an address for answers; returns
  // once it serves, or has ended. `said` is told each line that it prints, by a thread of its own.
  LastoutProcess(const std::string& kubeconfig, std::vector<std::string> options,
                 testing::Running::Said said);
  ~LastoutProcess();  // ends it with SIGKILL
  LastoutProcess(const LastoutProcess&) = delete;
  LastoutProcess& operator=(const LastoutProcess&) = delete;

  // The host and port at which it answers reviews; "": it answers none.
  std::string reviewsAddress() const { return running_->greetingAfter("listens at https://"); }
  // What it answers at this path; nullopt: it does not answer, or with another status than 200.
  std::optional<std::string> get(const std::string& target);
  // What /readyz/verbose says of it, also while it is not ready; "": it does not answer.
  std::string standing();
  // A value of its metrics, by the name of the series with its labels; nullopt: there is none.
  std::optional<double> metric(const std::string& series);

  // True if nobody has to end it any more.
  bool hasEnded() { return running_->hasEnded(); }
  // It ends by itself, as it does when a kubelet tells it to. Fails the test unless it exits with 0.
  void terminate();
  // It does nothing from now on, as on a machine that is frozen; until resume().
  void suspend();
  void resume();

 private:
  std::optional<client::WholeAnswer> ask(const std::string& target);

  std::filesystem::path folder_;  // of its kubeconfig
  std::unique_ptr<testing::Running> running_;
  std::unique_ptr<client::HttpApiServer> answers_;  // null: it has none, as it has ended
};

}  // namespace lastout::testing
