// Object: one Kubernetes manifest with the metadata that deletion depends on, and its whole content.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

using Labels = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string apiVersion;
  std::string kind;
  std::string name;
  std::string uid;  // empty in a manifest that was never applied
  bool controller = false;
  bool blockOwnerDeletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string namespaceName;  // empty: cluster-scoped
  std::string name;
  std::string uid;                           // empty: not known
  std::string resourceVersion;               // opaque, as the server gave it
  std::optional<int64_t> deletionTimestamp;  // seconds since the epoch; set: terminating
  std::optional<int64_t> deletionGracePeriodSeconds;
  int64_t generation = 0;
  std::vector<std::string> finalizers;
  // What it names in those fields that somebody asks about (kube/object_references.h); in no manifest.
  std::vector<std::string> references;
  std::vector<OwnerReference> ownerReferences;
  Labels labels;
  Labels annotations;
};

struct Object {
  std::string apiVersion;
  std::string kind;
  ObjectKey key;
  ObjectMeta meta;
  Value content;     // the whole document, metadata included
  std::string file;  // where it was read from; empty when from no file
};

// Returns true if it carries a finalizer that is meant, by name or by pattern (kube/patterns.h), or has a
// reference that is wanted.
bool hasFinalizer(const ObjectMeta& meta, std::string_view named);

// The group of an apiVersion: "apps" of "apps/v1", "" of "v1".
std::string groupOf(std::string_view apiVersion);
// "v1" of "apps/v1" and of "v1".
std::string_view versionOf(std::string_view apiVersion);

// Metadata alone, as an API server sent it, whatever names and labels it accepts. Fails on a field of the
// wrong type.
Result<ObjectMeta> parseMeta(const Value& metadata, std::string_view file);

// A manifest into an Object, with names, finalizers, labels and owners as Kubernetes wants them. The type
// comes from apiVersion and kind; of a namespaced one "default" is the namespace that is left out.
Result<Object> parseObject(Value document, std::string_view file, const ResourceMap& types);

// Reads documents in order; every CustomResourceDefinition and every `kind: List` member among them counts,
// wherever it stands. Fails on the first bad document or on a second object with the same key (naming both
// places).
Result<std::vector<Object>> parseObjects(std::vector<Value> documents, std::string_view file,
                                         ResourceMap& types);

}  // namespace lastout::kube
