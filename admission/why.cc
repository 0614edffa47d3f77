#include "admission/why.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admission/deferral.h"
#include "admission/explain.h"
#include "admission/root_blockers.h"
#include "admission/text_writer.h"
#include "graph/blockers.h"
#include "graph/names.h"
#include "kube/messages.h"
#include "kube/timestamp.h"
#include "protection/message.h"

namespace lastout::admission {
namespace {

constexpr graph::BlockerLimits kWhyLimits{10, 3, 10, 10'000};

std::string kindOf(graph::RootBlocker::Kind kind) {
  switch (kind) {
    case graph::RootBlocker::Kind::Object:
      return "Object";
    case graph::RootBlocker::Kind::Cycle:
      return "Cycle";
    case graph::RootBlocker::Kind::Unknown:
      return "Unknown";
  }
  return {};
}

// "a, b and 5 more".
std::string examplesOf(const graph::Graph& graph, const graph::DirectBlocker& blocker) {
  std::vector<std::string> names;
  names.reserve(blocker.examples.size());
  for (const auto example : blocker.examples)
    names.push_back(kube::printable(kube::toString(graph.key(example))));
  return kube::listedOf(names, blocker.count);
}

// What an object that is being deleted waits for, when lastout would not deny its DELETE.
WhyBlocker directBlocker(ExplanationReader reader, const graph::Graph& graph,
                         const graph::DirectBlocker& blocker) {
  const std::string_view kind = graph::toString(blocker.kind);
  const bool isOneObject =
      blocker.condition && graph.condition(*blocker.condition).kind == graph::Condition::Kind::Object;
  if (!blocker.condition || (isOneObject && blocker.count > 0))
    return {std::string(kind), examplesOf(graph, blocker), {}};
  const std::string condition = kube::printable(toString(graph.condition(*blocker.condition)));
  if (blocker.count > 0) return {std::string(kind), condition + ": " + examplesOf(graph, blocker), {}};
  TextWriter unknown(reader);
  if (graph.knowledge(*blocker.condition) == graph::Knowledge::NotUnderstood) {
    writeDoubt(unknown, graph, *blocker.condition);
    return {std::string(kind), unknown.take(), {}};
  }
  unknown.unknownBecause(graph, graph.condition(*blocker.condition).type,
                         graph.knowledge(*blocker.condition));
  return {std::string(kind), condition + ": " + unknown.take(), {}};
}

WhyRoot whyRoot(ExplanationReader reader, const graph::Graph& graph, graph::Vertex start,
                const graph::RootBlocker& root) {
  TextWriter message(reader);
  writeRoot(message, graph, root);
  WhyRoot result{kindOf(root.kind), message.take(), {kube::printable(describe(graph, start))}};
  for (const graph::Edge& edge : root.path)
    result.path.push_back(kube::printable(describe(graph, edge.target)));
  return result;
}

// What a CriticalService records about this very object.
std::string deferredDeletionOf(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& key,
                               graph::ObjectId object) {
  for (const GuardEntry& guardEntry : index.guardEntries(key)) {
    const criticalservice::CriticalService& service = index.service(guardEntry.service);
    const bool isItself = criticalservice::keyOf(service) == key;
    if (service.deferral == criticalservice::DeferralMode::Never ||
        !recordsDeferral(guardEntry.role, isItself))
      continue;
    for (const criticalservice::DeferredDeletion& deletion : service.deferredDeletions.deletions) {
      if (deletion.object != key || !graph.hasUid(object, deletion.uid)) continue;
      const std::chrono::sys_seconds at{std::chrono::seconds(deletion.requestedAt)};
      return "its deletion is deferred: " + kube::printable(deletion.requestedBy) + " asked for it" +
             (deletion.requestedAt == 0 ? "" : " at " + kube::timestampText(at)) +
             ", and lastout carries it out once it may";
    }
  }
  return {};
}

}  // namespace

// As a review answers: what CriticalServices say comes first, then each policy that denies; then what would
// hold the object.
void Why::join(const std::vector<protection::Denial>& denials) {
  for (const bool isHeld : {false, true}) {
    size_t told = 0;
    for (const protection::Denial& one : denials) {
      if (one.isHeld != isHeld || (terminating && !isHeld)) continue;
      const Reason denied = one.isUncertain ? Reason::ProtectionUnknown : Reason::Protected;
      const std::string why(toString(isHeld ? Reason::Held : denied));
      if (isHeld ? !guarded : allowed) {
        reason = why;
        message.clear();
      }
      allowed = allowed && isHeld;
      guarded = true;
      blockers.push_back({why, kube::printableWhole(one.reason), protection::fieldOf(one)});
      if (++told <= kMostCauses || isHeld)
        message += (message.empty() ? "" : "; ") + kube::printableWhole(protection::onOneLine(one.message));
    }
    if (told > kMostCauses && !isHeld)
      message += "; and " + std::to_string(told - kMostCauses) + " more DeletionPolicies";
  }
}

void Why::join(const std::vector<UnansweredCall>& calls) {
  for (const UnansweredCall& call : calls) {
    if (call.refusesDeletion && terminating) continue;
    if (call.refusesDeletion) {
      if (allowed) {
        reason = call.reason;
        message.clear();
      }
      allowed = false;
      if (!message.empty()) message += "; ";
      message += kube::printableWhole(call.message);
    }
    blockers.push_back({call.reason, kube::printableWhole(call.message), kube::printable(call.field)});
    WhyRoot root{kindOf(graph::RootBlocker::Kind::Object), kube::printable(call.caller), {object}};
    if (root.message != object) root.path.push_back(root.message);
    const bool isNamed =
        std::ranges::any_of(roots, [&](const WhyRoot& other) { return other.message == root.message; });
    if (!isNamed) roots.push_back(std::move(root));
  }
}

Why why(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
        ExplanationReader reader, const std::vector<protection::Denial>& protections) {
  const auto found = graph.findNamed(object);
  const DeletionEffect deletionEffect = found ? deletionEffectOf(graph, *found) : DeletionEffect::Ending;
  const Decision decision =
      decide(GraphFacts(graph, index), index.rules(), index.guardEntries(object), deletionEffect);
  Explanation explanation = explainTo(reader, graph, index, viewOf(object), decision);
  Why result;
  result.object = kube::printable(toString(object));
  result.allowed = decision.allowed;
  result.guarded = decision.guarded || !decision.allowed;
  result.reason = toString(decision.reason);
  result.message = std::move(explanation.message);
  result.revision = explanation.revision;
  if (found) {
    result.present = graph.isPresent(*found);
    result.terminating = graph.isTerminating(*found);
    for (const std::string_view finalizer : graph.finalizers(*found))
      result.finalizers.push_back(kube::printable(finalizer));
    if (result.present && !result.terminating)
      result.deferredDeletion = deferredDeletionOf(graph, index, object, *found);
  }
  for (const DenialCause& cause : explanation.causes) {
    if (cause.reason != kRootBlocker)
      result.blockers.push_back(
          {std::string(cause.reason), std::string(cause.message), std::string(cause.field)});
  }
  result.join(protections);
  if (!found || !result.isBlocked()) return result;
  const graph::Vertex start = graph::vertexOf(*found);
  const graph::Blockers search = graph::blockers(graph, start, kWhyLimits);
  if (result.terminating && result.allowed && !decision.held) {
    for (const graph::DirectBlocker& blocker : search.direct)
      result.blockers.push_back(directBlocker(reader, graph, blocker));
  }
  for (const graph::RootBlocker& root : search.roots)
    result.roots.push_back(whyRoot(reader, graph, start, root));
  result.rootsLeftOut = search.rootsLeftOut;
  result.complete = search.complete;
  return result;
}

}  // namespace lastout::admission
