// YAML and JSON text into Values, within bounds. YAML is the 1.2 core schema without other tags, and with the
// merge keys of YAML 1.1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

// What input may cost at most; checked before and while parsing.
struct ParseLimits {
  size_t bytes = size_t{16} << 20;  // of the whole text; and of what its anchors keep and aliases repeat
  size_t depth = 64;                // nesting of lists and maps
  size_t values = 1'000'000;        // nodes in all documents together, those of anchors and aliases too
};

// All documents of a multi-document YAML text; empty documents are left out. An alias is a copy of its
// anchor's value, whose inner places are those of the anchor; in a map with a merge key its own members come
// first. Fails with file:line:column on syntax errors, Helm templates, duplicate keys, aliases inside their
// own anchor's value, tags other than the core schema's (!!str, ...), keys that are no strings, numbers that
// JSON cannot hold, invalid UTF-8, NUL and other control characters, and exceeded limits. Time is
// proportional to the text, some 0.3 µs a byte; memory stays below 400 MB with the limits above, whatever the
// text.
Result<std::vector<Value>> parseYaml(std::string_view text, std::string_view file,
                                     const ParseLimits& limits = {});

// One JSON document (RFC 8259) under the same rules; integers beyond int64 become doubles.
Result<Value> parseJson(std::string_view text, std::string_view file, const ParseLimits& limits = {});

// The bytes of a regular file; fails without reading it when it is larger than limits.bytes.
Result<std::string> readFile(const std::string& path, const ParseLimits& limits = {});

}  // namespace lastout::kube
