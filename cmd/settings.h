// Settings: options of a command that its command line left out, taken from the environment or from a YAML
// file.
#pragma once

#include <CLI/App.hpp>

#include "client/environment.h"
#include "kube/result.h"

namespace lastout::cmd {

// Returns the variables that begin with LASTOUT_.
client::Environment ownVariables(client::Environment variables);

// Gives every long option of `command` that was not on the command line its value: from the variable
// LASTOUT_<NAME> (LASTOUT_DENY_STATUS for --deny-status) where that is set and not empty, or else from the
// map in the YAML file that its option --config names, whose keys are the names of options without the
// dashes. Values meet the checks of the command line. Fails with the variable, or with file:line:column, on
// what a check refuses, on a key that is no option (with the nearest one), on a variable that is almost an
// option's (others may be there for other reasons), and on a value that is no scalar.
kube::Result<void> takeSettings(CLI::App& command, const client::Environment& environment);

}  // namespace lastout::cmd
