// Patterns: a text that stands for several finalizers, or for the types of one or several API groups.
#pragma once

#include <string>
#include <string_view>

#include "kube/object_key.h"

namespace lastout::kube {

// A finalizer's name, or all that begin as a text that ends in `*`: "example.com/clean-*". A wanted reference
// (kube/object_references.h) is a pattern, too: of references, which are carried as finalizers are.
bool isFinalizerPattern(std::string_view text);
// Returns true if `pattern` is a pattern that finalizers of one domain may match: "example.com/*", not "*".
bool isValidFinalizerPattern(std::string_view pattern);
// Returns true if `named`, a name or a pattern, means the finalizer.
bool meansFinalizer(std::string_view named, std::string_view finalizer);
// Returns true if `wide` means all that `narrow` means, each a name or a pattern.
bool coversFinalizers(std::string_view wide, std::string_view narrow);

// A type, or all types of a group: `*` for the resource. The group may be all below a domain:
// "*.example.com".
inline bool isTypePattern(const GroupResource& type) { return type.resource == "*"; }
bool isGroupPattern(std::string_view group);
// Returns true if `named`, a group or a pattern, means the group.
bool meansGroup(std::string_view named, std::string_view group);
// Returns true if the group and resource `named`, a type or a pattern, mean the type.
bool meansType(std::string_view namedGroup, std::string_view namedResource, std::string_view group,
               std::string_view resource);
bool meansType(const GroupResource& named, const GroupResource& type);
// Returns true if `wide` means all types that `narrow` means, each a type or a pattern.
bool coversTypes(const GroupResource& wide, const GroupResource& narrow);

}  // namespace lastout::kube
