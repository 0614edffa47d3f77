// DeletionPolicy: which objects must not be deleted, when, and what lifts that. One language for every system
// that protects objects (docs/protection.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "kube/field_path.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/selector.h"

namespace lastout::protection {

inline constexpr std::string_view kPolicyKind = "DeletionPolicy";
kube::GroupResource deletionPolicyType();            // deletionpolicies.lastout.dev
const kube::ResourceType& deletionPolicyResource();  // the same, as it is served

// The keys from the top of an object. In a policy no key contains a dot.
using kube::FieldPath;

// A type, or several: each part may be "*".
struct ResourcePattern {
  std::string group;
  std::string resource;

  bool matches(const kube::GroupResource& type) const;
  friend bool operator==(const ResourcePattern&, const ResourcePattern&) = default;
};

// Some objects: of any of the types, and all else that is given.
struct Selection {
  std::vector<ResourcePattern> resources;  // at least one
  std::vector<std::string> namespaces;     // empty: all, and cluster-scoped objects
  std::vector<std::string> names;          // empty: all
  kube::LabelSelector labels;              // by default all

  bool matches(const kube::ObjectKey& object, const kube::Labels& objectLabels) const;
  friend bool operator==(const Selection&, const Selection&) = default;
};

// A label or an annotation with one of these values.
struct KeyTest {
  enum class MetadataField : uint8_t { Label, Annotation };
  MetadataField place = MetadataField::Label;
  std::string key;
  std::vector<std::string> values;  // empty: any value

  // Returns the value of the key; nullptr: the object does not have the key.
  const std::string* valueIn(const kube::ObjectMeta& meta) const;
  bool holds(const kube::ObjectMeta& meta) const;
  friend bool operator==(const KeyTest&, const KeyTest&) = default;
};
std::string nameOf(const KeyTest& test);    // "label a/b"
std::string toString(const KeyTest& test);  // "label a/b", "annotation a/b: true"

// A field of an object that says whether something is protected.
struct FieldTest {
  using Wanted = std::variant<bool, int64_t, std::string>;
  FieldPath path;
  Wanted equals = true;
  bool whenAbsent = false;  // what a missing field says

  bool holds(const kube::Value& object) const;
  friend bool operator==(const FieldTest&, const FieldTest&) = default;
};
std::string toString(const FieldTest& test);  // "spec.deletionProtection: true"

// An object that is named by labels on the object itself or, where it has none of them, on its namespace. It
// protects while it is there and not terminating, and its field says so. An object with some of the labels,
// but not all, or an empty one, is protected: nobody can say by whom it is owned.
struct AncestorTest {
  std::string groupLabel;
  std::string versionLabel;
  std::string kindLabel;
  std::string nameLabel;
  bool orOfNamespace = true;  // labels of the namespace count for objects without any
  std::string cluster;        // on which the ancestor is; empty: on that of the object
  FieldTest field;
  friend bool operator==(const AncestorTest&, const AncestorTest&) = default;
};

// Objects of a type that refer to the object: by a field that holds its name, by a label with its name as
// value, or by an owner reference with its uid. Terminating ones count. To a cluster-scoped object refer
// those in any namespace that name none.
struct ChildrenTest {
  enum class By : uint8_t { Field, Label, OwnerReference };
  kube::GroupResource type;
  By by = By::OwnerReference;
  FieldPath name;                          // By::Field
  std::optional<FieldPath> namespaceName;  // By::Field; absent or empty there: the child's own namespace
  std::string label;                       // By::Label; the object is in the child's namespace
  friend bool operator==(const ChildrenTest&, const ChildrenTest&) = default;
};

// What is still at work below an object.
enum class Activity : uint8_t {
  Pods,         // of a namespace: Pods that have neither succeeded, failed nor been deleted
  BoundClaims,  // of a namespace: PersistentVolumeClaims that are bound and not being deleted
  Instances,    // of a CustomResourceDefinition: objects that are not being deleted
  Replicas,     // spec.replicas of the object is above 0 (absent counts as 1)
};

// Holds when all that is given holds.
struct Case {
  std::optional<KeyTest> key;
  std::optional<FieldTest> field;
  std::optional<AncestorTest> ancestor;
  std::vector<ChildrenTest> children;  // any of them has a child
  std::optional<Activity> activity;

