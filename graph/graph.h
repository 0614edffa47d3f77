// Graph: the live dependency graph of a cluster. Objects and conditions, indexed; one writer, many readers of
// snapshots.
//
// Its one relation is *goes after* (docs/concepts.md): an object goes after the conditions that are
// required of it, a condition goes after its holders. What Kubernetes itself orders is implied and costs no
// storage: a Namespace goes after everything in it, a CRD after all instances of the type it defines, and an
// owner that terminates with the finalizer foregroundDeletion after its dependents with blockOwnerDeletion
// (with kube::kAppliedObjectsFinalizer after all its dependents). graph/edges.h enumerates these edges.
//
// Threading: a Graph is single-threaded. snapshot() gives an immutable graph of the same type that shares
// with it all that has not changed since; a snapshot may be read from any thread, and costs the writer
// nothing but copies of the chunks it changes afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/condition.h"
#include "graph/tables.h"
#include "kube/object.h"

namespace lastout::graph {

// Dense ids; reused after removal, so an id is good until the next change. (kNone, of cow_vector.h, is "no
// such".)
enum class TypeId : uint32_t {};
enum class ObjectId : uint32_t {};
enum class ConditionId : uint32_t {};

// One change of one object, as a list or a watch delivers it. Borrows its metadata for the call.
struct Change {
  enum class Kind : uint8_t { Upsert, Remove };
  Kind kind = Kind::Upsert;
  TypeId type{};
  const kube::ObjectMeta* meta = nullptr;  // Remove reads the namespace and name alone
};

// What is known of one object. Borrows from the graph: good until its next change.
struct ObjectView {
  TypeId type{};
  std::string_view group;
  std::string_view resource;
  std::string_view namespaceName;  // empty: cluster-scoped
  std::string_view name;
  bool present = false;  // false: something names it, but the cluster does not have it; all below is empty
  bool terminating = false;       // it has a deletionTimestamp
  int64_t deletionTimestamp = 0;  // seconds since the epoch, when terminating
};

// One owner reference of an object. Borrows from the graph.
struct OwnerView {
  std::string_view apiVersion;
  std::string_view kind;
  std::string_view name;
  std::string uid;
  bool controller = false;
  bool blockOwnerDeletion = false;
  std::optional<ObjectId> object;  // the present object with this uid
};

// `subject` goes after `condition`, because `field` of `origin` says so. Subject and origin may be absent
// objects.
struct RequirementView {
  ObjectId subject{};
  ConditionId condition{};
  ObjectId origin{};
  std::string_view field;
};

struct Incoming;  // nodes.h

class Graph {
 public:
  Graph() = default;
  // With a random seed nobody can choose names whose hashes collide. It changes nothing else.
  explicit Graph(uint64_t hashSeed) { tables_.hashSeed ^= hashSeed; }
  // A copy is what snapshot() gives; it may be changed, too, without the original noticing.
  Graph(const Graph& other) = default;
  Graph& operator=(const Graph& other) = default;
  // A moved-from Graph may only be destroyed or assigned to.
  Graph(Graph&& other) = default;
  Graph& operator=(Graph&& other) = default;
  ~Graph() = default;

  // --- what the cluster says

  // The type's id, good until forgetType.
  TypeId internType(const kube::GroupResource& type);
  // The type's id is no longer wanted: it goes when no object and no condition is of it. For types whose CRD
  // is gone.
  void forgetType(TypeId type);
  // Changes nothing of notUnderstoodType().
  void setKnowledge(TypeId type, Knowledge knowledge);
  // Applies changes in order. Any order of objects is fine: an owner may come after its dependents, and a
  // condition may name what does not exist yet. An upsert replaces what was known of the object. O(1) each.
  void apply(std::span<const Change> changes);
  void upsert(TypeId type, const kube::ObjectMeta& meta);
  void remove(const kube::ObjectKey& key);

  // --- what orders deletions

