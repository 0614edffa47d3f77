// What `lastout prove` gives to others so that they can check its verdict: a model for Rumur, and
// a certificate.
#pragma once

#include <optional>
#include <string>

#include "cmd/load.h"
#include "cmd/output_file.h"
#include "prove/prove.h"

namespace lastout::cmd {

// Returns the one scenario that there is. Fails where there are more; `flag` is the option that wants one.
tl::expected<const replay::Ready*, kube::Errors> onlyScenario(const Scenarios& all, const std::string& flag);

// Writes the scenario for Rumur (prove/murphi.h). Does nothing without a file.
tl::expected<void, kube::Errors> writeMurphi(std::optional<OutputFile>& file, const Scenarios& all,
                                             const prove::ProofScope& scope);

// Writes the proof's certificate; where it has none, says so on the standard error. Does nothing without a
// file.
tl::expected<void, kube::Errors> writeCertificate(std::optional<OutputFile>& file, const prove::Proof& proof);

// Checks the certificate in the file, says what came of it, and returns the exit code.
int checkCertificate(const Scenarios& all, const std::string& file, bool asJson);

}  // namespace lastout::cmd
