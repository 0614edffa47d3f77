// A graph filled by names, for tests that read as stories.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"

namespace lastout::graph::test {

// "deployments.apps/a/x", "pods/a/x", "namespaces/a": resource[.group]/[namespace/]name.
kube::ObjectKey key(std::string_view text);
// "deployments.apps", "pods".
kube::GroupResource type(std::string_view text);

Condition finalizerCondition(std::string_view type, std::string_view finalizer);
Condition objectCondition(std::string_view object, std::string_view uid = {});
Condition contentCondition(std::string_view namespaceName);
Condition instancesCondition(std::string_view type);

// What a test says of an object; everything else is empty.
struct Details {
  std::string uid = {};
  std::vector<std::string> finalizers = {};
  std::vector<std::string> ownerUids = {};  // each with blockOwnerDeletion
  bool terminating = false;
};
kube::ObjectMeta meta(std::string_view object, const Details& details = {});

struct Cluster {
  Graph graph;

  // Adds or changes the object; its type counts as listed.
  void put(std::string_view object, const Details& details = {});
  void remove(std::string_view object) { graph.remove(key(object)); }
  // `subject` goes after `condition`.
  ConditionId after(std::string_view subject, const Condition& condition,
                    std::string_view origin = "tests/origin");

  Vertex vertex(std::string_view object) const;
};

// Names of objects, sorted.
std::vector<std::string> names(const Graph& graph, const std::vector<ObjectId>& objects);
// "a -> b -> c": the vertices along a path.
std::string told(const Graph& graph, const std::vector<Edge>& path);

// The document's story: a CRD, an instance with a finalizer, and the Deployment that removes it, in its
// namespace.
Cluster story();
inline constexpr std::string_view kProvider = "deployments.apps/finalizer-namespace/finalizer-deployment";
inline constexpr std::string_view kInstance = "coolresources.my.crd.group/some-instance";
inline constexpr std::string_view kCrd =
    "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group";
inline constexpr std::string_view kService = "criticalservices.lastout.dev/for-finalizer-deployment";
inline constexpr std::string_view kFinalizer = "my.crd.group/super-important";

}  // namespace lastout::graph::test
