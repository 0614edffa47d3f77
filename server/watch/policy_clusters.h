// PolicyClusters: the other clusters on which ancestors are that policies name (`ancestor.cluster`): the
// types that each serves, and reads of single objects there. Nothing is ever written there.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "client/discovery.h"
#include "kube/locks.h"
#include "protection/fact_index.h"
#include "server/review/policy_reads.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// A cluster, under the name that policies have for it.
struct NamedCluster {
  std::string name;
  std::shared_ptr<client::Access> access;
};

struct PolicyClustersOptions {
  client::BackoffLimits backoff{std::chrono::milliseconds(500), std::chrono::milliseconds(30'000)};
  std::string command = "lastout serve";              // that has the option --policy-cluster
  std::chrono::milliseconds rediscoverAfter{60'000};  // although nothing is asked for that it does not serve
  std::function<client::RandomFraction()> random;     // makes one for a thread of its own
  LogSink log = [](Level, const std::string&) {};
};

// One of them. Safe for any number of threads; start() and stop() by one at a time.
class PolicyCluster {
 public:
  // `changed` is called by a thread of this when what the cluster serves was found out.
  PolicyCluster(NamedCluster cluster, PolicyClustersOptions options, std::function<void()> changed);
  PolicyCluster(const PolicyCluster&) = delete;
  PolicyCluster& operator=(const PolicyCluster&) = delete;

  void start();  // once
  void stop();   // for good

  client::Access& access() const { return *cluster_.access; }
  // True once it said what it serves, or it is known why not.
  bool wasAsked() const;
  // Fail with why that is not known, as the end of a sentence.
  tl::expected<kube::ResourceType, std::string> find(const kube::GroupResource& type) const;
  tl::expected<protection::ServedKind, std::string> findKind(std::string_view group,
                                                             std::string_view kind) const;
  // As PolicyReads::get().
  kube::Result<std::optional<kube::Object>> get(const kube::GroupResource& type, const std::string& name,
                                                TimePoint deadline) const;

 private:
  void round();
  std::string whyNone(std::string_view group) const LASTOUT_REQUIRES(mutex_);

  const NamedCluster cluster_;
  const PolicyClustersOptions options_;
  const std::function<void()> changed_;
  const std::unique_ptr<client::ApiServer> server_;  // for discovery
  PolicyReads reads_;
  client::Backoff backoff_;  // of the thread, as the next
  ProblemLog problems_;
  mutable kube::Mutex mutex_;
  std::optional<client::Discovery> discovery_ LASTOUT_GUARDED_BY(mutex_);  // the last that succeeded
  TimePoint discoveredAt_ LASTOUT_GUARDED_BY(mutex_);
  std::string problem_ LASTOUT_GUARDED_BY(mutex_) = "it has not been asked yet";  // while there is none
  bool wasAsked_ LASTOUT_GUARDED_BY(mutex_) = false;
  mutable Loop loop_;  // what is asked for, and not served, is looked for again
};

// Safe for any number of threads; start() and stop() by one at a time.
class PolicyClusters {
 public:
  // The names must differ.
  PolicyClusters(std::vector<NamedCluster> clusters, const PolicyClustersOptions& options);

  // Is told, by a thread of this, when what a cluster serves was found out. To be called before start().
  void observe(std::function<void()> changed) { *changed_ = std::move(changed); }
  void start();  // once
  void stop();   // for good

  // Fails where no cluster has that name, with what to do.
  tl::expected<const PolicyCluster*, std::string> find(const std::string& name) const;
  bool wereAsked() const;  // each of them

 private:
  const std::string command_;
  const std::shared_ptr<std::function<void()>> changed_;
  std::map<std::string, std::unique_ptr<PolicyCluster>> clusters_;
};

}  // namespace lastout::server
