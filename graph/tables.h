// The records a Graph is made of. Read graph/graph.h first: these are its insides.
//
// Records refer to each other by number; kNone is "no such". Lists are intrusive: the head says `first...`,
// the members say `next...`. All records are trivially copyable, so that chunks of them can be shared and
// copied.
#pragma once

#include <cstdint>

#include "graph/condition.h"
#include "graph/cow_vector.h"
#include "graph/hash.h"
#include "graph/hash_index.h"
#include "graph/string_arena.h"
#include "graph/uid.h"

namespace lastout::graph {

// An object: there are a million of them, and of all other records few. Absent ones are here for as long as
// something names them.
struct Node {
  static constexpr uint8_t kLive = 1;     // this slot is in use
  static constexpr uint8_t kPresent = 2;  // the cluster has it
  static constexpr uint8_t kTerminating = 4;

  enum class Version : uint8_t { None, Number, Text };
  static constexpr int kVersionBits = 56;  // etcd counts its writes: no cluster comes so far

  uint64_t uidHigh = 0;  // Uuid: its first half; Text: a StringId; also the link of free slots
  uint64_t uidLow = 0;   // Uuid: its second half
  uint64_t resourceVersion : kVersionBits = 0;  // Number: its value; Text: a StringId
  uint64_t flags : 3 = 0;
  UidKind uidKind : 2 = UidKind::None;
  Version versionKind : 2 = Version::None;
  StringId name = kEmptyString;
  uint32_t objectClass = kNone;
  uint32_t previous = kNone;  // in its class
  uint32_t next = kNone;
  uint32_t firstReference = kNone;  // to its owners, in the order of its metadata
  uint32_t extra = kNone;           // Extra, of the few that have one
};
static_assert(sizeof(Node) == 48);

// What only few objects have: they order something, something names them, they are being deleted, or they
// share their uid with others. Exists while a field below is set.
struct Extra {
  int64_t deletionTimestamp = 0;      // kTerminating only
  uint32_t firstRequirement = kNone;  // this object goes after their conditions
  uint32_t firstOrigin = kNone;       // requirements that came from this object
  uint32_t firstCondition = kNone;    // Object conditions on this object
  uint32_t previousOfUid = kNone;     // Node: another present object with the same uid, as the next one
  uint32_t nextOfUid = kNone;
};

// Objects that share type, namespace, finalizers and references. Counting and enumerating by class makes
// every implied edge free.
struct ObjectClass {
  static constexpr uint8_t kPresent =
      1;  // its objects are; classes of absent ones are in no list and not counted
  static constexpr uint8_t kForeground = 2;  // its objects have the finalizer foregroundDeletion
  static constexpr uint8_t kKept = 4;        // it has kube::kAppliedObjectsFinalizer

  uint32_t type = kNone;
  uint32_t namespaceNumber = kNone;
  uint32_t objects = 0;
  uint32_t firstObject = kNone;
  uint32_t firstMembership = kNone;  // by finalizer, in the order of their texts
  uint32_t previousInType = kNone;
  uint32_t nextInType = kNone;
  uint32_t previousInNamespace = kNone;
  uint32_t nextInNamespace = kNone;
  uint32_t hash = 0;
  uint8_t flags = 0;
};

// All objects of one type with one finalizer, or one reference (kube/object_references.h); or, if it is a
// pattern (kube/patterns.h), all that the type's or the finalizer's text means.
struct Carrier {
  uint32_t type = kNone;
  StringId finalizer = kEmptyString;
  uint32_t holders = 0;
  uint32_t firstMembership = kNone;  // of present classes
  uint32_t condition = kNone;        // the Finalizer condition on it of all namespaces
  uint32_t firstScoped = kNone;      // Finalizer conditions on it with a scope
  uint32_t previousInType = kNone;   // of a pattern: among all patterns, as the next one
  uint32_t nextInType = kNone;
  uint32_t uses = 0;  // by memberships and conditions
  uint32_t hash = 0;
  bool wasHeld = false;  // an object has had the finalizer since this record exists
  bool isPattern = false;
};

// One finalizer, or reference, of one class; behind these, one for each pattern that means any of them.
struct Membership {
  uint32_t objectClass = kNone;
  uint32_t carrier = kNone;
  uint32_t nextInClass = kNone;
  uint32_t previousInCarrier = kNone;
  uint32_t nextInCarrier = kNone;
};

struct Type {
  enum class Semantics : uint8_t { Other, Namespaces, Crds, NotUnderstood, Pattern };

