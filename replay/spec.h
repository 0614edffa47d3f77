// The `spec` of a Scenario document, field by field. Internal to replay/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/fields.h"
#include "replay/scenario.h"

namespace lastout::replay {

// A file that spec.files names, and where.
struct FileName {
  std::string path;  // as written
  kube::Position where;
};

// What must be known before the rest can be read: more files, and manifests inside steps (they may define
// types).
std::vector<FileName> readFiles(const kube::Value& document, std::string_view file, kube::Errors& errors);
std::vector<kube::Value> manifestsInSteps(const kube::Value& document);

// Everything else of the document into `scenario`, whose file and types are set. Appends what is wrong to
// `errors`.
void readScenario(const kube::Value& document, Scenario& scenario, kube::Errors& errors);

// spec.controllers (replay/spec_controllers.cc).
void readControllers(kube::Fields& spec, Scenario& scenario, kube::Errors& errors);

// One reference or pattern; reports where it stands when it is none.
std::optional<ScenarioReference> readReference(const kube::Value& value, const std::string& path,
                                               const Scenario& scenario, kube::Errors& errors);
// "<reference> <what happened>".
std::optional<EventReference> readEvent(const kube::Value& value, const std::string& path,
                                        const Scenario& scenario, kube::Errors& errors);

// Returns why this is no merge patch of labels, annotations and fields; nullopt: it is one.
std::optional<std::string> wrongMerge(const kube::Value& merge, const std::string& path);

}  // namespace lastout::replay
