// keeperName(): how a denial names an object that another one waits for.
#pragma once

#include <string>
#include <string_view>

#include "kube/object_key.h"
#include "kube/well_known.h"

namespace lastout::protection {

// Returns "DatabaseGrant/reader", or "DatabaseGrant/blog/reader" if the keeper is neither in the namespace of
// `kept` nor in the Namespace that `kept` is. An empty namespace means that the keeper is cluster-scoped.
inline std::string keeperName(std::string_view kind, std::string_view namespaceName, std::string_view name,
                              const kube::ObjectKey& kept) {
  const std::string& home = kept.type == kube::kNamespaces ? kept.name : kept.namespaceName;
  std::string text(kind);
  if (!namespaceName.empty() && namespaceName != home) text.append("/").append(namespaceName);
  return text.append("/").append(name);
}

}  // namespace lastout::protection
