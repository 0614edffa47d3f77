// SpecObjects: the objects whose contents say what keeps others, by their names, and where they come from.
// Internal to admission/spec_blockers.h and what it calls.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::admission {

// A controller of which somebody wrote down that it removes a finalizer, as in a Scenario.
struct WrittenController {
  std::string name = {};
  std::string finalizer = {};
  kube::GroupResource from = {};
  std::optional<kube::ObjectKey> runsIn = std::nullopt;  // a workload; nullopt: it always works
  // Returns what keeps it from removing its finalizer from the object now: "needs secrets/a/b, and there is
  // none". Empty if nothing does.
  std::function<std::vector<std::string>(const kube::Object& object)> lacks = {};
};

// Where the objects come from.
struct SpecSource {
  bool isCluster = false;  // they were read from one, with the EndpointSlices of each Service; false: files
  // Returns true of a Service or Namespace that could not be read; empty: there is none.
  std::function<bool(const kube::ObjectKey& key)> isUnknown = {};
  // All Deployments, StatefulSets and DaemonSets are among them, and of a cluster all roles and bindings,
  // too.
  bool knowsControllers = true;
  std::vector<WrittenController> written = {};
};

// Keeps references to the objects and the types.
class SpecObjects {
 public:
  // The objects are all that there are, each once: a Service that is not among them has nobody behind it.
  SpecObjects(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& ofTypes,
              SpecSource ofSource = {})
      : all(objects), types(ofTypes), source(std::move(ofSource)) {
    for (const kube::Object* object : objects) byKey_.emplace(object->key, object);
  }

  // nullptr: it is not there, or could not be read.
  const kube::Object* find(const kube::ObjectKey& key) const {
    const auto found = byKey_.find(key);
    return found == byKey_.end() ? nullptr : found->second;
  }
  bool isUnknown(const kube::ObjectKey& key) const { return source.isUnknown && source.isUnknown(key); }

  const std::vector<const kube::Object*>& all;
  const kube::ResourceMap& types;
  const SpecSource source;

 private:
  std::unordered_map<kube::ObjectKey, const kube::Object*> byKey_;
};

}  // namespace lastout::admission
