// A FactIndex that is told objects as YAML, with the types that its test serves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/object.h"
#include "kube/resource_map.h"
#include "protection/fact_index.h"
#include "tests/protection/policies.h"
#include "tests/support/manifests.h"

namespace lastout::protection {

// A CustomResourceDefinition as a test's types need it.
inline std::string definitionText(std::string_view group, std::string_view plural, std::string_view kind,
                                  bool namespaced) {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " +
         std::string(plural) + "." + std::string(group) + "}\nspec: {group: " + std::string(group) +
         ", names: {plural: " + std::string(plural) + ", kind: " + std::string(kind) +
         "}, scope: " + (namespaced ? "Namespaced" : "Cluster") +
         ", versions: [{name: v1, served: true, storage: true}]}\n---\n";
}

class ToldIndex {
 public:
  explicit ToldIndex(std::string_view definitions = {}) : types(kube::ResourceMap::builtIn()) {
    if (!definitions.empty()) testing::objects(definitions, types);
  }

  // What watches tell of a type that the index wants; of another one it is not told.
  std::optional<uint64_t> generationOf(const kube::GroupResource& type,
                                       const std::string& cluster = {}) const {
    for (const WantedType& wanted : index.wanted())
      if (wanted.type == type && wanted.cluster == cluster) return wanted.generation;
    return std::nullopt;
  }
  void tell(std::string_view yaml) {
    for (const kube::Object& object : testing::objects(yaml, types)) tell(object);
  }
  // The same on another cluster, which serves the same types.
  void tellOn(const std::string& cluster, std::string_view yaml) {
    for (const kube::Object& object : testing::objects(yaml, types))
      if (const auto generation = generationOf(object.key.type, cluster))
        index.upsert(object, *generation, cluster);
  }
  void tell(const kube::Object& object) {
    if (const auto generation = generationOf(object.key.type)) index.upsert(object, *generation);
  }
  void remove(const kube::ObjectKey& key, std::string_view uid) {
    if (const auto generation = generationOf(key.type)) index.remove(key, uid, *generation);
  }
  // All types are known now, but those of which `tell` is told otherwise afterwards.
  void knowAll() {
    for (const WantedType& wanted : index.wanted())
      index.know({wanted.cluster, wanted.type}, "", wanted.generation);
  }
  void doubt(const kube::GroupResource& type, std::string why, const std::string& cluster = {}) {
    if (const auto generation = generationOf(type, cluster))
      index.know({cluster, type}, std::move(why), *generation);
  }

  kube::ResourceMap types;
  std::map<std::string, std::string> unreachable;  // other clusters, and why
  FactIndex index{[this](const std::string& cluster, std::string_view group,
                         std::string_view kind) -> tl::expected<ServedKind, std::string> {
    if (const auto why = unreachable.find(cluster); why != unreachable.end())
      return tl::unexpected(why->second);
    const kube::ResourceType* found = types.findKind(group, kind);
    if (found == nullptr) return tl::unexpected("no kind " + std::string(kind));
    return ServedKind{found->type, found->namespaced};
  }};
};

// A request to delete an object.
struct AskedAbout {
  kube::Object object;
  Request request;

  explicit AskedAbout(kube::Object about) : object(std::move(about)) {
    request.object = object.key;
    request.kind = object.kind;
    request.meta = &object.meta;
    request.content = &object.content;
    request.user = "jane";
  }
  AskedAbout(const AskedAbout&) = delete;
  AskedAbout& operator=(const AskedAbout&) = delete;
};

}  // namespace lastout::protection
