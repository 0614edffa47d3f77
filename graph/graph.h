// Graph: the live dependency graph of a cluster. Objects and conditions, indexed; one writer, many readers of snapshots.
//
// Threading: a Graph is single-threaded. snapshot() gives an immutable graph of the same type that shares with it all
// that has not changed since; a snapshot may be read from any thread, and costs the writer nothing but copies of the
// chunks it changes afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/condition.h"
#include "kube/object.h"

namespace lastout::graph {

// Dense ids; reused after removal. kNone is "no such".
enum class TypeId : uint32_t {};
enum class ObjectId : uint32_t {};
enum class ConditionId : uint32_t {};
inline constexpr uint32_t kNone = ~uint32_t{0};

// One change of one object, as a list or a watch delivers it. Borrows its metadata for the call.
struct Change {
  enum class Kind : uint8_t { Upsert, Remove };
  Kind kind = Kind::Upsert;
  TypeId type{};
  const kube::ObjectMeta* meta = nullptr;  // Remove reads the namespace and name alone
};

class Graph {
 public:
  // --- what the cluster says -------------------------------------------------------------------------------------
  TypeId internType(const kube::GroupResource& type);
  void setKnowledge(TypeId type, Knowledge knowledge);
  // Applies changes in order. Any order of objects is fine: an owner may come after its dependents, and a condition
  // may name what does not exist yet. An upsert replaces what was known of the object. O(1) each.
  void apply(std::span<const Change> changes);
  void upsert(TypeId type, const kube::ObjectMeta& meta);
  void remove(const kube::ObjectKey& key);

  // --- what orders deletions -------------------------------------------------------------------------------------
  // The condition's id; equal conditions share one. Stays valid while a requirement or an explicit hold uses it.
  ConditionId addCondition(const Condition& condition);
  void releaseCondition(ConditionId condition);
  // `subject` goes after `condition`: it must not be gone while the condition has holders. The subject need not exist.
  void require(const kube::ObjectKey& subject, ConditionId condition, const Origin& origin);
  // Takes back every requirement that came from this object.
  void withdraw(const kube::ObjectKey& originObject);

  // --- facts, in O(1), without allocation: what decide() reads ---------------------------------------------------
  uint32_t holders(ConditionId condition) const;    // how many objects hold it; 0 = met, if knowledge allows
  Knowledge knowledge(ConditionId condition) const; // of the condition's type; NamespaceContent: always Synced
  std::optional<ObjectId> find(const kube::ObjectKey& key) const;  // present objects only
  uint64_t revision() const;                        // grows with every change

  Graph snapshot() const;
};

}  // namespace lastout::graph
