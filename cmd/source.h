// Source: where the graph comes from that a command is asked about: files, a cluster, or a `lastout serve`.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "admission/known_cluster.h"
#include "client/access.h"
#include "kube/result.h"

namespace lastout::cmd {

// At most one of paths, server, and kubeconfig or context; none: the cluster of
// client::findConnection().
struct SourceOptions {
  std::vector<std::string> paths;
  std::string server;     // "http://127.0.0.1:9090"
  std::string tokenFile;  // for a server
  std::string authority;  // a file: who vouches for the server's certificate
  std::string kubeconfig;
  std::string context;
  std::vector<std::string> policyClusters;  // NAME=KUBECONFIG, beside a cluster
};

// The options and the FILE arguments; `options` must outlive the command.
void addSource(CLI::App& command, SourceOptions& options);

// What was asked of a server, and its answer.
struct ServerAnswer {
  int status = 0;
  std::string body;
};
inline bool isServer(const SourceOptions& options) { return !options.server.empty(); }
// GET of a path with its query. Fails when there is no server, none answers, or the options contradict each
// other; refusals are answers.
tl::expected<ServerAnswer, kube::Errors> askServer(const SourceOptions& options, const std::string& target);
// What a refusal says, as an error.
kube::Error refusedBy(const SourceOptions& options, const ServerAnswer& answer);

// The options of commands that ask a cluster and nothing else; both must outlive the command.
void addKubeconfig(CLI::App& command, std::string& kubeconfig, std::string& context);
// Access to the cluster of client::findConnection(); both may be empty. Warnings go to the standard error.
tl::expected<std::shared_ptr<client::Access>, kube::Errors> openCluster(const std::string& kubeconfig,
                                                                        const std::string& context);

// Of files or a cluster; warnings go to the standard error. `reference`: what the command is asked about, so
// that this is known, too, whatever lastout itself follows; empty: nothing else.
tl::expected<admission::KnownCluster, kube::Errors> knownCluster(const SourceOptions& options,
                                                                 const std::string& reference = {});

}  // namespace lastout::cmd
