// Acceptance: what must hold for an object before it is stored, whether a client wrote it or a mutating
// webhook changed it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/mutation.h"
#include "simulator/schema.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Fields that a custom type's schema does not know go, or are refused, defaults come, and the rest is
// checked (422). Appends the warnings to answer with.
ApiResult<void> fitToSchema(const ServedType& type, FieldValidation mode, std::string_view name, Json& object,
                            std::vector<std::string>& warnings);

// What a type's own strategy checks beyond its fields: definitions and webhook configurations.
ApiResult<void> checkContent(const ServedType& type, const Json& object);

// An update of a custom object has to say which version it is of.
ApiError noVersionGiven(const ServedType& type, std::string_view name);

// A uid never changes. A PUT of another one fails as a precondition, and is not answered with this.
ApiError uidIsImmutable(const ServedType& type, std::string_view name, std::string_view uid);

// Puts into `mutation` what mutating webhooks made of the object that they were shown, as it is stored then:
// what is the API server's own stays, and all that is asked of a client's write is asked of it. Fails with
// 500 for what is no object of its type, 400 for another namespace, 409 for another resourceVersion, and 422.
// A new object may be given another name.
ApiResult<void> acceptMutated(Mutation& mutation, Json object);

}  // namespace lastout::simulator
