// ValueBuilder: what YAML's and JSON's events have in common: they become one Value, within limits. Internal
// to kube/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/source_text.h"

namespace lastout::kube {

// The number of an anchor of YAML within its document; 0: the value has none.
using Anchor = size_t;

// Every function answers false after an error; error() is set then, and nothing more may be called. Places
// are offsets into the source.
class ValueBuilder {
 public:
  ValueBuilder(const SourceText& source, const ParseLimits& limits) : source_(source), limits_(limits) {}

  bool beginMap(size_t offset, Anchor anchor = 0) { return begin(offset, Value::Map(), anchor); }
  bool beginList(size_t offset, Anchor anchor = 0) { return begin(offset, Value::List(), anchor); }
  bool end();  // of the innermost map or list; refuses duplicate keys, and merges what "<<" names
  bool key(std::string text, size_t offset, Anchor anchor = 0);
  // "<<" (https://yaml.org/type/merge.html): the next value is a map, or a list of maps, whose members join
  // this map where it has no such key itself; of two maps in the list the first one counts.
  bool mergeKey(size_t offset);
  bool scalar(Value::Data data, size_t offset, Anchor anchor = 0);
  // Puts a copy of an anchor's value here, as a value or, of a string, as a key. What anchors keep and
  // aliases repeat counts against the limits on values and bytes: a short text cannot ask for gigabytes.
  bool alias(Anchor anchor, size_t offset);

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
    Anchor anchor = 0;
    bool hasKey = false;
    bool isMerge = false;  // the key is "<<"
    std::string key;
    Position keyPosition;
    std::optional<Position> mergePosition;  // of "<<"; nullopt: this map has none
    Value::List merged;                     // the maps that it names
  };
  // What a copy of a value costs.
  struct Size {
    size_t values = 1;
    size_t bytes = 0;  // of keys and strings
    size_t depth = 0;  // of lists and maps
  };
  struct Anchored {
    Value value;
    Size size;
  };

  static Size sizeOf(const Value& value);
  bool begin(size_t offset, Value::Data empty, Anchor anchor);
  bool count(size_t offset);
  bool countCopy(const Size& size, Position place);
  bool failAt(Position place, std::string message);
  bool checkUnique(const Value::Map& map);
  bool keep(Anchor anchor, const Value& value);
  bool add(Value value);
  bool addMerged(Open& map, Value value);

  const SourceText& source_;
  ParseLimits limits_;
  size_t values_ = 0;
  size_t copiedBytes_ = 0;
  std::vector<Open> open_;  // from the outermost to the innermost
  std::unordered_map<Anchor, Anchored>
      anchors_;  // of this document; those of open lists and maps are not there yet
  Value root_;
  std::optional<Error> error_;
};

}  // namespace lastout::kube
