// What the structural schema of a CRD does to an object: unknown fields go, defaults come, the rest is
// checked.
//
// Not here: x-kubernetes-validations (simulator/schema_rules.h), `format` and `multipleOf` (not checked).
// A pattern that RE2 cannot compile is not checked, nor is one longer than 4,096 bytes or one against a
// longer text. An object whose check takes more than two million steps, one for each value and alternative,
// is refused. Built-in types have no schema: their unknown fields are kept and nothing of their content is
// checked. A schema is trusted to be one; parts of it that are not formed as a schema is are ignored.
// metadata is never pruned: simulator/names.h looks after it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/json.h"
#include "simulator/served_type.h"
#include "simulator/status.h"

namespace lastout::simulator {

// What becomes of unknown fields besides being dropped: nothing, a warning, or 400 (rest/022).
enum class FieldValidation { Ignore, Warn, Strict };

// Reads the parameter ?fieldValidation=; "" means Warn; nullopt: another word.
std::optional<FieldValidation> parseFieldValidation(std::string_view parameter);

// Prunes an object that a client sent, then fills in defaults. Returns the warnings to answer with
// (`unknown field "spec.colour"`), at most 50; with Strict, fails with all of them in one message.
ApiResult<std::vector<std::string>> decodeBySchema(const ServedType& type, FieldValidation mode,
                                                   Json& object);

// Its parts, for what was stored before the schema changed. prune() returns the paths of what it dropped,
// sorted.
std::vector<std::string> prune(const Json& schema, Json& object);
void applyDefaults(const Json& schema, Json& object);

// Returns the path of a list in the object that server-side apply cannot merge, as API servers do: its schema
// makes it a set, and an item of it is a map or list. nullopt: there is none.
std::optional<std::string> unmergeableSet(const Json& schema, const Json& object);

// Returns the schema of a map's member; nullptr when the schema does not know it.
const Json* memberSchema(const Json& schema, std::string_view key);

inline constexpr size_t kMostCauses = 100;  // of one object, or of one schema
// Returns what is wrong with the object, at most kMostCauses, for invalid() (rest/016, 017). With a null
// schema nothing is wrong.
std::vector<StatusCause> schemaProblems(const Json& schema, const Json& object);

}  // namespace lastout::simulator
