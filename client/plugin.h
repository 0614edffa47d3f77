// Credential plugins: a program is run, and its answer read. It has no terminal, no open files of this
// process, and a limit on its time and its answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "client/connection.h"
#include "kube/result.h"

namespace lastout::client {

struct PluginLimits {
  std::chrono::milliseconds time{30'000};
  size_t answerBytes = size_t{1} << 20;
};

// Runs the plugin in this process's folder and gives what it wrote to its standard output, when it exits with
// 0. Fails when it cannot be started (with the hint how to install it), exits otherwise, or goes beyond a
// limit; it is killed then, with all that it started in its process group, as it is when `stop` is requested.
// The end of what it wrote to standard error is in the message: plugins tell people there what to do.
kube::Result<std::string> runPlugin(const ExecPlugin& plugin, const PluginLimits& limits = {},
                                    const std::stop_token& stop = {});

// What a plugin answered: a token, or a client certificate with its key, or both.
struct PluginCredential {
  std::string token;
  KeyPair client;
  std::optional<int64_t> expires;  // seconds since the epoch; nullopt: it does not say when
};

// Reads an ExecCredential of the plugin's apiVersion. Nothing of the answer's text is in a message, but the
// names of its fields.
kube::Result<PluginCredential> parsePluginAnswer(std::string_view text, const ExecPlugin& plugin);

// An error about the plugin: where it was configured, its command, and the message after it.
kube::Error pluginError(const ExecPlugin& plugin, const std::string& message);

}  // namespace lastout::client
