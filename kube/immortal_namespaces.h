// Namespaces that an API server does not delete: it answers their DELETE with 403, whoever asks (the
// admission plugin NamespaceLifecycle). kube-node-lease is none of them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "kube/object_key.h"
#include "kube/well_known.h"

namespace lastout::kube {

inline constexpr std::array<std::string_view, 3> kImmortalNamespaces = {"default", "kube-public",
                                                                        "kube-system"};

inline bool isImmortal(const ObjectKey& key) {
  return key.type == kNamespaces &&
         std::ranges::find(kImmortalNamespaces, key.name) != kImmortalNamespaces.end();
}

}  // namespace lastout::kube
