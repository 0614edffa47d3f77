// GuardInside: the lastout of `lastout up --guard inside`: what `lastout serve` runs, in the process of its
// cluster.
#pragma once

#include <csignal>
#include <memory>
#include <tl/expected.hpp>

#include "cmd/listening.h"
#include "cmd/log.h"
#include "kube/result.h"
#include "server/server.h"
#include "simulator/embedded_cluster.h"
#include "simulator/listener.h"
#include "simulator/user.h"

namespace lastout::cmd {

// The user as which lastout asks the embedded cluster, with the rights that it has where rights count: it
// reads and deletes everything, and writes what the controller of deploy/ does.
simulator::KnownUser guardUser();

class GuardInside {
 public:
  // Starts lastout beside `cluster`, at addresses of the loopback interface that nobody else is told;
  // `identity` vouches for both of them. Keeps a reference to the cluster, which need not run yet. Fails when
  // an address cannot be had.
  static tl::expected<std::unique_ptr<GuardInside>, kube::Errors> open(simulator::EmbeddedCluster& cluster,
                                                                       const MadeIdentity& identity);
  ~GuardInside();  // as stop()
  GuardInside(const GuardInside&) = delete;
  GuardInside& operator=(const GuardInside&) = delete;

  // Waits until a probe has shown that the cluster asks lastout, and all CriticalServices and
  // DeletionPolicies that it stores are enforced, or are not meant to be; returns false when one of the
  // signals `ending` came before that. Fails with what is not understood of a policy, and, when it takes too
  // long, with what is not enforced.
  tl::expected<bool, kube::Errors> waitUntilInForce(const sigset_t& ending);
  // After the cluster: whatever is asked of lastout meanwhile is answered.
  void stop();

 private:
  explicit GuardInside(simulator::EmbeddedCluster& cluster) : cluster_(cluster) {}
  struct NotInForce {
    kube::Errors refused;  // policies that are not understood
    kube::Errors pending;
  };
  bool isAsked() const;
  NotInForce notInForce() const;

  simulator::EmbeddedCluster& cluster_;
  Log log_{2, spdlog::level::warn};
  std::unique_ptr<simulator::Listener> listener_;  // for lastout alone
  std::unique_ptr<server::Server> server_;
};

}  // namespace lastout::cmd
