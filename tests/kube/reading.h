// Text in, text out: what the parsers made of an input, or what they said against it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kube/object.h"
#include "kube/parse.h"

namespace lastout::kube {

// Each document as JSON in a line of its own, or the error.
inline std::string readYaml(std::string_view text, const ParseLimits& limits = {}) {
  const auto documents = parseYaml(text, "file", limits);
  if (!documents) return toString(documents.error());
  std::string lines;
  for (const Value& document : *documents) lines += (lines.empty() ? "" : "\n") + toJson(document).dump();
  return lines;
}

inline std::string readJson(std::string_view text, const ParseLimits& limits = {}) {
  const auto document = parseJson(text, "file", limits);
  return document ? toJson(*document).dump() : toString(document.error());
}

// One YAML document that is known to be good.
inline Value yaml(std::string_view text) { return parseYaml(text, "file").value().at(0); }

// The keys of all objects, one a line, or the error.
inline std::string readObjects(std::string_view text, ResourceMap types = ResourceMap::builtIn()) {
  auto documents = parseYaml(text, "file");
  if (!documents) return toString(documents.error());
  const auto objects = parseObjects(std::move(*documents), "file", types);
  if (!objects) return toString(objects.error());
  std::string lines;
  for (const Object& object : *objects) lines += (lines.empty() ? "" : "\n") + toString(object.key);
  return lines;
}

}  // namespace lastout::kube
