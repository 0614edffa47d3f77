// Manifests written into a test as YAML. What does not parse ends the test program, with the parser's
// message.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
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

// The one document of the text, as an API server is sent it.
nlohmann::json jsonOf(std::string_view yaml);
nlohmann::json objectOf(const char* apiVersion, const char* kind, const std::string& name,
                        const nlohmann::json& labels = nlohmann::json::object());
// A CustomResourceDefinition whose only version is v1.
nlohmann::json definition(const std::string& group, const std::string& plural, const std::string& kind,
                          const std::string& scope = "Cluster",
                          const nlohmann::json& labels = nlohmann::json::object());
// The labels of what belongs to the composite `pg` of AppCat.
nlohmann::json ownerLabels();

// The errors as a person reads them, one a line.
std::string lines(const kube::Errors& errors);

}  // namespace lastout::testing
