// Fields: reads the fields of one map strictly. What is missing, of the wrong type or unknown becomes an
// Error that names the field ("spec.provider.name"), its place in the file and, for unknown fields, the
// nearest known one.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

// "250ms", "30s", "5m", "1h30m", "1.5s": Go's notation, which Kubernetes uses, down to milliseconds, not
// negative.
Result<std::chrono::milliseconds> parseDuration(std::string_view text);

// Reads one map. Every reader below makes its key a known one; null counts as absent, as in the Kubernetes
// API. After an error a reader answers as if the field were absent, so one pass reports everything; whoever
// reads a document asks `errors.empty()` at the end. Not for use by several threads at once.
class Fields {
 public:
  // `value`, `file` and `errors` must outlive this. `path` is what messages call the map: "spec.provider", or
  // "" for the whole document. A value that is no map is an error here, and then nothing more is reported of
  // it.
  Fields(const Value& value, std::string_view file, std::string path, Errors& errors);

  std::string requiredString(std::string_view key);         // must be there and not empty; "" after an error
  std::optional<std::string> string(std::string_view key);  // may be empty
  std::optional<bool> boolean(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, int64_t least = std::numeric_limits<int64_t>::min(),
                                 int64_t most = std::numeric_limits<int64_t>::max());
  std::optional<std::chrono::milliseconds> duration(std::string_view key);
  // One of `choices`; another word is an error that names the nearest choice, or all of them.
  std::optional<std::string> oneOf(std::string_view key, std::initializer_list<std::string_view> choices);
  std::vector<std::string> strings(std::string_view key);          // a list of strings
  std::vector<std::string> stringOrStrings(std::string_view key);  // a string, or a list of strings
  std::map<std::string, std::string, std::less<>> stringMap(std::string_view key);

  // Nested maps and lists. A list's items get the paths "<key>[0]", "<key>[1]", ...
  std::optional<Fields> fields(std::string_view key);
  std::optional<Fields> requiredFields(std::string_view key);
  std::vector<Fields> items(std::string_view key);  // a list whose items are maps
  const Value* list(std::string_view key);          // nullptr unless it is there and a list
  const Value* requiredList(std::string_view key);
  const Value* map(std::string_view key);  // nullptr unless it is there and a map
  const Value* any(std::string_view key);  // whatever stands there; nullptr when absent or null

  bool has(std::string_view key) const;  // there and not null; does not make the key a known one
  // Keys that are known although nothing reads them.
  void allow(std::initializer_list<std::string_view> keys);

  // Reports every field that no reader asked for, at most 10 of them. Call it last.
  void finish();

  // Reports `message` at the field's value (at the map's beginning when it is absent), or at any other place.
  // The message is used as it is: start it with pathOf(key).
  void fail(std::string_view key, std::string message);
  void failAt(const Value& where, std::string message);

  std::string pathOf(std::string_view key) const;  // "spec.provider.name"
  const std::string& path() const { return path_; }
  const Value& value() const { return *value_; }
  std::string_view file() const { return file_; }

 private:
  const Value* known(std::string_view key);
  void wrongType(std::string_view key, const Value& found, std::string_view wanted);

  const Value* value_;
  std::string_view file_;
  std::string path_;
  Errors* errors_;
  std::vector<std::string> known_;
};

}  // namespace lastout::kube
