// Crd: what a CustomResourceDefinition says of the type that it defines. The one reader of its fields;
// whoever takes the type checks them by rules of their own (kube/resource_map.h, simulator/served_type.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource_map.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

// A column of a type's table.
struct PrinterColumn {
  std::string name;         // "Ready"
  std::string type;         // "integer", "number", "string", "boolean", "date"
  std::string format;       // mostly empty
  std::string description;  // empty: the table says where the value comes from
  int priority = 0;         // above 0: shown with -o wide alone
  std::string jsonPath;     // ".spec.size"
};

// Where /scale finds its numbers, as JSON paths. An empty selector: there is none, or, in a built-in type, it
// is .spec.selector, a label selector.
struct ScalePaths {
  std::string replicas;
  std::string statusReplicas;
  std::string selector;
};

struct CrdVersion {
  std::string name;            // "v1beta1"
  std::optional<bool> served;  // nullopt: it does not say
  bool isStored = false;
  const Value* schema = nullptr;  // openAPIV3Schema, which is part of the document; nullptr: none
  std::vector<PrinterColumn> columns;
  bool hasStatus = false;           // the subresource
  std::optional<ScalePaths> scale;  // nullopt: no such subresource
};

// Words are as they are written: empty where the document has none.
struct Crd {
  std::string name;      // metadata.name
  GroupResource type;    // spec.group and spec.names.plural
  std::string scope;     // "Namespaced", "Cluster"
  std::string kind;      // "Widget"
  std::string listKind;  // empty: "WidgetList"
  std::string singular;  // empty: "widget"
  std::vector<std::string> shortNames;
  std::vector<std::string> categories;  // "all"
  std::vector<CrdVersion> versions;     // as many as the document lists

  // Returns the type in the version that clients are to prefer of those that are served, with the names that
  // the API server takes for the empty ones. A version that does not say whether it is served is; `version`
  // is empty when none is.
  ResourceType resourceType() const;
};

// Reads a CustomResourceDefinition, its whole document. Adds to `errors` what is missing of the words that
// name the type, and what has a wrong type; both are read as absent. Of what only a server of the type needs
// (storage, schema, columns, subresources, listKind, categories) a wrong type is no error.
Crd readCrd(const Value& document, std::string_view file, Errors& errors);

}  // namespace lastout::kube
