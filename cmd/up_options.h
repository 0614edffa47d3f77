// What `lastout up` is told by its flags.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kube/kubernetes_version.h"

namespace lastout::cmd {

struct UpOptions {
  std::string listen = "127.0.0.1:0";
  bool plainHttp = false;
  std::vector<std::string> load;
  std::vector<std::string> profiles;
  std::string kubeconfig = "lastout.kubeconfig";
  std::string guard = "none";
  double speed = 1;
  uint64_t seed = 1;
  std::string podReady = "1s";
  std::string kubernetes{toString(kube::kNewestKubernetes)};
  std::string tokens;
  bool rbac = false;
  std::vector<std::string> services;
  std::string record;
};

// Adds the flags that fill the options; these must outlive the command.
void addUpOptions(CLI::App& command, UpOptions& options);

}  // namespace lastout::cmd
