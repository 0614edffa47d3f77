// Manifests written into a test as YAML. What does not parse ends the test program, with the parser's
// message.
#pragma once

#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::testing {

// Every object of the text; the CRDs among them are added to `types`.
std::vector<kube::Object> objects(std::string_view yaml, kube::ResourceMap& types);
// The one object of the text.
kube::Object object(std::string_view yaml, kube::ResourceMap& types);
kube::Object object(std::string_view yaml);

// The errors as a person reads them, one a line.
std::string lines(const kube::Errors& errors);

}  // namespace lastout::testing
