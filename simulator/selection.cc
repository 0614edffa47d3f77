#include "simulator/selection.h"

#include <utility>

namespace lastout::simulator {

bool Selection::contains(const Record& record) const {
  if (!namespaceName.empty() && record.key().namespaceName != namespaceName) return false;
  return matches(labels, record.object()) && matches(fields, record.object());
}

ApiResult<Selection> selectionOf(const kube::GroupResource& type, const Target& target,
                                 const ListOptions& options) {
  Selection selection;
  selection.type = type;
  selection.namespaceName = target.namespaceName;
  auto labels = parseLabelSelector(options.labelSelector);
  if (!labels) return tl::unexpected(std::move(labels.error()));
  selection.labels = std::move(*labels);
  auto fields = parseFieldSelector(options.fieldSelector, type);
  if (!fields) return tl::unexpected(std::move(fields.error()));
  selection.fields = std::move(*fields);
  if (!target.name.empty()) selection.fields.requirements.push_back({"metadata.name", target.name, true});
  return selection;
}

}  // namespace lastout::simulator
