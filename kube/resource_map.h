// ResourceMap: kind <-> resource, scope and short names, of the built-in types and of every CRD that was
// added.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/object_key.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

struct ResourceType {
  GroupResource type;                   // {"apps", "deployments"}
  std::string kind;                     // "Deployment"
  std::string version;                  // preferred version, "v1"
  std::string singular;                 // "deployment"
  std::vector<std::string> shortNames;  // "deploy"
  bool namespaced = true;
  bool builtIn = false;  // false: defined by a CRD
};

// How a word names a type; an earlier one counts before a later one.
enum class WordRank : uint8_t { Plural, SingularOrKind, ShortName };

// Looked up by hash, a few dozen nanoseconds each. Reading is safe from several threads while nobody adds or
// removes.
class ResourceMap {
 public:
  // Kubernetes' built-in types, three of Open Cluster Management (ManifestWorks) and lastout's own two. These
  // five are defined by CRDs as everything else is, so `builtIn` is false of them; they are known without
  // their CRD being in the input. Always the same one; copy it before adding to it.
  static const ResourceMap& builtIn();

  // Adds or replaces a type. A later CRD of the same group/resource replaces an earlier one.
  void add(ResourceType type);
  // Adds what a CustomResourceDefinition (its whole document) defines. Fails, as the API server does not
  // serve them, on a name that is not <plural>.<group> and on names that another type of the same group has.
  Result<ResourceType> addCrd(const Value& crd, std::string_view file);
  // Forgets a type, if it is known; takes time in proportion to all that are.
  void remove(const GroupResource& type);

  // nullptr when unknown. Pointers stay valid until a type is removed; the type behind one may be replaced.
  const ResourceType* find(const GroupResource& type) const;
  const ResourceType* findKind(std::string_view group, std::string_view kind) const;
  // Any word a person uses: "deployments", "deployment", "deploy", "Deployment", each with or without
  // ".apps", in upper or lower case. A word without a group prefers built-in types, among them the core
  // group's; an ambiguous one fails and lists the candidates; an unknown one fails and names the nearest
  // known. "CustomResourceDefinition" means customresourcedefinitions.apiextensions.k8s.io.
  Result<const ResourceType*> resolve(std::string_view word) const;

  const std::deque<ResourceType>& types() const { return types_; }

 private:
  // What a word may mean.
  struct Meaning {
    uint32_t type;  // index into types_
    WordRank rank;
  };
  struct WordHash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const noexcept { return std::hash<std::string_view>{}(word); }
  };
  // A group with a resource or with a kind; looked up without a copy.
  struct NameView {
    std::string_view group;
    std::string_view name;
    friend bool operator==(const NameView&, const NameView&) = default;
  };
  struct Name {
    std::string group;
    std::string name;
    operator NameView() const { return {group, name}; }  // NOLINT(google-explicit-constructor)
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(NameView name) const noexcept;
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(NameView a, NameView b) const noexcept { return a == b; }
  };
  using NameIndex = std::unordered_map<Name, uint32_t, NameHash, NameEqual>;

  void index(uint32_t position);
  void unindex(uint32_t position);
  std::vector<Meaning> meanings(std::string_view word) const;
  const ResourceType* sameName(const ResourceType& type) const;
  Error unknownWord(std::string_view word) const;

  std::deque<ResourceType> types_;  // shrinks in remove() alone, so that pointers into it stay valid
  NameIndex byResource_;
  NameIndex byKind_;
  std::unordered_map<std::string, std::vector<Meaning>, WordHash, std::equal_to<>> byWord_;  // in lower case
};

}  // namespace lastout::kube
