// ClusterView: what lastout knows of a cluster that tells it of every object: the live graph and the guards
// in it, kept together.
#pragma once

#include <map>
#include <string>
#include <tl/expected.hpp>

#include "admission/decide.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "graph/graph.h"
#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::admission {

// Threading: as graph::Graph's: one writer, and readers only while it does not write.
class ClusterView {
 public:
  // `types`: those that the cluster has, which must live as long as this; see typesChanged(). `ownNamespace`:
  // as GuardIndex's.
  explicit ClusterView(const kube::ResourceMap& types, std::string ownNamespace = {});
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // The object is there, and looks so. Of a CriticalService only its place in the graph: see guard().
  void upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta);
  // Likewise, of a CriticalService: what it says is guarded from now on. Fails when it says nothing that can
  // be understood; until typesChanged() mends that, what it said before stays guarded.
  tl::expected<void, kube::Errors> guard(kube::Object service);
  // The object is gone, whatever it was.
  void remove(const kube::ObjectKey& key);
  // `types` has others now. What the CriticalServices name is looked up again: the kind that a criterion
  // names may have come. (A provider's CRD is guarded whether it is there or not.)
  void typesChanged();

  Decision decide(const kube::ObjectKey& key) const;
  // Nothing keeps the criterion from holding now.
  bool isMet(const criticalservice::Criterion& criterion) const;
  Explanation explain(const kube::ObjectKey& key, const Decision& decision) const;

 private:
  graph::TypeId know(const kube::GroupResource& type);
  tl::expected<void, kube::Errors> put(const kube::Object& service);

  const kube::ResourceMap& types_;
  graph::Graph graph_;
  GuardIndex index_;
  std::map<std::string, kube::Object, std::less<>> services_;  // by name, as they were told
};

}  // namespace lastout::admission