  // True if the request alone tells whether it holds; false: other objects have to be known.
  bool isLocal() const;
  friend bool operator==(const Case&, const Case&) = default;
};
std::string onCluster(const std::string& cluster);  // " on cluster a"; empty: nothing
std::string toString(const Case& one);              // "label a/b: Always, and active Pods"

// A piece of a sentence about an object: text as it stands, or the text of a field.
struct FieldPiece {
  std::string text;
  std::optional<FieldPath> field;  // instead of `text`
  friend bool operator==(const FieldPiece&, const FieldPiece&) = default;
};
using FieldSentence = std::vector<FieldPiece>;

// The namespaces in which an object that lists others protects.
enum class ListedIn : uint8_t {
  AnyNamespace,    // those that its selectors name; where they name none, any, and cluster-scoped objects
  OwnUnlessNamed,  // those that its selectors name, or its own; a cluster-scoped one as AnyNamespace
  OwnNamespace,    // its own; a cluster-scoped one as AnyNamespace
};

// Objects of a type that each list what they protect: `entries` are found in each, or it is one itself.
struct ListedBy {
  kube::GroupResource type;
  FieldPath entries;     // a list, or one map; no keys: the object itself
  FieldPath selectors;   // in an entry: a list, or one map; no keys: the entry itself
  FieldPath apiVersion;  // in a selector, as all but `because` and `replay`
  FieldPath kind;
  std::optional<FieldPath> namespaceName;  // absent or empty there: as `in` says
  std::optional<FieldPath> name;
  std::optional<FieldPath> names;  // a list; also beside `selectors`, in the entry
  // The next three are looked at where there is no name.
  std::optional<FieldPath> matchLabels;
  std::optional<FieldPath> matchNamespace;   // instead of `namespaceName`
  std::optional<FieldPath> matchController;  // true there: objects with the same controller as the lister's
  ListedIn in = ListedIn::AnyNamespace;
  // Why it protects: the first sentence with fields of the lister of which none is missing or empty.
  std::vector<FieldSentence> because;
  // True in the lister: a denial says how a user asks for the deletion once nothing lists the object any more
  // (replay_plan.h). nullopt: no denial does.
  std::optional<FieldPath> replay;
  friend bool operator==(const ListedBy&, const ListedBy&) = default;
};

enum class Block : uint8_t {
  Delete,     // that the object is deleted
  Orphan,     // that it is deleted with propagationPolicy Orphan
  Unprotect,  // that what protects it is taken away: its label or annotation removed or changed
};
std::string_view toString(Block block);

// Whether what holds a protected object is protected, too: its namespace, and the CRD of its type.
enum class Implication : uint8_t {
  Imply,   // yes; types that lastout may not list keep a CRD, but no Namespace
  Ignore,  // no
  Strict,  // of Namespaces alone: yes, and such types keep it as well
};

struct Label {
  std::string key;
  std::string value;
  friend bool operator==(const Label&, const Label&) = default;
};

// The labels that lastout keeps on the policy's objects (label_plan.h), where it may write labels at all.
struct LabelUpkeep {
  Label protection;         // what protects an object
  bool isProtected = true;  // false: the objects are to lose it
  Label exemption;          // what permits that it is taken away
  bool isExempt = false;
  // How long a protecting label that somebody took away or changed is left so: for users who are to delete
  // the object meanwhile.
  std::chrono::seconds repairAfter{0};
  friend bool operator==(const LabelUpkeep&, const LabelUpkeep&) = default;
};

// How a policy blocks: the DELETE is refused; or it is accepted, and a finalizer holds the object.
enum class Enforcement : uint8_t { Deny, Hold };

// What makes a held object go although it is protected, has children or its external step fails.
struct Force {
  enum class Starts : uint8_t {
    Always,            // setting it begins the deletion
    OnlyWhenDeleting,  // it counts for an object that is being deleted already
  };
  KeyTest key;
  Starts starts = Starts::Always;
  bool requiresDelete = true;  // only a user who may delete the object may set it
  friend bool operator==(const Force&, const Force&) = default;
};

// Where an outside controller reports on the object what it did for it (external_report.h): in one of both.
struct ReportPlace {
  std::string annotation;
  std::string condition;  // its type, in status.conditions
  friend bool operator==(const ReportPlace&, const ReportPlace&) = default;
};
std::string toString(const ReportPlace& place);  // "annotation a/b", "condition DatabaseDropped"

// The word that says what becomes of the thing outside the cluster that an object stands for.
struct DeletionWord {
  std::optional<FieldPath> field;    // at most one of field and annotation; neither: always the default
  std::string annotation;            // empty: none
  std::string byDefault;             // where the object has no word
  std::vector<std::string> allowed;  // with the default
  // nullopt: nobody acts on the word, so there is no external step.
  std::optional<ReportPlace> reportedBy;

