// Model: what a graph should know and say, the slow way. Every answer is worked out from the list of objects
// and the set of requirements, by the words of docs/concepts.md; nothing is indexed, nothing is updated.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "graph/condition.h"
#include "kube/object.h"

namespace lastout::graph::test {

// A vertex in words: "o deployments.apps/a/x" or "c finalizer f of deployments.apps".
std::string nameOf(const kube::ObjectKey& key);
std::string nameOf(const Condition& condition);

// Few objects that others name in their fields, by the texts of such references, and of wanted ones. A target
// without a namespace may mean any.
struct Target {
  std::string namespaceName;
  std::string name;
};
const std::map<std::string, Target>& namedTargets();
const std::map<std::string, Target>& wantedTargets();

// The type is `named`, or one that the pattern means.
bool isMeant(const kube::GroupResource& type, const kube::GroupResource& named);

// source, target, kind in words; parallel edges count.
using Edges = std::multiset<std::tuple<std::string, std::string, std::string>>;

struct Model {
  using Requirement = std::tuple<kube::ObjectKey, Condition, Origin>;

  std::map<kube::ObjectKey, kube::ObjectMeta> objects;
  std::map<kube::GroupResource, Knowledge> knowledge;
  std::set<Requirement> requirements;
  std::map<Condition, int> holds;

  void upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta);
  void withdraw(const kube::ObjectKey& origin);

  // Of a pattern: unless it is known which types there are, that; then of the one that is known worst.
  Knowledge knowledgeOf(const kube::GroupResource& named,
                        const std::vector<kube::GroupResource>& types) const;
  bool isHolder(const kube::ObjectKey& key, const Condition& condition) const;
  std::set<kube::ObjectKey> holders(const Condition& condition) const;
  // The names of the Namespaces that the condition's selector does not match.
  std::set<std::string> leftOut(const Condition& condition) const;
  // Those that a requirement or a hold uses.
  std::set<Condition> conditions() const;
  // Not present, but named: as subject or origin of a requirement, or by an Object condition.
  std::set<kube::ObjectKey> absent() const;
  std::set<kube::ObjectKey> withUid(const std::string& uid) const;
  std::set<kube::ObjectKey> dependents(const kube::ObjectKey& owner) const;
  Edges edges() const;

 private:
  void addHolderEdges(Edges& edges) const;
  void addContainerEdges(Edges& edges) const;
  void addDependentEdges(Edges& edges) const;
};

}  // namespace lastout::graph::test
