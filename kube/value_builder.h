// ValueBuilder: what YAML's and JSON's events have in common: they become one Value, within limits. Internal
// to kube/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/source_text.h"

namespace lastout::kube {

// Every function answers false after an error; error() is set then, and nothing more may be called. Places
// are offsets into the source.
class ValueBuilder {
 public:
  ValueBuilder(const SourceText& source, const ParseLimits& limits) : source_(source), limits_(limits) {}

  bool beginMap(size_t offset) { return begin(offset, Value::Map()); }
  bool beginList(size_t offset) { return begin(offset, Value::List()); }
  bool end();  // of the innermost map or list; refuses duplicate keys
  bool key(std::string text, size_t offset);
  bool scalar(Value::Data data, size_t offset);

  // True between a map's beginning or a member and the next key.
  bool wantsKey() const {
    return !open_.empty() && open_.back().value.asMap() != nullptr && !open_.back().hasKey;
  }
  bool fail(size_t offset, std::string message);
  const std::optional<Error>& error() const { return error_; }

  // The finished document; ready for the next one.
  Value take();

 private:
  struct Open {
    Value value;
    bool hasKey = false;
    std::string key;
    Position keyPosition;
  };

  bool begin(size_t offset, Value::Data empty);
  bool count(size_t offset);
  bool checkUnique(const Value::Map& map);
  void add(Value value);

  const SourceText& source_;
  ParseLimits limits_;
  size_t values_ = 0;
  std::vector<Open> open_;  // from the outermost to the innermost
  Value root_;
  std::optional<Error> error_;
};

}  // namespace lastout::kube
