// What FactIndex keeps of an object that a watch told: the groups that it counts in, and a few values; never
// the object.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::protection {

// What policies ask of the objects of one type.
struct Questions {
  std::vector<ChildrenTest> children;        // the objects are counted as children
  std::vector<ListedBy> listers;             // the objects list what they protect
  std::vector<FieldTest> fields;             // the objects are ancestors
  std::vector<std::string> namespaceLabels;  // the objects are Namespaces, with labels that name an ancestor
  bool activePods = false;
  bool boundClaims = false;
  bool instances = false;    // the objects are instances of a CRD
  bool definitions = false;  // the objects are CRDs, whose instances may be counted

  // True if metadata alone does not answer them.
  bool needContent() const;
  friend bool operator==(const Questions&, const Questions&) = default;
};

// A selector of a listing object that names no object, but labels, or that it has the lister's controller.
struct LabelledSelector {
  std::string group;  // as listedGroup() gives it for its first label, or for the controller
  kube::Labels labels;
  std::string controller;  // the uid of the controller that an object must have; empty: any, or none
};

// What a selector of a listing object is about.
struct ListedKind {
  std::optional<std::string> apiGroup;  // nullopt: any
  std::string kind;                     // empty: any
  std::string namespaceName;            // empty: any, and none
  bool matches(const kube::ResourceType& type) const;
  auto operator<=>(const ListedKind&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct KeptFacts {
  std::vector<std::string> groups;  // sorted, each once
  std::vector<LabelledSelector> selectors;
  std::vector<ListedKind> kinds;     // that it lists objects of, each once; more than kMostKinds: any
  std::vector<bool> fields;          // of Questions::fields, which hold
  std::vector<std::string> because;  // for each of Questions::listers, its sentence
  std::vector<bool> replays;         // for each of them, whether its ListedBy::replay is true there
  kube::Labels labels;               // of Questions::namespaceLabels, those that it has; of a CRD all
  // The namespaces that the object is about, sorted, each once, where it lists more than kMostListed or
  // kMostKinds, and the groups are not complete; an empty name stands for any namespace, and for none.
  std::vector<std::string> listsTooMuchIn;
};

// How many objects one object may list, and of how many kinds, each in as many namespaces as it names.
inline constexpr size_t kMostListed = 10'000;
inline constexpr size_t kMostKinds = 1'000;

KeptFacts keptOf(const Questions& questions, const kube::Object& object);

// The object on which a child depends, as the child says.
struct ParentReference {
  std::string uid;            // of ChildrenTest::By::OwnerReference; else empty, and the next three count
  std::string namespaceName;  // empty: it is cluster-scoped
  std::string name;
  bool orClusterScoped = false;  // the child names no namespace: a cluster-scoped object is referred to, too
};

// Returns the objects to which the child refers by the test.
std::vector<ParentReference> parentsOf(const ChildrenTest& test, const kube::Object& child);
// Returns the groups in which the reference puts the child.
std::vector<std::string> groupsOf(const ChildrenTest& test, const ParentReference& parent);
// Returns the groups in which the object's children are.
std::vector<std::string> childrenGroups(const ChildrenTest& test, const kube::ObjectKey& parent,
                                        std::string_view uid);

// The names of groups. Those of one type's objects do not collide, whatever their parts hold.
std::string childrenGroup(const ChildrenTest& test, std::string_view parentNamespace,
                          std::string_view parentName);
std::string dependentsGroup(std::string_view ownerUid);
// With the children of a cluster-scoped object of this name.
std::string clusterChildrenGroup(const ChildrenTest& test, std::string_view parentName);
std::string activityGroup(std::string_view namespaceName);
std::string instancesGroup();

// What a selector of a listing object says in its place: each that is nullptr stands for any.
struct ListedPlace {
  const std::string* apiGroup = nullptr;
  std::string_view kind;
  const std::string* namespaceName = nullptr;
};
std::string listedGroup(const ListedBy& listedBy, const ListedPlace& place, const std::string* name);
std::string listedGroup(const ListedBy& listedBy, const ListedPlace& place, const std::string& labelKey,
                        const std::string& labelValue);
std::string controlledGroup(const ListedBy& listedBy, const ListedPlace& place,
                            const std::string& controllerUid);

// The uid of the object's controller; empty: it has none.
std::string controllerOf(const kube::ObjectMeta& meta);

}  // namespace lastout::protection
