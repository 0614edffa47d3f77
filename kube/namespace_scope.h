// NamespaceScope: which objects of a type something is about, by the namespaces that they are in.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "kube/object_key.h"

namespace lastout::kube {

struct NamespaceScope {
  enum class Kind : uint8_t { All, Within, Outside };
  Kind kind = Kind::All;
  std::set<std::string> names;  // of the namespaces; none for All
  auto operator<=>(const NamespaceScope&) const =
      default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs

  static NamespaceScope within(std::set<std::string> names) { return {Kind::Within, std::move(names)}; }
  static NamespaceScope outside(std::string name) { return {Kind::Outside, {std::move(name)}}; }

  // Returns true if it is about that object. A Namespace is in the namespace of its name; any other object
  // without a namespace is in none, and always meant: what turns out to be cluster-scoped is not passed over.
  bool includes(const GroupResource& type, std::string_view namespaceName, std::string_view name) const;
};

// Returns the part of `scope` that is not in `other`; if there is none, the scope is Within and has no names.
NamespaceScope minus(const NamespaceScope& scope, const NamespaceScope& other);
// Returns true if `wide` is about all that `narrow` is about.
bool covers(const NamespaceScope& wide, const NamespaceScope& narrow);

inline constexpr size_t kMostNamedNamespaces = 3;  // in a sentence

// Returns what may stand behind the name of a type: "", " in namespace a", " in namespaces a, b and 2 more",
// " outside namespace a"; at most `most` names.
std::string inWords(const NamespaceScope& scope, size_t most);

}  // namespace lastout::kube
