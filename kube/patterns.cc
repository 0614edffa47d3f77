#include "kube/patterns.h"

#include "kube/names.h"
#include "kube/object_references.h"

namespace lastout::kube {
namespace {

constexpr std::string_view kBelow = "*.";

}  // namespace

bool isFinalizerPattern(std::string_view text) { return text.ends_with('*') || isWantedReference(text); }

bool isValidFinalizerPattern(std::string_view pattern) {
  if (!pattern.ends_with('*') || pattern.find('/') == std::string_view::npos) return false;
  std::string example(pattern);
  example.back() = 'x';
  return isQualifiedName(example);
}

bool meansFinalizer(std::string_view named, std::string_view finalizer) {
  if (isWantedReference(named)) return meansReference(named, finalizer);
  return isFinalizerPattern(named) ? finalizer.starts_with(named.substr(0, named.size() - 1))
                                   : finalizer == named;
}

bool coversFinalizers(std::string_view wide, std::string_view narrow) {
  return wide == narrow || (isFinalizerPattern(wide) && meansFinalizer(wide, narrow));
}

bool isGroupPattern(std::string_view group) { return group.starts_with(kBelow); }

bool meansGroup(std::string_view named, std::string_view group) {
  if (!isGroupPattern(named)) return group == named;
  const std::string_view domain = named.substr(1);  // with its dot
  return group.size() > domain.size() && group.ends_with(domain);
}

bool meansType(std::string_view namedGroup, std::string_view namedResource, std::string_view group,
               std::string_view resource) {
  return (namedResource == "*" || namedResource == resource) && meansGroup(namedGroup, group);
}

bool meansType(const GroupResource& named, const GroupResource& type) {
  return meansType(named.group, named.resource, type.group, type.resource);
}

bool coversTypes(const GroupResource& wide, const GroupResource& narrow) {
  return wide == narrow || (isTypePattern(wide) && meansGroup(wide.group, narrow.group));
}

}  // namespace lastout::kube
