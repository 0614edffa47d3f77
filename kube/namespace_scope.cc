#include "kube/namespace_scope.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/messages.h"
#include "kube/selector.h"
#include "kube/well_known.h"

namespace lastout::kube {

bool NamespaceScope::includes(const GroupResource& type, std::string_view namespaceName,
                              std::string_view name) const {
  if (kind == Kind::All || (namespaceName.empty() && type != kNamespaces)) return true;
  const std::string_view space = namespaceName.empty() ? name : namespaceName;
  const bool isNamed = std::ranges::find(names, space) != names.end();
  return isNamed == (kind == Kind::Within);
}

bool isSelected(std::string_view selector, std::string_view namespaceName, const Labels& labels) {
  Labels all = labels;
  all.insert_or_assign(kNamespaceNameLabel, std::string(namespaceName));
  const auto parsed = parseSelector(selector);
  return !parsed || parsed->matches(all);
}

NamespaceScope minus(const NamespaceScope& scope, const NamespaceScope& other) {
  using Kind = NamespaceScope::Kind;
  const bool isCovered = scope.selector == other.selector || other.kind == Kind::All;
  if (!scope.selector.empty() || !other.selector.empty())
    return isCovered ? NamespaceScope::within({}) : scope;
  const bool isOfFew = scope.kind == Kind::Within;
  const bool isOtherOfFew = other.kind == Kind::Within;
  NamespaceScope left{isOtherOfFew && !isOfFew ? Kind::Outside : Kind::Within, {}};
  if (isOfFew) {
    std::ranges::copy_if(scope.names, std::inserter(left.names, left.names.end()),
                         [&](const std::string& name) { return other.names.contains(name) != isOtherOfFew; });
  } else if (isOtherOfFew) {
    std::ranges::set_union(scope.names, other.names, std::inserter(left.names, left.names.end()));
  } else {
    std::ranges::set_difference(other.names, scope.names, std::inserter(left.names, left.names.end()));
  }
  return left;
}

bool covers(const NamespaceScope& wide, const NamespaceScope& narrow) {
  return minus(narrow, wide) == NamespaceScope::within({});
}

std::string inWords(const NamespaceScope& scope, size_t most) {
  if (scope.kind == NamespaceScope::Kind::All) return {};
  if (!scope.selector.empty()) return " in namespaces with " + scope.selector;
  return std::string(scope.kind == NamespaceScope::Kind::Within ? " in " : " outside ") +
         (scope.names.size() == 1 ? "namespace " : "namespaces ") +
         listed({scope.names.begin(), scope.names.end()}, most);
}

}  // namespace lastout::kube
