// Types that these tests speak of.
#pragma once

#include "kube/object_key.h"

namespace lastout::admission {

inline const kube::GroupResource kDeployments{"apps", "deployments"};
inline const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};
inline const kube::GroupResource kNamespaces{"", "namespaces"};

}  // namespace lastout::admission