  // The condition's id; equal conditions share one. Each call is an explicit hold, to be given back by one
  // releaseCondition. The id stays valid while a requirement or a hold uses it.
  ConditionId addCondition(const Condition& condition);
  void releaseCondition(ConditionId condition);
  // `subject` goes after `condition`: it must not be gone while the condition has holders. The subject need
  // not exist. The same requirement twice is one.
  void require(const kube::ObjectKey& subject, ConditionId condition, const Origin& origin);
  // As addCondition, require, releaseCondition.
  ConditionId require(const kube::ObjectKey& subject, const Condition& condition, const Origin& origin);
  // Takes back every requirement that came from this object.
  void withdraw(const kube::ObjectKey& originObject);

  // --- facts, in O(1), without allocation: what decide() reads

  uint32_t holders(ConditionId condition) const;  // how many objects hold it; 0 = met, if knowledge allows
  Knowledge knowledge(
      ConditionId condition) const;  // of the condition's type; NamespaceContent: always Synced
  std::optional<ObjectId> find(const kube::ObjectKey& key) const;  // present objects only
  std::optional<ObjectId> find(TypeId type, std::string_view namespaceName, std::string_view name) const;
  uint64_t revision() const { return revision_; }  // grows with every change

  // Everything as it is now, in O(size / 16 kB).
  Graph snapshot() const { return *this; }

  // --- reading types

  std::optional<TypeId> findType(const kube::GroupResource& type) const;
  kube::GroupResource type(TypeId type) const;
  Knowledge knowledge(TypeId type) const;   // of a pattern: of all that it means
  uint32_t objectCount(TypeId type) const;  // present ones
  uint32_t objectCount(TypeId type, std::string_view namespaceName) const;  // those in the namespace
  std::vector<ObjectId> objectsOf(TypeId type) const;                       // the same
  // Returns up to `limit` of the finalizers that present objects of the type have.
  std::vector<std::string_view> finalizersOf(TypeId type, size_t limit) const;
  // Returns true if an object of the type has the finalizer, or has had it since a condition names it.
  bool wasHeld(TypeId type, std::string_view finalizer) const;

  // --- reading objects

  uint32_t objectCount() const { return present_; }               // present ones
  uint32_t objectSlots() const { return tables_.nodes.slots(); }  // every ObjectId is below
  bool isLive(ObjectId object) const;                             // present, or absent and named by something
  bool isPresent(ObjectId object) const;
  // As find(), but absent objects that something names count too.
  std::optional<ObjectId> findNamed(const kube::ObjectKey& key) const;
  // The present object with this uid. Where the API server serves one object under two types: the one of the
  // smaller key.
  std::optional<ObjectId> findByUid(std::string_view uid) const;
  ObjectView object(ObjectId object) const;
  kube::ObjectKey key(ObjectId object) const;
  std::string_view name(ObjectId object) const;
  std::string_view namespaceName(ObjectId object) const;
  bool areAlike(ObjectId a, ObjectId b) const;  // of one type, in one namespace, with the same finalizers
  bool isTerminating(ObjectId object) const;
  bool hasRequirements(ObjectId object) const;  // it goes after a condition because somebody requires it
  std::string uid(ObjectId object) const;       // empty: not known
  bool hasUid(ObjectId object, std::string_view uid) const;         // as uid() == uid, without making a text
  std::string resourceVersion(ObjectId object) const;               // as the server gave it
  std::vector<std::string_view> finalizers(ObjectId object) const;  // sorted, without duplicates
  std::vector<OwnerView> owners(ObjectId object) const;             // in the order of its metadata
  // Up to `limit` present objects with an owner reference to this one.
  std::vector<ObjectId> dependents(ObjectId object, size_t limit = SIZE_MAX) const;

  // --- reading conditions and requirements

  uint32_t conditionCount() const { return tables_.conditions.live(); }
  uint32_t conditionSlots() const { return tables_.conditions.slots(); }  // every ConditionId is below
  bool isLive(ConditionId condition) const;
  std::optional<ConditionId> findCondition(const Condition& condition) const;
  Condition condition(ConditionId condition) const;
  bool isAboutSeveralTypes(ConditionId condition) const;  // its type is a pattern
  // The object that an Object condition names, present or absent; nothing for the other kinds.
  std::optional<ObjectId> target(ConditionId condition) const;
  // The Object conditions that name this object, whether or not it holds them.
  std::vector<ConditionId> conditionsOn(ObjectId object) const;
  // Fills `out` with holders, as many as fit, and says how many: O(what it fills), without allocation.
  size_t someHolders(ConditionId condition, std::span<ObjectId> out) const;
  std::vector<RequirementView> requirementsOf(ObjectId subject) const;
  std::vector<RequirementView> requirementsOn(ConditionId condition) const;
  std::vector<RequirementView> requirementsFrom(ObjectId origin) const;

