// NamespaceScope: which objects of a type something is about, by the namespaces that they are in.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "kube/object.h"
#include "kube/object_key.h"

namespace lastout::kube {

struct NamespaceScope {
  enum class Kind : uint8_t { All, Within, Outside };
  Kind kind = Kind::All;
  std::set<std::string> names;  // of the namespaces; none for All
  // Outside only. A label selector, written as for kubectl -l: the scope is about the namespaces that it
  // matches, and `names` lists those that are known not to match. Empty: labels do not count.
  std::string selector = {};
  auto operator<=>(const NamespaceScope&) const =
      default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs

  static NamespaceScope within(std::set<std::string> names) { return {Kind::Within, std::move(names)}; }
  static NamespaceScope outside(std::string name) { return {Kind::Outside, {std::move(name)}}; }
  static NamespaceScope selectedBy(std::string selector) { return {Kind::Outside, {}, std::move(selector)}; }

  // Returns true if it is about that object. A Namespace is in the namespace of its name; any other object
  // without a namespace is in none, and always meant: what turns out to be cluster-scoped is not passed over.
  bool includes(const GroupResource& type, std::string_view namespaceName, std::string_view name) const;
};

// Returns true if the selector of a scope matches a Namespace of this name. Its label with its name counts
// whether or not it is among these.
bool isSelected(std::string_view selector, std::string_view namespaceName, const Labels& labels);
// Returns the part of `scope` that is not in `other`; if there is none, the scope is Within and has no names.
// A selector may match anything: of a scope with one, and of one from which it is taken, all or nothing is
// left.
NamespaceScope minus(const NamespaceScope& scope, const NamespaceScope& other);
// Returns true if `wide` is about all that `narrow` is about.
bool covers(const NamespaceScope& wide, const NamespaceScope& narrow);

inline constexpr size_t kMostNamedNamespaces = 3;  // in a sentence

// Returns what may stand behind the name of a type: "", " in namespace a", " in namespaces a, b and 2 more",
// " outside namespace a", " in namespaces with tenant in (a)"; at most `most` names.
std::string inWords(const NamespaceScope& scope, size_t most);

}  // namespace lastout::kube
