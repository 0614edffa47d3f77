// A Helm chart as Helm renders it, as far as deploy/helm goes: templates that are plain YAML with
// {{ .Values.path }} in it, blocks of whole lines that begin with {{ if .Values.name }} or with
// {{ range .Values.name }}, which has {{ . }} in it, lines with {{ include "objects" (list . "path") }},
// which templates/_objects.tpl says the meaning of, and nothing else in braces.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lastout::deploy {

using Json = nlohmann::json;

// The text of a file; a failed test when there is none.
std::string textOf(const std::string& path);
// Its documents; a failed test when it is no YAML.
std::vector<Json> documentsIn(const std::string& text);

// What the chart in `folder` makes of these values. Anything else in braces, and a value that is not there,
// fails the test.
std::vector<Json> rendered(const std::string& folder, const Json& values);

}  // namespace lastout::deploy
