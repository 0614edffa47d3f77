// A `lastout serve` of a test's own beside its cluster, or one for each role: processes of their own, and
// real TLS between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/clients/cluster.h"

namespace lastout::clients {

// Ends it as Ctrl-C does, which has to be clean.
class Serving : public Cluster {
 protected:
  void TearDown() override;

  // Starts it with the kubeconfig `$FOLDER/<config>`; `options` come after that, --listen and --answers.
  void serve(const std::vector<std::string>& options = {}, const std::string& config = "config");
  // The same for each role, as deploy/ has it: with the kubeconfigs `$FOLDER/webhook` and
  // `$FOLDER/controller`. `options` are for both, the others for one of them. The functions below are about
  // the two together.
  void serveRoles(const std::vector<std::string>& options,
                  const std::vector<std::string>& webhookOptions = {},
                  const std::vector<std::string>& controllerOptions = {});
  // Until the API server was seen to ask it about deletions of the story's provider, and it knows all that
  // the provider depends on: so long a status waits for it.
  void waitUntilTheProviderIsGuarded() const;
  // The host and port at which it answers reviews.
  std::string address() const;
  // Where it gives /metrics, /graph and /why.
  std::string answersUrl() const;
  // Waits until it has printed that; false: it has ended, and has not.
  bool waitUntilItSays(const std::string& text) { return serving_->waitFor(text); }
  // What it has printed, when it was ended as Ctrl-C does.
  std::string interrupt();
  // Tells it to end, as a kubelet does, and does not wait.
  void terminate();
  // Ends it with -9.
  void kill() {
    controller_.reset();
    serving_.reset();
  }
  // Starts another one, as serve(); the functions above are about the first.
  void serveBeside(const std::vector<std::string>& options = {});

  // One more, which these functions do not know of; `options` with --listen, if it takes that.
  std::unique_ptr<testing::Running> started(const std::vector<std::string>& options,
                                            const std::string& config) const;

 private:
  std::unique_ptr<testing::Running> serving_;     // with the role webhook at least
  std::unique_ptr<testing::Running> controller_;  // null: that one has both
  std::unique_ptr<testing::Running> beside_;
};

}  // namespace lastout::clients
