// MatchResources: which requests a webhook, an admission policy or its binding concerns
// (admissionregistration.k8s.io/v1), and whether a request is one of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/fields.h"
#include "kube/object.h"
#include "kube/object_key.h"
#include "kube/selector.h"

namespace lastout::kube {

struct RuleWithOperations {
  std::vector<std::string> operations;
  std::vector<std::string> groups;
  std::vector<std::string> versions;
  std::vector<std::string> resources;  // "pods", "pods/*", "*/status", "*", "*/*"
  std::string scope = "*";             // "Cluster", "Namespaced"
  // `resourceNames`, which only policies have; empty: any name. A request without a name (deletecollection)
  // matches none of them.
  std::vector<std::string> names;
  friend bool operator==(const RuleWithOperations&, const RuleWithOperations&) = default;
};

struct MatchResources {
  std::vector<RuleWithOperations> rules;
  std::vector<RuleWithOperations> excluded;  // of policies
  LabelSelector namespaceSelector;
  LabelSelector objectSelector;
  friend bool operator==(const MatchResources&, const MatchResources&) = default;
};

// The attributes of a request that rules match. Borrows its strings.
struct AdmissionAttributes {
  std::string_view operation;  // "CREATE", "UPDATE", "DELETE"
  const GroupResource& type;
  std::string_view version;        // empty: any, as matchPolicy Equivalent takes it
  std::string_view subresource;    // "status"; empty: the object itself
  std::string_view namespaceName;  // empty: cluster-scoped
  std::string_view name;
};

// Reads the lists of a rule, without `resourceNames`, and its scope. Errors of the Fields: values of a wrong
// type, which are read as absent.
RuleWithOperations readRule(Fields& fields);

// Returns whether one of the rules (where there are any) and none of the excluded ones match.
bool matchesRules(const MatchResources& resources, const AdmissionAttributes& request);

// Returns whether the namespaceSelector matches. `labels`: of the namespace that the object lies in, or a
// Namespace's own. What lies in no namespace and is none always matches.
bool matchesNamespace(const MatchResources& resources, const AdmissionAttributes& request,
                      const Labels& labels);

}  // namespace lastout::kube
