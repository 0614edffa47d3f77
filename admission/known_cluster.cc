#include "admission/known_cluster.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admission/explain.h"
#include "graph/dump.h"
#include "graph/names.h"
#include "kube/messages.h"
#include "kube/reference.h"
#include "kube/well_known.h"
#include "protection/message.h"

namespace lastout::admission {
namespace {

const std::vector<protection::Denial>& protectionsOf(const KnownCluster& cluster,
                                                     const kube::ObjectKey& key) {
  static const std::vector<protection::Denial> kNone;
  const auto found = cluster.protections.find(key);
  return found == cluster.protections.end() ? kNone : found->second;
}

std::optional<graph::DumpVerdict> verdictOn(const KnownCluster& cluster, graph::ObjectId object) {
  const kube::ObjectKey key = cluster.graph.key(object);
  const Verdict verdict = decide(GraphFacts(cluster.graph, cluster.guards), cluster.guards.rules(),
                                 cluster.guards.guardEntries(key), deletionEffectOf(cluster.graph, object));
  std::string text;
  bool isDenied = false;
  bool isHeld = verdict.held;
  for (const protection::Denial& one : protectionsOf(cluster, key)) {
    if (cluster.graph.isTerminating(object) && !one.isHeld) continue;
    text += (text.empty() ? "" : "; ") + kube::printableWhole(protection::onOneLine(one.message));
    isDenied = isDenied || !one.isHeld;
    isHeld = isHeld || one.isHeld;
  }
  if (!verdict.guarded && verdict.allowed && text.empty()) return std::nullopt;
  if (!verdict.allowed || text.empty()) {
    const std::string own =
        explainTo(cluster.reader, cluster.graph, cluster.guards, viewOf(key), verdict).message;
    text = own + (text.empty() ? "" : "; ") + text;
  }
  const bool isAllowed = verdict.allowed && !isDenied;
  return graph::DumpVerdict{isAllowed, std::move(text), isAllowed && isHeld};
}

// The Namespace, or something in it.
bool isAnythingIn(const KnownCluster& cluster, const std::string& space) {
  if (cluster.graph.find(kube::namespaceKey(space))) return true;
  return std::ranges::any_of(cluster.types.types(), [&](const kube::ResourceType& type) {
    return std::ranges::any_of(graph::objectsOf(cluster.graph, type.type), [&](graph::ObjectId object) {
      return cluster.graph.namespaceName(object) == space;
    });
  });
}

}  // namespace

AnswerOf<std::string> drawn(const KnownCluster& cluster, const GraphQuestion& question) {
  graph::DumpOptions options;
  if (!question.focus.empty()) {
    auto focus = graph::findObject(cluster.graph, question.focus, cluster.types);
    if (!focus) return tl::unexpected(Unanswered{false, std::move(focus.error().message)});
    if (!focus->missing.empty()) return tl::unexpected(Unanswered{true, std::move(focus->missing)});
    options.focus = std::move(focus->key);
  }
  if (!question.namespaceName.empty() && !isAnythingIn(cluster, question.namespaceName))
    return tl::unexpected(
        Unanswered{true, "nothing is known of a namespace " + kube::inQuotes(question.namespaceName)});
  options.depth = question.depth;
  options.limit = question.limit;
  options.blocked = question.blocked;
  options.namespaceName = question.namespaceName;
  if (!cluster.knowsAllProtections)
    options.note = "DeletionPolicies are not drawn here: lastout why names those that protect an object.";
  options.verdict = [&](graph::ObjectId object) { return verdictOn(cluster, object); };
  switch (question.format) {
    case GraphQuestion::Format::Json:
      return graph::dumpJson(cluster.graph, options);
    case GraphQuestion::Format::Dot:
      return graph::dumpDot(cluster.graph, options);
    case GraphQuestion::Format::Mermaid:
      break;
  }
  return graph::dumpMermaid(cluster.graph, options);
}

AnswerOf<kube::ObjectKey> keyOf(const KnownCluster& cluster, std::string_view reference) {
  auto found = graph::findObject(cluster.graph, reference, cluster.types);
  if (!found) return tl::unexpected(Unanswered{false, std::move(found.error().message)});
  if (found->missing.empty()) return *found->key;
  const auto pattern = kube::parsePattern(reference, cluster.types);
  if (!pattern || graph::isBelievable(cluster.graph, pattern->key.type))
    return tl::unexpected(Unanswered{true, std::move(found->missing)});
  auto key = kube::parseReference(reference, cluster.types);
  if (!key) return tl::unexpected(Unanswered{false, key.error().message});
  return std::move(*key);
}

AnswerOf<Why> whyOf(const KnownCluster& cluster, std::string_view reference) {
  const auto key = keyOf(cluster, reference);
  if (!key) return tl::unexpected(key.error());
  Why answer =
      why(cluster.graph, cluster.guards, *key, cluster.reader, protectionsOf(cluster, *key), cluster.specs);
  const auto annotated = cluster.annotated.find(*key);
  if (answer.guarded && annotated != cluster.annotated.end())
    answer.deferredDeletion += (answer.deferredDeletion.empty() ? "" : "; ") +
                               kube::printable(wordsOf(annotated->second, cluster.now));
  return answer;
}

}  // namespace lastout::admission
