// FactIndex: what policies ask of other objects, by index: ancestors, children, what is active, what lists an
// object. It is told what watches tell, and keeps a few values of each object.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/object.h"
#include "kube/object_key.h"
#include "protection/evaluate.h"
#include "protection/kept_facts.h"
#include "protection/policy.h"
#include "protection/type_facts.h"

namespace lastout::protection {

// A type, as one cluster serves it.
struct ClusterType {
  std::string cluster;  // empty: the one whose objects policies protect
  kube::GroupResource type;

  ClusterType(kube::GroupResource ofThatOne)  // NOLINT(google-explicit-constructor)
      : type(std::move(ofThatOne)) {}
  ClusterType(std::string onCluster, kube::GroupResource itsType)
      : cluster(std::move(onCluster)), type(std::move(itsType)) {}
  auto operator<=>(const ClusterType&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
std::string toString(const ClusterType& type);  // "xs.example.com on cluster a"

// A type of which the index wants to be told all objects.
struct WantedType {
  kube::GroupResource type;
  bool withContent = false;  // metadata alone does not do
  // Of what is asked: another one when other things are asked of the type, and all its objects have to be
  // told once more.
  uint64_t generation = 0;
  std::string cluster = {};  // as of ClusterType
  friend bool operator==(const WantedType&, const WantedType&) = default;
};

// The type of a kind, as a cluster serves it.
struct ServedKind {
  kube::GroupResource type;
  bool namespaced = false;
};

// An ancestor that labels name, or why they name none.
struct NamedAncestor {
  std::optional<kube::ObjectKey> key;
  AncestorState state;  // without a key: Incomplete, Unknown or NotManaged
  // NotManaged, but the labels of the namespace would count, and no watch has told of that yet.
  bool isNamespaceUnseen = false;
};

struct ListedKinds {
  std::vector<ListedKind> kinds;  // sorted, each once
  bool isAll = false;             // false: nobody can say whether there are others
};

// "xs.example.com/a", "xs.example.com/a on cluster b".
std::string inWords(const AncestorTest& test, const kube::ObjectKey& ancestor);

// How an ancestor stands that was read; nullptr: it is not there.
AncestorState standingOf(const AncestorTest& test, const kube::ObjectKey& key, const kube::Object* found);

// Count as FactIndex does, among objects that were read instead.
Count childrenAmong(const std::vector<kube::Object>& read, const ChildrenTest& test, const Request& request);
Count activeAmong(const std::vector<kube::Object>& read, Activity activity, const Request& request);

// Not for several threads at once; any number may read while nobody writes.
class FactIndex : public Facts {
 public:
  // Fails with why the kind is not known: the cluster serves none, or cannot be asked.
  using FindKind = std::function<tl::expected<ServedKind, std::string>(
      const std::string& cluster, std::string_view group, std::string_view kind)>;

  explicit FactIndex(FindKind findKind);
  FactIndex(const FactIndex&) = delete;
  FactIndex& operator=(const FactIndex&) = delete;

  // Answers for these policies from now on. Types of which the same is asked as before stay known.
  void setPolicies(const std::vector<DeletionPolicy>& policies);
  // Looks up once more the types of ancestors that labels name: what is served has changed.
  void typesChanged() { plan(); }
  // Wants the type of an ancestor that an object names: kMostAncestorTypes at most.
  void wantAncestors(const ClusterType& type);
  // All types that have to be followed, sorted.
  std::vector<WantedType> wanted() const;

  // --- what watches tell of a type; passed over where the generation is not that of wanted()
  void upsert(const kube::Object& object, uint64_t generation, const std::string& cluster = {});
  // `uid`: of the object that is gone; another one may have its key by now.
  void remove(const kube::ObjectKey& key, std::string_view uid, uint64_t generation,
              const std::string& cluster = {});
  // Whether all objects of the type are known now; `whyNot` is empty: they are.
  void know(const ClusterType& type, std::string whyNot, uint64_t generation);

  // There is nothing of the type: what was told of it is forgotten, and its generation is another one.
  void absent(const kube::GroupResource& type);

  // --- Facts. A type that is not known makes an answer unknown, whatever was told of it.
  AncestorState ancestor(const AncestorTest& test, const Request& request) const override;
  Count children(const ChildrenTest& test, const Request& request) const override;
  Count active(Activity activity, const Request& request) const override;
  Listers listers(const ListedBy& listedBy, const Request& request) const override;

  // What the objects of a type list, as far as they were told.
  ListedKinds listedKinds(const ListedBy& listedBy) const;
  // The kinds that a namespaced object lists in vain: it protects in its namespace, and they are
  // cluster-scoped.
  std::vector<std::string> listedInVain(const kube::Object& lister) const;
  // Returns the namespaces among these in which the object, which was told last, lists something.
  std::vector<std::string> listedIn(const kube::Object& lister,
                                    const std::vector<std::string>& namespaces) const;
  // Returns true if know() was never called for the type.
  bool isNew(const kube::GroupResource& type) const;
  // The ancestor that the labels of the request's object, or of its namespace, name; it is on the cluster of
  // the test. `namespaceLabels`: those of the namespace, where they are known better than the watches told;
  // nullptr: they are not.
  NamedAncestor nameAncestor(const AncestorTest& test, const Request& request,
                             const kube::Labels* namespaceLabels = nullptr) const;
  // Returns the state of that ancestor, from what the watches told.
  AncestorState ancestorAt(const AncestorTest& test, const kube::ObjectKey& ancestor) const;

 private:
  // The labels' group and kind, and the cluster that is to serve it.
  struct KindName {
    std::string cluster;
    std::string group;
    std::string kind;
    auto operator<=>(const KindName&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  };
  struct TypeHash {
    size_t operator()(const ClusterType& of) const noexcept {
      return kube::hashAfter(std::hash<kube::GroupResource>()(of.type), of.cluster);
    }
  };
  using AllQuestions = std::unordered_map<ClusterType, Questions, TypeHash>;

  void plan();
  AllQuestions questions() const;
  void ask(const Case& one, AllQuestions& all) const;
  TypeFacts* toldOf(const ClusterType& type, uint64_t generation);
  bool note(const kube::GroupResource& type, const std::string& name, const kube::Labels* labels);
  bool noteAncestors(const kube::Labels& labels);
  bool countsInstancesOf(const std::string& definition, const kube::Labels& labels) const;
  template <class Asks>
  const TypeFacts* known(const ClusterType& type, const Asks& asks,
                         std::optional<std::string>& unknown) const;
  NamedAncestor namedBy(const AncestorTest& test, const kube::Labels& labels) const;

  const FindKind findKind_;
  std::vector<DeletionPolicy> policies_;  // those that ask of other objects
  std::unordered_map<ClusterType, std::unique_ptr<TypeFacts>, TypeHash> types_;
  std::set<KindName> ancestorKinds_;     // that Namespaces name
  std::set<ClusterType> ancestorTypes_;  // of wantAncestors()
  std::set<std::string> definitions_;    // CRDs whose instances are counted, by name
  uint64_t generation_ = 0;              // the last one that was given
};

// Returns what finds the kinds of one cluster alone, among the types that there are when it is asked.
FactIndex::FindKind kindsAmong(std::function<const kube::ResourceMap&()> types);

inline constexpr size_t kMostAncestorTypes = 64;  // that are followed
// The most kinds of ancestors that labels of Namespaces may name. They have their own bound, because a user
// who may label Namespaces could name many kinds that no cluster serves.
inline constexpr size_t kMostAncestorKinds = 1'024;

}  // namespace lastout::protection
