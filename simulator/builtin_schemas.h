// What is published of the built-in types: the fields that simulator/builtin_schemas/*.yaml describe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/compiled_text.h"
#include "kube/object_key.h"
#include "simulator/json.h"

namespace lastout::simulator {

// Before the name of a schema in a reference to it.
constexpr std::string_view kReferencePrefix = "#/components/schemas/";

// The files of simulator/builtin_schemas/, compiled in.
std::span<const kube::CompiledText> builtInSchemaTexts();

// Returns the schema of a built-in type's objects, without apiVersion, kind and metadata; null: it is not
// described. Objects may have more fields than these.
Json builtInSchema(const kube::GroupResource& type);

// Returns a part that several types have in common, by its name in a document: "io.k8s.api.core.v1.PodSpec";
// null: there is none.
Json sharedSchema(std::string_view name);

// Returns a reference to such a part, by its short name: "ObjectMeta".
Json referenceTo(std::string_view part);

}  // namespace lastout::simulator
