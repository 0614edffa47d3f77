// Usage: options that commands share, and what a person is told when the command line was wrong.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "kube/result.h"

namespace lastout::cmd {

// Two lines: what is wrong, with the nearest command or option where one was probably meant, and where to
// find help. `app` has just failed to parse with `error`.
std::string usageMessage(const CLI::App& app, const CLI::ParseError& error);

// A check for CLI11, which takes "-1" for the greatest number, and what is greater still for the same; empty:
// it is a whole number from 0 to 2^64 - 1.
std::string wholeNumber(const std::string& text);

// --output of commands that print "text" or "json"; `output`, the one by default, must outlive the command.
void addOutput(CLI::App& command, std::string& output);

// Checks that it is one of the two.
std::function<std::string(const std::string&)> eitherOf(const std::string& first, const std::string& second);

// Reads the value of an option that is a duration: "30s". Fails with the option's name.
kube::Result<std::chrono::milliseconds> durationOf(const char* option, const std::string& text);

}  // namespace lastout::cmd
