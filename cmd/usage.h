// Usage: what a person is told when the command line was wrong.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace lastout::cmd {

// Two lines: what is wrong, with the nearest command or option where one was probably meant, and where to
// find help. `app` has just failed to parse with `error`.
std::string usageMessage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace lastout::cmd
