// History: a random life of a cluster, told to a graph and to the model alike.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "tests/graph/model.h"

namespace lastout::graph::test {

class History {
 public:
  explicit History(uint32_t seed);

  // One change of one object or of a batch, of requirements, holds or knowledge; or a snapshot.
  void step();
  // Everything goes, down to the names of types.
  void end();

  const Graph& graph() const { return graph_; }
  const Model& model() const { return model_; }
  // Snapshots with what the model said when they were taken.
  const std::vector<std::pair<Graph, Model>>& snapshots() const { return snapshots_; }
  // All uids that objects ever have.
  static const std::vector<std::string>& uids();
  static const std::vector<kube::GroupResource>& types();

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[pick(choices.size())];
  }
  kube::ObjectKey randomKey();
  kube::ObjectMeta randomMeta(const kube::ObjectKey& key);
  kube::NamespaceScope randomScope();
  Condition randomCondition();

  void upsert();
  void removeOne(const kube::ObjectKey& key);
  void applyBatch();
  void require();
  void withdraw();
  void withdrawOne(const kube::ObjectKey& origin);
  void hold();
  void learn();
  void takeSnapshot();

  std::mt19937 random_;
  Graph graph_;
  Model model_;
  std::vector<std::pair<Graph, Model>> snapshots_;
};

}  // namespace lastout::graph::test
