// Objects that each profile protects, one or more for each; and CRDs of the profiles' own kinds, as small as
// these need them.
#pragma once

#include <array>
#include <string>

namespace lastout::clients {

inline constexpr std::array kProfiles{"karmada", "karmada-objects", "orkestra", "appcat",
                                      "dbops",   "kruise",          "usage"};

inline std::string smallCrd(const std::string& group, const std::string& version, const std::string& plural,
                            const std::string& kind, const std::string& scope) {
  return "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " +
         plural + "." + group + "}\nspec:\n  group: " + group + "\n  scope: " + scope +
         "\n  names: {plural: " + plural + ", kind: " + kind + "}\n  versions:\n  - {name: " + version +
         ", served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
         "x-kubernetes-preserve-unknown-fields: true}}}\n";
}

inline std::string profileCrds() {
  return smallCrd("policy.karmada.io", "v1alpha1", "resourcedeletionprotections",
                  "ResourceDeletionProtection", "Cluster") +
         smallCrd("vshn.appcat.vshn.io", "v1", "xvshnpostgresqls", "XVSHNPostgreSQL", "Cluster") +
         smallCrd("protection.crossplane.io", "v1beta1", "usages", "Usage", "Namespaced") +
         smallCrd("protection.crossplane.io", "v1beta1", "clusterusages", "ClusterUsage", "Cluster") +
         smallCrd("example.com", "v1", "widgets", "Widget", "Namespaced");
}

inline constexpr const char* kEverythingProtected = R"(
apiVersion: v1
kind: Namespace
metadata: {name: always, labels: {resourcetemplate.karmada.io/deletion-protected: Always}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: always, labels: {resourcetemplate.karmada.io/deletion-protected: Always}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ResourceDeletionProtection
metadata: {name: sample}
spec:
  protectedResources:
  - {resourceSelector: [{apiVersion: v1, kind: Secret, namespace: default}], resourceNames: [listed]}
---
apiVersion: v1
kind: Secret
metadata: {name: listed, namespace: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: gateway, namespace: default, labels: {orkestra.io/deletion-protection: "true"}}
---
apiVersion: vshn.appcat.vshn.io/v1
kind: XVSHNPostgreSQL
metadata: {name: pg}
spec: {parameters: {backup: {deletionProtection: true}}}
---
apiVersion: v1
kind: Namespace
metadata:
  name: instance
  labels:
    appcat.vshn.io/ownercomposite: pg
    appcat.vshn.io/ownerkind: XVSHNPostgreSQL
    appcat.vshn.io/ownergroup: vshn.appcat.vshn.io
    appcat.vshn.io/ownerapiversion: v1
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: instance}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {policy.kruise.io/delete-protection: Cascading}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default, labels: {policy.kruise.io/delete-protection: Always}}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: busy, labels: {policy.kruise.io/delete-protection: Cascading}}
---
apiVersion: v1
kind: Pod
metadata: {name: worker, namespace: busy}
spec: {containers: [{name: worker, image: "example.com/worker:1"}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: {name: in-use, namespace: default}
spec: {of: {apiVersion: v1, kind: ConfigMap, resourceRef: {name: used}}, reason: others need it}
---
apiVersion: protection.crossplane.io/v1beta1
kind: ClusterUsage
metadata: {name: in-use}
spec: {of: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, resourceRef: {name: used}}, reason: others need it}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: used, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: used}
rules: []
)";

// Their DELETE is denied while their profile is in force. What holds others comes after these.
inline constexpr std::array kDeniedObjects{
    "configmap/settings -n always",      "namespace/always",          "secret/listed -n default",
    "serviceaccount/gateway -n default", "pvc/data -n instance",      "namespace/instance",
    "deployment/web -n default",         "service/web -n default",    "namespace/busy",
    "crd/widgets.example.com",           "configmap/used -n default", "clusterrole/used",
};

inline constexpr const char* kHeldDatabases = R"(
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseInstance
metadata: {name: primary, namespace: default}
spec: {engine: postgres}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: app, namespace: default}
spec: {instanceRef: {name: primary}, name: app, deletionProtection: true}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseRole
metadata: {name: readers, namespace: default, annotations: {dbops.dbprovision.io/deletion-protection: "true"}}
spec: {roleName: readers}
)";

// Their DELETE is accepted, and they stay.
inline constexpr std::array kHeldObjects{
    "databaseinstance/primary -n default",
    "database/app -n default",
    "databaserole/readers -n default",
};

}  // namespace lastout::clients
