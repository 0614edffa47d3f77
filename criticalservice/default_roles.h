// The ClusterRoles that Kubernetes itself makes in every cluster, and that manifests bind without having
// them.
#pragma once

#include <map>

#include "criticalservice/role_rules.h"
#include "kube/object_key.h"

namespace lastout::criticalservice {

// cluster-admin, admin, edit and view, with the ClusterRoles that Kubernetes aggregates into them. Each has
// only its rules that allow to write. As in Kubernetes, admin aggregates edit, and edit aggregates view.
const std::map<kube::ObjectKey, RoleContent>& defaultRoles();

// Returns true if Kubernetes creates that role: one of defaultRoles(), or one whose name begins with
// "system:".
bool isDefaultRole(const kube::ObjectKey& role);

}  // namespace lastout::criticalservice
