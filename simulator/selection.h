// What a request for a list, a watch or the deletion of a collection selects, and where the next page begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/selector.h"
#include "simulator/json.h"
#include "simulator/request.h"
#include "simulator/status.h"
#include "simulator/storage.h"

namespace lastout::simulator {

// --- Selectors of a request's query: by fields, and by labels.

struct FieldRequirement {
  std::string field;  // "metadata.name", "involvedObject.uid": a path, but for "source" of events
  std::string value;
  bool equal = true;  // or unequal
};

// All requirements must hold; none matches everything.
struct FieldSelector {
  std::vector<FieldRequirement> requirements;
};

// "metadata.name=a,status.phase!=Failed": `=` and `==` mean the same; `\\`, `\,` and `\=` stand for
// themselves in a value. Fails with 400 on bad syntax and on fields that the type cannot be selected by
// (recorded: rest/037).
ApiResult<FieldSelector> parseFieldSelector(std::string_view text, const kube::GroupResource& type);
// The text that is read as that selector.
std::string toString(const FieldSelector& selector);
// A field that is missing counts as "".
bool matches(const FieldSelector& selector, const Json& object);

// "app=web,tier in (a,b),!legacy"; fails with 400.
ApiResult<kube::LabelSelector> parseLabelSelector(std::string_view text);
// Looks at metadata.labels; copies only the labels that the selector names.
bool matches(const kube::LabelSelector& selector, const Json& object);

// --- The token with which the next page of a list is asked for; in the API server's own form (recorded:
// rest/033, rest/034).

struct ContinueToken {
  uint64_t resourceVersion = 0;  // of the whole list, as its first page saw it; not 0
  std::string lastName;  // "<namespace>/<name>" or "<name>" of the last object of the page before; not empty
};

std::string toString(const ContinueToken& token);

// Fails with 400 (recorded: rest/039).
ApiResult<ContinueToken> parseContinueToken(std::string_view text);

// --- Selection: which objects of a type a list, a watch or a deletion of a collection is about.

struct ListSelection {
  kube::GroupResource type;
  std::string namespaceName;  // empty: all
  kube::LabelSelector labels;
  FieldSelector fields;
  bool contains(const StoredRecord& record) const;
};

// Fails with 400 for selectors that cannot be read, or select by what the type cannot be selected by. A name
// (of a watch on one object) is selected as a field.
ApiResult<ListSelection> selectionOf(const kube::GroupResource& type, const Target& target,
                                     const ListOptions& options);

}  // namespace lastout::simulator
