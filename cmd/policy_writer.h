// PolicyWriter: writes deletion policies to a cluster, one by one, and says of each what became of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "cmd/commands.h"
#include "cmd/policy_sources.h"
#include "kube/result.h"

namespace lastout::cmd {

// `isTrial`: the API server says what it would do, and changes nothing.
class PolicyWriter {
 public:
  PolicyWriter(client::ApiServer& server, bool isTrial) : server_(server), isTrial_(isTrial) {}

  void apply(const PolicySource& source);
  // Deletes the policies of the source; of a katalog also those that it had when it was applied before.
  void remove(const PolicySource& source);
  // Deletes what a katalog had when it was applied before, and none of `sources` has now. Where a policy
  // could not be applied all of that stays.
  void removeFormer(const std::vector<PolicySource>& sources);
  // Waits until the status of each says that API servers go by it as it stands; for so long at most.
  void waitUntilEnforced(const std::vector<PolicySource>& sources, std::chrono::milliseconds timeout);
  int exitCode() const { return exitCode_; }

 private:
  void apply(const protection::PolicyManifest& one);
  std::string whyNotEnforced(const std::string& name);  // empty: it is
  void remove(const std::string& name, const std::string& done, const std::string& wasGone);
  void say(const std::string& name, const std::string& word) const;
  void fail(const kube::Error& error);

  client::ApiServer& server_;
  const bool isTrial_;
  int exitCode_ = kOk;
};

}  // namespace lastout::cmd
