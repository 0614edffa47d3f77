#include "admission/spec_blockers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "admission/storage_blockers.h"
#include "admission/unanswered_calls.h"
#include "criticalservice/pod_needs.h"
#include "graph/condition.h"
#include "kube/messages.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

constexpr size_t kMostProblems = 3;  // in one sentence

// What keeps a Namespace or a CRD because it keeps something in it.
class ContainerBlockers {
 public:
  ContainerBlockers(const SpecObjects& objects, SpecBlockers& found) : objects_(objects), found_(found) {}

  void add() {
    for (const kube::Object* one : objects_.all) {
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
    if (objects_.find(container) == nullptr) return;
    const std::string& asksFor = blocker.field.empty() ? blocker.message : blocker.field;
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
    blocker.message = kube::toString(kept.objects.front()) + more + " would stay: " + blocker.message;
    found_[container].push_back(std::move(blocker));
  }

  const SpecObjects& objects_;
  SpecBlockers& found_;
  std::map<std::pair<kube::ObjectKey, std::string>, Kept> kept_;  // by container, and what asks for it or why
};

// Adds the finalizers that stay because none of the workloads that remove them works.
void addRemovalProblems(const FinalizerRemovals& removals, SpecBlockers& found) {
  for (const auto& [object, ofObject] : removals) {
    for (const FinalizerRemoval& removal : ofObject) {
      if (removal.problems.empty()) continue;
      std::vector<std::string> clauses;
      SpecBlocker blocker{.keeps = true, .reason = kFinalizerReason};
      for (const RemovalProblem& problem : removal.problems) {
        clauses.push_back(kube::toString(problem.workload) + ", which removes it (" + problem.evidence +
                          "), cannot: " + problem.why);
        blocker.objects.push_back(problem.workload);
      }
      const std::string advice =
          removal.problems.size() == 1 ? removal.problems.front().advice : "one of them has to remove it";
      blocker.message = "it has finalizer " + removal.finalizer + ", and " +
                        kube::joinedClauses(clauses, kMostProblems) + "; " + advice;
      blocker.cause = removal.problems.front().why + ", so it removes no finalizers";
      found[object].push_back(std::move(blocker));
    }
  }
}

// Others may write conditions of a Namespace, too.
bool isOfNamespaceController(std::string_view type) {
  return type == kube::kNamespaceContentRemaining || type == kube::kNamespaceFinalizersRemaining ||
         std::ranges::find(kube::kNamespaceFailures, type) != kube::kNamespaceFailures.end();
}

// Adds what Namespaces that are being deleted say themselves: the conditions that the namespace controller
// writes, and other names in spec.finalizers. While a Pod is left, the conditions mislead
// (docs/semantics.md, "Versions").
void addToldByNamespaces(const std::vector<const kube::Object*>& objects, SpecBlockers& found) {
  const auto add = [&](const kube::Object& space, std::string message) {
    found[space.key].push_back({.keeps = true, .reason = "Condition", .message = std::move(message)});
  };
  for (const kube::Object* one : objects) {
    if (one->key.type != kube::kNamespaces || !one->meta.deletionTimestamp) continue;
    for (const kube::Value& condition : kube::listAt(one->content, {"status", "conditions"})) {
      const std::string& type = kube::textAt(condition, {"type"});
      if (isOfNamespaceController(type) && kube::textAt(condition, {"status"}) == "True")
        add(*one, "its condition " + type + " is True: " + kube::textAt(condition, {"message"}));
    }
    for (const std::string& finalizer : criticalservice::textsAt(one->content, {"spec", "finalizers"})) {
      if (finalizer != kube::kNamespaceSpecFinalizer)
        add(*one, "its spec.finalizers has " + finalizer + ", which somebody has to take off");
    }
  }
}

}  // namespace

SpecFindings findInSpecs(const std::vector<const kube::Object*>& objects, const kube::ResourceMap& types,
                         const SpecSource& source) {
  const SpecObjects specs(objects, types, source);
  SpecFindings found;
  found.removals = findFinalizerRemovals(specs);
  addUnansweredCalls(specs, found.removals, found.blockers);
  addRemovalProblems(found.removals, found.blockers);
  addStorageBlockers(specs, found.blockers);
  addToldByNamespaces(objects, found.blockers);
  if (!found.blockers.empty()) ContainerBlockers(specs, found.blockers).add();
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
