// Selection: which objects of a type a list, a watch or a deletion of a collection is about.
#pragma once

#include <string>

#include "simulator/field_selector.h"
#include "simulator/request.h"
#include "simulator/storage.h"

namespace lastout::simulator {

struct Selection {
  kube::GroupResource type;
  std::string namespaceName;  // empty: all
  kube::LabelSelector labels;
  FieldSelector fields;
  bool contains(const Record& record) const;
};

// Fails with 400 for selectors that cannot be read, or select by what the type cannot be selected by. A name
// (of a watch on one object) is selected as a field.
ApiResult<Selection> selectionOf(const kube::GroupResource& type, const Target& target,
                                 const ListOptions& options);

}  // namespace lastout::simulator