  // For graph/edges.h and what enumerates without allocation.
  const Tables& tables() const { return tables_; }

 private:
  RequirementView view(uint32_t requirement) const;
  void upsert(TypeId type, const kube::ObjectMeta& meta, const Incoming& incoming);
  void removeNamed(TypeId type, std::string_view namespaceName, std::string_view name);

  Tables tables_;
  uint64_t revision_ = 0;
  uint32_t present_ = 0;
  std::vector<std::string_view> scratch_;  // upsert's, kept for its memory alone
};

// Returns how well the objects of the type are known; Unknown if the graph does not have the type.
Knowledge knowledgeOf(const Graph& graph, const kube::GroupResource& type);
// Returns true if it is known well enough that "no object of it" can be believed.
bool isBelievable(const Graph& graph, const kube::GroupResource& type);

// Returns those types that the graph has of what is meant: the type itself, or, of a pattern
// (kube/patterns.h), all that it means.
std::vector<TypeId> typesMeantBy(const Graph& graph, const kube::GroupResource& named);
// Returns the type for which `named` is known as it is: itself, or of a pattern the one that it means and
// that is known worst.
kube::GroupResource leastKnownOf(const Graph& graph, const kube::GroupResource& named);

// Returns the present objects of the type, which may be a pattern; none if the graph does not have the type.
std::vector<ObjectId> objectsOf(const Graph& graph, const kube::GroupResource& type);

// True if the graph knows that the object does not exist; false where the graph does not know.
bool isKnownToBeGone(const Graph& graph, const kube::ObjectKey& object);

// Read by every decision, and so inline.

inline uint32_t Graph::holders(ConditionId condition) const {
  const ConditionRecord& record = tables_.conditions[static_cast<uint32_t>(condition)];
  switch (record.kind) {
    case Condition::Kind::Finalizer:
      if (record.scope == kube::NamespaceScope::Kind::Within) return record.named;
      return tables_.carriers[record.subject].holders - record.named;
    case Condition::Kind::NamespaceContent:
      return tables_.namespaces[record.subject].objects;
    case Condition::Kind::Instances:
      return tables_.types[record.subject].objects;
    case Condition::Kind::Object:
      break;
  }
  return holdsObjectCondition(tables_, record) ? 1 : 0;
}

inline Knowledge Graph::knowledge(ConditionId condition) const {
  const ConditionRecord& record = tables_.conditions[static_cast<uint32_t>(condition)];
  return record.kind == Condition::Kind::NamespaceContent ? Knowledge::Synced
                                                          : tables_.types[record.type].knowledge;
}

inline std::string_view Graph::name(ObjectId object) const {
  return tables_.strings.view(tables_.nodes[static_cast<uint32_t>(object)].name);
}

inline std::string_view Graph::namespaceName(ObjectId object) const {
  const ObjectClass& objectClass = tables_.classes[tables_.nodes[static_cast<uint32_t>(object)].objectClass];
  return tables_.strings.view(tables_.namespaces[objectClass.namespaceNumber].name);
}

inline bool Graph::areAlike(ObjectId a, ObjectId b) const {
  return tables_.nodes[static_cast<uint32_t>(a)].objectClass ==
         tables_.nodes[static_cast<uint32_t>(b)].objectClass;
}

inline bool Graph::isTerminating(ObjectId object) const {
  return (tables_.nodes[static_cast<uint32_t>(object)].flags & Node::kTerminating) != 0;
}

inline bool Graph::hasRequirements(ObjectId object) const {
  const uint32_t extra = tables_.nodes[static_cast<uint32_t>(object)].extra;
  return extra != kNone && tables_.extras[extra].firstRequirement != kNone;
}

}  // namespace lastout::graph
