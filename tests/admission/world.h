// World: a small cluster written as YAML, with the live graph and the index that lastout would have of it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "admission/decide.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "graph/graph.h"
#include "kube/resource_map.h"

namespace lastout::admission {

class World {
 public:
  explicit World(std::string_view yaml = {}, std::string ownNamespace = {});

  // Adds or replaces every object of the text; CriticalServices and CRDs among them take effect.
  void apply(std::string_view yaml);
  // The same for one object, marked as being deleted.
  void terminate(std::string_view reference, std::vector<std::string> finalizers = {});
  void remove(std::string_view reference);
  // Every type that is named anywhere is Synced until this says otherwise. "coolresources.my.crd.group"
  void know(std::string_view type, graph::Knowledge knowledge);

  Verdict decide(std::string_view reference, DeletionEffect deletionEffect = DeletionEffect::Ending) const;
  Explanation explain(std::string_view reference, std::string_view detail = {},
                      DeletionEffect deletionEffect = DeletionEffect::Ending) const;

  // Every object has this uid unless its manifest has one.
  static std::string uidOf(const kube::ObjectKey& key);

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  graph::Graph graph;
  GuardIndex index;

 private:
  void guard();
  void learn(const kube::GroupResource& type);
  kube::ObjectKey key(std::string_view reference) const;

  std::map<kube::GroupResource, graph::Knowledge> knowledge_;
  std::map<kube::ObjectKey, kube::ObjectMeta> objects_;
  std::map<std::string, criticalservice::CriticalService> services_;
  criticalservice::DependencyFinder finder_;
};

}  // namespace lastout::admission