  StringId group = kEmptyString;
  StringId resource = kEmptyString;
  uint32_t objects = 0;  // present ones
  uint32_t firstClass = kNone;
  uint32_t firstCarrier = kNone;
  uint32_t condition = kNone;  // the Instances condition on it
  uint32_t uses = 0;           // by classes, carriers and conditions
  uint32_t hash = 0;
  // Patterns only: the type that decides `knowledge`, because it is the least known of those that the pattern
  // matches; kNone: ownKnowledge decides.
  uint32_t leastKnown = kNone;
  uint32_t previousPattern = kNone;
  uint32_t nextPattern = kNone;
  Knowledge knowledge = Knowledge::Unknown;     // patterns: of the objects of all types that match
  Knowledge ownKnowledge = Knowledge::Unknown;  // patterns: of which types match
  Semantics semantics = Semantics::Other;
  bool pinned = false;  // interned by the caller, who may keep the number
};

// A namespace by its name, whether or not its Namespace object is here. Cluster-scoped objects are in the one
// named "".
struct NamespaceEntry {
  StringId name = kEmptyString;
  uint32_t objects = 0;  // present ones in it
  uint32_t firstClass = kNone;
  uint32_t condition = kNone;      // the NamespaceContent condition on it
  StringId labels = kEmptyString;  // of its Namespace (graph/selections.h)
  uint32_t uses = 0;               // by classes, the condition, NamedNamespaces, and its Namespace
  uint32_t hash = 0;
  bool isThere = false;  // its Namespace is
};

// An owner as owner references know it: by its uid. Resolved through the index of uids when read, so owners
// may arrive after their dependents, leave and come back.
struct Owner {
  uint64_t uidHigh = 0;  // as Node's; all references without a uid share one owner, which resolves to nothing
  uint64_t uidLow = 0;
  StringId name = kEmptyString;     // what the first reference called it
  uint32_t kind = kNone;            // OwnerKind, as the first reference said
  uint32_t firstDependent = kNone;  // Reference
  uint32_t hash = 0;
  UidKind uidKind = UidKind::None;
};

// What a reference calls its owner when that is not what the owner's first reference called it.
struct OtherName {
  StringId name = kEmptyString;
  uint32_t kind = kNone;
};

struct OwnerKind {
  StringId apiVersion = kEmptyString;
  StringId kind = kEmptyString;
  uint32_t uses = 0;
  uint32_t hash = 0;
};

// One owner reference.
struct Reference {
  static constexpr uint32_t kController = 1u << 31;
  static constexpr uint32_t kBlockOwnerDeletion = 1u << 30;
  static constexpr uint32_t kOwnerMask = kBlockOwnerDeletion - 1;

  uint32_t dependent = kNone;  // Node
  uint32_t ownerAndFlags = 0;  // Owner, below the two flags
  uint32_t otherName = kNone;  // OtherName, of the few that have one
  uint32_t nextOfDependent = kNone;
  uint32_t previousOfOwner = kNone;
  uint32_t nextOfOwner = kNone;

  uint32_t owner() const { return ownerAndFlags & kOwnerMask; }
};

struct ConditionRecord {
  uint64_t uidHigh = 0;  // Object only, as Node's
  uint64_t uidLow = 0;
  uint32_t type = kNone;  // not for NamespaceContent
  uint32_t subject =
      kNone;  // Finalizer: Carrier; Object: Node; NamespaceContent: NamespaceEntry; Instances: Type
  uint32_t firstRequirement = kNone;
  // Object: the next condition on the same object; Finalizer with a scope: the next of these on the same
  // carrier.
  uint32_t nextOfTarget = kNone;
  uint32_t firstNamed = kNone;       // Finalizer only: NamedNamespaces
  uint32_t named = 0;                // Finalizer only: how many of the carrier's holders are in these
  StringId selector = kEmptyString;  // Finalizer only: of its scope, which then names those that do not match
  uint32_t nextSelecting = kNone;    // the next condition with a selector
  uint32_t holds = 0;                // explicit ones
  Condition::Kind kind = Condition::Kind::Object;
  kube::NamespaceScope::Kind scope = kube::NamespaceScope::Kind::All;
  UidKind uidKind = UidKind::None;
  bool live = false;
};

// A namespace that a Finalizer condition is about, or leaves out. Where it is about some, it names the one of
// cluster-scoped objects, too, unless these are Namespaces: each is in the one of its own name.
struct NamedNamespace {
  uint32_t condition = kNone;
  uint32_t namespaceNumber = kNone;
  uint32_t nextOfCondition = kNone;
};

// `subject` goes after `condition`, because `origin` says so.
struct Requirement {
  uint32_t subject = kNone;  // Node, as is origin
  uint32_t condition = kNone;
  uint32_t origin = kNone;
  StringId field = kEmptyString;
  uint32_t hash = 0;
  uint32_t previousOfSubject = kNone;
  uint32_t nextOfSubject = kNone;
  uint32_t previousOfCondition = kNone;
  uint32_t nextOfCondition = kNone;
  uint32_t nextOfOrigin = kNone;
};

struct Tables {
  uint64_t hashSeed = kHashOdd;  // what all hashes of names begin with
  uint32_t firstPatternType = kNone;
  uint32_t firstPatternCarrier = kNone;  // but for wanted references
  uint32_t firstSelecting = kNone;       // ConditionRecord: of those with a selector
  StringArena strings;
  Pool<Node> nodes;
  Pool<Extra> extras;
  Pool<ObjectClass> classes;
  Pool<Carrier> carriers;
  Pool<Membership> memberships;
  Pool<Type> types;
  Pool<NamespaceEntry> namespaces;
  Pool<Owner> owners;
  Pool<OwnerKind> ownerKinds;
  Pool<OtherName> otherNames;
  Pool<Reference> references;
  Pool<ConditionRecord> conditions;
  Pool<NamedNamespace> namedNamespaces;
  Pool<Requirement> requirements;

  HashIndex nodesByKey;
  HashIndex nodesByUid;  // present ones with a uid; of those that share one, the first
  HashIndex classIndex;
  HashIndex carrierIndex;
  HashIndex wantedIndex;  // carriers of wanted references, by type and name (kube/object_references.h)
  HashIndex typeIndex;
  HashIndex namespaceIndex;
  HashIndex ownersByUid;
  HashIndex ownerKindIndex;
  HashIndex requirementIndex;
  HashIndex namedIndex;  // NamedNamespaces, by the carriers of their conditions and the namespaces
};

// Whether an Object condition's object is present, under the uid that it names if it names one.
bool holdsObjectCondition(const Tables& tables, const ConditionRecord& condition);

// Whether a Finalizer condition leaves out this node of its type, as leavesOut() of graph/condition.h says.
bool leavesOut(const Tables& tables, const ConditionRecord& condition, uint32_t node);
// The scope of a Finalizer condition.
kube::NamespaceScope scopeOf(const Tables& tables, const ConditionRecord& condition);

}  // namespace lastout::graph
