// murphi: a scenario in the language of Murphi, for a second opinion by Rumur.
//
// The rules of Kubernetes are written a second time for it, in prove/murphi/*.m; a scenario adds its objects
// as tables, its initial state and its goal. Rumur's verifier passes where the scenario is PROVEN.
#pragma once

#include <span>
#include <string>
#include <tl/expected.hpp>

#include "kube/compiled_text.h"
#include "kube/result.h"
#include "prove/prove.h"

namespace lastout::prove {

// The files of prove/murphi/, in the order in which a model contains them.
std::span<const kube::CompiledText> murphiTexts();

// Returns the model. Its property "can end" holds in a state if the goal can be reached from it; an error in
// it is a commit that is unsafe or, with `scope.orders`, an event that is expected not to happen yet. Fails,
// with one error for each kind of thing, on what those rules do not cover: ManifestWorks, DeletionPolicies,
// and steps that write labels, annotations or fields.
tl::expected<std::string, kube::Errors> toMurphi(const replay::Compiled& compiled, const ProofScope& scope);

}  // namespace lastout::prove
