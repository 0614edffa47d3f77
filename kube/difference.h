// differenceFrom: whether an object that stands in a cluster says all that a manifest says.
#pragma once

#include <functional>
#include <string>

#include "kube/value.h"

namespace lastout::kube {

// Returns the first place where `standing` does not say what `wanted` says: "rules has 2 items instead of 3",
// "rules[1].verbs[0] differs", "spec.type is missing". Empty: it says all of that. A list has to have the
// same number of items. An object may have more members where `mayHave` returns true of them: an API server
// fills in defaults, and others may have set fields of their own; by default it may have any.
std::string differenceFrom(
    const Value& standing, const Value& wanted,
    const std::function<bool(const Member& more)>& mayHave = [](const Member&) { return true; });

}  // namespace lastout::kube
