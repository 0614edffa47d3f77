// A CRD that is shipped: its schema, as paths of fields, for tests that hold it to the parser.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kube/object.h"
#include "kube/value.h"

namespace lastout::testing {

// The CRD of a file; what cannot be read ends the test program.
kube::Object crdOf(const std::string& file);

// Every property of a schema as a path: "criteria[].finalizer.group".
std::set<std::string> propertiesOf(const kube::Value& schema);
// The same of a manifest.
std::set<std::string> fieldsOf(const kube::Value& value);

// The paths of the version's printer columns that show a field which its schema does not have.
std::vector<std::string> columnsWithoutField(const kube::Value& version);

}  // namespace lastout::testing
