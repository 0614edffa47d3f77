// What OpenAPI documents say of a type's objects.
#pragma once

#include <map>
#include <string>

#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

// By their names in a document.
using Components = std::map<std::string, Json>;

// The name of a type's objects in a document: "io.k8s.api.apps.v1.Deployment",
// "com.example.stable.v1.CronTab".
std::string componentName(const ServedType& type);
Json componentReference(const std::string& name);

// {"group", "version", "kind"}
Json groupVersionKind(const ServedType& type, const std::string& kind);

// Adds the schema of the type's objects, of their lists, and of all that these refer to. Of a CRD's schema
// takes what is formed as OpenAPI 3.0 wants it, so that any client can read the document; objects have
// apiVersion, kind and metadata as every object has, and so has what the schema calls an embedded one.
void addComponents(const ServedType& type, Components& components);

}  // namespace lastout::simulator
