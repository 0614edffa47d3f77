// Condition: a statement about objects that an ordering waits for. The graph's second kind of vertex.
//
// A condition is *met* when no object holds it. The graph knows nothing of CriticalServices or policies: it
// stores conditions, counts their holders, and remembers for people where each one came from.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/namespace_scope.h"
#include "kube/object_key.h"

namespace lastout::graph {

// How much is known about the objects of one type (docs/verdicts.md, "The table").
enum class Knowledge : uint8_t {
  Unknown,    // never listed: "no holders" must not be believed
  Synced,     // listed, and the watch is within its allowed age
  Stale,      // listed once, but the watch has been broken for longer than allowed
  Absent,     // the type is not there: its CRD is gone and discovery says so; no holders, believed
  Forbidden,  // RBAC keeps us from reading it
  Unserved,   // it should be there (its CRD or APIService is, or was), but the API server does not serve it
  NotUnderstood,  // nobody can say which objects are meant; of notUnderstoodType() alone
};

// True when "no holder" can be believed of a type that is known so well.
constexpr bool believable(Knowledge knowledge) {
  return knowledge == Knowledge::Synced || knowledge == Knowledge::Absent;
}

// Stands for whatever somebody asks for in words that mean nothing: no object is of this type, and a graph
// never knows it. An Object condition of it has as its name what was asked for.
kube::GroupResource notUnderstoodType();

struct Condition {
  enum class Kind : uint8_t {
    // Every object of `type` that carries `finalizer` is a holder; either may be a pattern (kube/patterns.h),
    // and the finalizer a wanted reference: then those objects are holders that name its target.
    Finalizer,
    Object,            // the one object `type`/`namespaceName`/`name` is the holder while it exists
    NamespaceContent,  // everything in the namespace `name` is a holder
    Instances,         // every object of `type` is a holder
  };
  Kind kind = Kind::Object;
  kube::GroupResource type;         // not for NamespaceContent
  std::string finalizer;            // Finalizer only
  std::string namespaceName;        // Object only
  std::string name;                 // Object and NamespaceContent
  std::string uid;                  // Object only; when set, only the object with this uid is a holder
  kube::NamespaceScope scope = {};  // Finalizer only: objects outside of it are no holders
  auto operator<=>(const Condition&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
};

// Returns true if whatever holds `narrow` holds `wide`.
bool covers(const Condition& wide, const Condition& narrow);
// Returns true if a Finalizer condition is about the object, by its type and its scope; what that carries
// aside.
bool isAbout(const Condition& condition, const kube::ObjectKey& object);

// The condition's subject in words: "finalizer my.crd.group/super-important on coolresources.my.crd.group"
// (and " in namespace a" or " outside namespace a"), "spec.vpcRef.name of subnets.x naming vpcs.x/a",
// "existence of customresourcedefinitions.apiextensions.k8s.io/x", "content of namespace a", "instances of
// pods", "what is meant by x".
std::string toString(const Condition& condition);
std::string_view toString(Knowledge knowledge);  // "Synced"

// Where an edge came from, so that people see why it is there; also the handle to take it back.
struct Origin {
  kube::ObjectKey object;  // the object that asked for it: a CriticalService, an AppliedManifestWork, ...
  std::string field;       // "spec.criteria[1]"
  auto operator<=>(const Origin&) const = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace lastout::graph
