#include "admission/spec_blockers.h"

#include <map>
#include <unordered_set>
#include <utility>

#include "admission/storage_blockers.h"
#include "admission/unanswered_calls.h"
#include "graph/condition.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

// What keeps a Namespace or a CRD because it keeps something in it.
class ContainerBlockers {
 public:
  ContainerBlockers(const std::vector<const kube::Object*>& objects, SpecBlockers& found) : found_(found) {
    for (const kube::Object* one : objects) names_.insert(one->key);
  }

  void add(const std::vector<const kube::Object*>& objects) {
    for (const kube::Object* one : objects) {
      const auto found = found_.find(one->key);
      if (found == found_.end()) continue;
      for (const SpecBlocker& blocker : found->second) {
        if (blocker.cause.empty()) continue;  // its container takes along what it goes after, too
        keep(kube::namespaceKey(one->key.namespaceName), blocker, one->key);
        if (blocker.keeps || blocker.stopsCleanup) keep(kube::crdKey(one->key.type), blocker, one->key);
      }
    }
    for (auto& [container, kept] : kept_) finish(container.first, std::move(kept));
  }

 private:
  struct Kept {
    SpecBlocker blocker;
    std::vector<kube::ObjectKey> objects;
  };

  void keep(const kube::ObjectKey& container, const SpecBlocker& blocker, const kube::ObjectKey& one) {
    if (!names_.contains(container)) return;
    const std::string asksFor =
        blocker.field.empty() ? kube::toString(blocker.objects.front()) : blocker.field;
    Kept& kept = kept_[{container, asksFor}];
    if (kept.objects.empty()) kept.blocker = blocker;
    if (kept.objects.empty() || kept.objects.back() != one) kept.objects.push_back(one);
  }

  void finish(const kube::ObjectKey& container, Kept kept) {
    SpecBlocker& blocker = kept.blocker;
    blocker.refusesDeletion = false;
    blocker.keeps = true;
    blocker.stopsCleanup = false;
    blocker.cause.clear();  // the chain to it leads through the objects
    blocker.objects.clear();
    const size_t count = kept.objects.size();
    const std::string more = count == 1 ? "" : " and " + std::to_string(count - 1) + " more in it";
    blocker.message = "it would keep " + kube::toString(kept.objects.front()) + more + ": " + blocker.message;
    found_[container].push_back(std::move(blocker));
  }

  SpecBlockers& found_;
  std::unordered_set<kube::ObjectKey> names_;
  std::map<std::pair<kube::ObjectKey, std::string>, Kept> kept_;  // by container and what asks for the call
};

}  // namespace

SpecBlockers specBlockersOf(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types,
                            const SpecSource& source) {
  SpecBlockers found;
  addUnansweredCalls(objects, types, source, found);
  addStorageBlockers(objects, types, found);
  if (!found.empty()) ContainerBlockers(objects, found).add(objects);
  return found;
}

void requireSpecBlockers(graph::Graph& graph, const SpecBlockers& blockers) {
  for (const auto& [object, found] : blockers) {
    for (const SpecBlocker& blocker : found) {
      if (!blocker.cause.empty()) continue;
      for (const kube::ObjectKey& other : blocker.objects) {
        const graph::Condition exists{.type = other.type,
                                      .finalizer = {},
                                      .namespaceName = other.namespaceName,
                                      .name = other.name,
                                      .uid = {}};
        graph.require(object, exists, {other, "spec"});
      }
    }
  }
}

}  // namespace lastout::admission
