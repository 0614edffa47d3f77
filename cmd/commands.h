// The subcommands of the program, one file each; main.cc adds them to the command line.
#pragma once

#include <CLI/App.hpp>

#include "kube/result.h"

namespace lastout::cmd {

// The program's exit codes. Usage errors, and what nobody foresaw, count as bad input.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;     // an expectation failed, something is stuck or unsafe
inline constexpr int kBadInput = 2;   // nothing was done, and nothing stands on the standard output
inline constexpr int kUndecided = 3;  // a bound was met before the answer was known

// Each adds its subcommand to `app`. When that was chosen, parsing the command line runs it and sets
// `exitCode`, which must outlive `app`.
void addCheck(CLI::App& app, int& exitCode);
void addDeferred(CLI::App& app, int& exitCode);
void addGraph(CLI::App& app, int& exitCode);
void addPolicy(CLI::App& app, int& exitCode);
void addProve(CLI::App& app, int& exitCode);
void addReplay(CLI::App& app, int& exitCode);
void addServe(CLI::App& app, int& exitCode);
void addUninstall(CLI::App& app, int& exitCode);
void addUp(CLI::App& app, int& exitCode);
void addWhy(CLI::App& app, int& exitCode);

// Prints errors to the standard error, one a line as file:line:column: message; the first 20, then how many
// more. Gives kBadInput, for `exitCode = badInput(errors)`.
int badInput(const kube::Errors& errors);
// The same of what is accepted, but probably not meant.
void printWarnings(const kube::Errors& warnings);
int badInput(const kube::Error& error);

}  // namespace lastout::cmd