  std::string_view of(const kube::ObjectMeta& meta, const kube::Value& content) const;
  friend bool operator==(const DeletionWord&, const DeletionWord&) = default;
};

// Where the status of a held object says how its deletion stands, and in which words.
struct HoldStatus {
  FieldPath phase{{"status", "phase"}};
  FieldPath message{{"status", "message"}};
  FieldPath confirmation{{"status", "deletionConfirmation"}};
  std::string condition = "Ready";  // its type, in status.conditions; it is False while the object is held
  std::string blocked = "Failed";   // phases
  std::string pending = "PendingDeletion";
  std::string deleting = "Deleting";
  friend bool operator==(const HoldStatus&, const HoldStatus&) = default;
};

// The words of a held object for people and programs.
struct HoldWords {
  std::string isProtected = "DeletionProtected";  // reasons of the condition
  std::string hasChildren = "DependenciesExist";
  std::string isPending = "PendingDeletionConfirmation";
  std::string isCascading = "CascadeDeleting";
  std::string event = "DeletionBlocked";  // the reason of the Event
  // Messages, as a denial's: {reason} is what protects it, and "3 child resources".
  std::string protectedMessage = "Deletion blocked by deletion protection";
  std::string pendingMessage = "Force-delete requires confirmation: {reason} will be cascade-deleted";
  friend bool operator==(const HoldWords&, const HoldWords&) = default;
};

// How a policy with Enforcement::Hold holds its objects (hold_plan.h). Of the policy's cases, those without
// children say whether an object is protected, those with children whether anything depends on it.
struct Hold {
  std::string finalizer;
  // By these another operator deletes the object itself: such an object is denied while it is protected, and
  // not held.
  std::vector<std::string> finalizersOfOthers;
  std::vector<KeyTest> pauses;  // while one holds, lastout leaves the object as it is
  std::optional<Force> force;
  std::string confirmAnnotation;         // empty: force does not delete children
  std::optional<DeletionWord> external;  // nullopt: the object stands for nothing outside the cluster
  HoldStatus status;
  HoldWords words;
  std::chrono::seconds lookAgain{10};  // at what blocks a deletion
  // For the report of an external step. A forced object goes without one after this.
  std::chrono::seconds retryAfter{30};

  bool hasExternalStep() const { return external && external->reportedBy; }
  friend bool operator==(const Hold&, const Hold&) = default;
};

struct DeletionPolicy {
  kube::ObjectMeta meta;
  std::vector<Selection> objects;
  std::vector<Selection> exceptObjects;
  std::optional<ListedBy> listedBy;  // instead of `objects`
  std::vector<Case> when;            // the object is protected when one of them holds; none: always
  std::vector<Block> blocks = {Block::Delete};
  std::optional<Hold> hold;         // Enforcement::Hold; nullopt: Deny
  std::vector<KeyTest> overrides;   // on the object: its deletion is not blocked
  std::vector<KeyTest> exemptions;  // on the new object: its protection may be taken away
  std::vector<std::string> exemptUsers;
  std::vector<std::string> exemptGroups;
  std::optional<LabelUpkeep> labels;  // nullopt: people and others label the objects
  // When lastout ends, or the policy is deleted, the labels that it keeps go; and API servers evaluate
  // nothing of the policy while no lastout runs.
  bool cleansUpOnShutdown = false;
  bool skipTerminating = false;  // an object that is being deleted is not protected
  Implication namespaces = Implication::Imply;
  Implication crds = Implication::Imply;
  // What a denial says, with {kind}, {resource}, {name}, {namespace}, {inNamespace} and {reason} in it; with
  // `listedBy` also {count}, {listerName}, {listerNamespace} and {because}. Empty: a sentence of lastout's.
  std::string message;
  std::string unprotectMessage;
  int code = 403;           // of a denial: 403, or 409 (in the webhook alone)
  std::string webhookName;  // the name that clients see where the webhook denies; empty: lastout's
  bool failsClosed = true;  // failurePolicy: Fail

  bool blocksAny(Block block) const;
  // True if an UPDATE can meet Unprotect: the case (nullptr: there are none) has a label or an annotation, or
  // the policy selects its objects by labels. What other fields say is not kept.
  bool keepsWhatProtects(const Case* one) const;
  Enforcement enforcement() const { return hold ? Enforcement::Hold : Enforcement::Deny; }
};

// The types of children, and whether some may be in other namespaces than a namespaced object's.
std::map<kube::GroupResource, bool> typesOfChildren(const DeletionPolicy& policy);

// Reads a policy. Fails with a message for each field that is unknown, of the wrong type or not usable; for a
// policy that protects everything in the cluster at all times; and for one that would take away lastout's own
// way out.
tl::expected<DeletionPolicy, kube::Errors> parsePolicy(const kube::Object& object);

// A policy as it was written, and what it says.
struct PolicyManifest {
  kube::Object object;
  DeletionPolicy policy;
};

// What is accepted, and probably not meant.
kube::Errors warningsOf(const PolicyManifest& manifest);

// Reads the policies of a file's text, or of its documents. Each document must be one, with a name of its
// own.
tl::expected<std::vector<PolicyManifest>, kube::Errors> parsePolicyManifests(
    std::vector<kube::Value> documents, std::string_view file);
tl::expected<std::vector<DeletionPolicy>, kube::Errors> parsePolicies(std::string_view yaml,
                                                                      std::string_view file);

}  // namespace lastout::protection
