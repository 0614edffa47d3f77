// Writer: the phrases that explanations are made of. Insides of admission/explain.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "admission/guard_index.h"
#include "graph/graph.h"

namespace lastout::admission {

KeyView viewOf(const kube::ObjectKey& key);
KeyView viewOf(const graph::ObjectView& object);

// A few of the objects that hold a condition.
struct Holders {
  static constexpr size_t kShown = 3;
  uint32_t count = 0;  // all of them
  size_t shown = 0;
  graph::ObjectView examples[kShown];  // by namespace and name
  bool live = false;                   // one of those shown is not being deleted
};
Holders holdersOf(const graph::Graph& graph, graph::ConditionId condition);

// A text that grows. Of names that are longer than `longestName` bytes the middle is left out.
class Writer {
 public:
  explicit Writer(size_t longestName = std::string::npos) : longestName_(longestName) {}

  Writer& operator<<(std::string_view words) {
    text_ += words;
    return *this;
  }
  Writer& operator<<(uint64_t number);

  Writer& name(std::string_view name);
  Writer& key(const KeyView& key);  // "deployments.apps/finalizer-namespace/finalizer-deployment"
  Writer& type(const kube::GroupResource& type);  // "deployments.apps"
  Writer& service(std::string_view name);         // "criticalservices.lastout.dev/<name>"
  Writer& separator(size_t index, size_t total);  // ", " or " and " before thing `index` of `total`
  Writer& names(const Holders& holders);          // "a, ns/b and ns/c"
  // Why too little is known of a type: "coolresources.my.crd.group have not been listed yet".
  Writer& ignorance(const graph::Graph& graph, const kube::GroupResource& type, graph::Knowledge knowledge);

  void reserve(size_t bytes) { text_.reserve(bytes); }
  size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  void shorten(size_t start);

  std::string text_;
  size_t longestName_;
};

}  // namespace lastout::admission
