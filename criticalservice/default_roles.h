// The ClusterRoles that Kubernetes itself makes in every cluster, and that manifests bind without having
// them.
#pragma once

#include <map>

#include "criticalservice/role_rules.h"
#include "kube/object_key.h"

namespace lastout::criticalservice {

// cluster-admin, admin, edit and view, with the parts of these that Kubernetes brings: of their rules those
// that allow to write. As in Kubernetes admin collects what edit has, and edit what view has.
const std::map<kube::ObjectKey, RoleContent>& defaultRoles();

// True also of the others, whose names begin with "system:".
bool isDefaultRole(const kube::ObjectKey& role);

}  // namespace lastout::criticalservice
