// promela: a model in the language of Murphi as one in Promela, with the rules as embedded C, for SPIN.
//
// SPIN stores the states that Rumur stores, so its rate and its count stand beside theirs. Its logic has no
// word for "can still be reached": the model's liveness property is left out, and SPIN says nothing about
// STUCK.
#pragma once

#include <string>

#include "kube/result.h"

namespace lastout::prove {

// Returns the model in Promela. Each instance of a rule is one step of one process, without a state in
// between, and the state vector holds the variables of the Murphi model and nothing else. An `error` of the
// model ends SPIN's search. Fails, with the line, on what is not in the part of Murphi that toMurphi
// (prove/murphi.h) uses, and on what Murphi would check while it runs: a value or an index of another type.
kube::Result<std::string> toPromela(const std::string& murphi);

}  // namespace lastout::prove
