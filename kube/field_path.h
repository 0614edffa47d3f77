// FieldPath: the keys that lead to a field of an object.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/value.h"

namespace lastout::kube {

struct FieldPath {
  std::vector<std::string> keys;
  std::string text = {};  // as written, where somebody needs that

  // Returns the value there; nullptr: some key of the path is missing, or the value is null. No key leads
  // through a list.
  const Value* in(const Value& object) const;
  // Returns the text there; empty: as in(), or it is no text.
  std::string_view textIn(const Value& object) const;
  auto operator<=>(const FieldPath&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
};
std::string toString(const FieldPath& path);  // "spec.instanceRef.name"

// Reads "spec.projectRef.name", "metadata.labels.example\.com/project". Returns nullopt if a key is empty.
std::optional<FieldPath> parseFieldPath(std::string_view text);

// Adds each text that stands at the keys and is not empty. Where they lead through a list, each item counts.
void addTexts(const Value& value, std::span<const std::string> keys, std::vector<std::string>& texts);

}  // namespace lastout::kube
