// Selectors of a request's query: by fields, and by labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/selector.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

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

}  // namespace lastout::simulator
