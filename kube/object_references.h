// References: which objects an object names in its fields, as short texts that can be stored and counted like
// finalizers.
//
// A reference is made of what one object says. A wanted reference is what somebody waits for: it means all
// references by the same fields to one object.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/field_path.h"
#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::kube {

// The fields by which objects of a type name others.
struct ReferenceFields {
  FieldPath name;
  std::optional<FieldPath> namespaceName;  // absent, or empty in the object: its own namespace
  std::optional<FieldPath> kind;           // absent, or empty in the object: any kind
  auto operator<=>(const ReferenceFields&) const = default;  // NOLINT(modernize-use-nullptr)
};

// "spec.vpcRef.name", "spec.ref.name (with spec.ref.namespace and spec.ref.kind)"
std::string toString(const ReferenceFields& fields);

// The object that is named.
struct WantedReference {
  ReferenceFields fields;
  ObjectKey target;
  std::string kind;  // of the target; empty: any whose regular plural is the target's resource
  auto operator<=>(const WantedReference&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Returns the references in an object with this content and namespace, sorted, each once. Of fields that lead
// through the same list, those of each item belong together. An object that names more than 1,000 others by
// the same fields names all.
std::vector<std::string> referencesIn(const Value& content, std::string_view namespaceName,
                                      const std::set<ReferenceFields>& fields);

// Returns true if the text is a reference. No finalizer's name is one.
bool isReference(std::string_view text);
// Returns true if the text has no control characters, so that references to an object of that name are found.
bool isPlainName(std::string_view text);

// Returns the wanted reference as a text, and such a text as what it was made of.
std::string toText(const WantedReference& wanted);
bool isWantedReference(std::string_view text);
WantedReference wantedReferenceOf(std::string_view text);

// Returns the name of the object that a reference, or a wanted one, names.
std::string_view nameIn(std::string_view text);
// Returns true if a reference names all objects, because there are too many.
bool namesAll(std::string_view reference);

// Returns true if the reference names what is wanted. A reference without a namespace, in an object without
// one, names an object of that name in any namespace; one with a namespace names no cluster-scoped object.
bool meansReference(std::string_view wanted, std::string_view reference);

// Returns true if one of the references names what is wanted.
bool namesAny(const std::vector<std::string>& references, const WantedReference& wanted);

// Returns true if `resource` is a regular plural of the kind: "vpcs" of "Vpc", "policies" of "Policy".
bool isRegularPlural(std::string_view resource, std::string_view kind);

}  // namespace lastout::kube
