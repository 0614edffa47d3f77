#include "admission/why.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "admission/deferral.h"
#include "admission/explain.h"
#include "admission/root_blockers.h"
#include "admission/spec_chains.h"
#include "admission/text_writer.h"
#include "admission/why_finalizers.h"
#include "graph/blockers.h"
#include "graph/names.h"
#include "kube/messages.h"
#include "kube/timestamp.h"
#include "kube/well_known.h"
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

std::string examplesOf(std::vector<std::string> names) {
  std::ranges::sort(names);
  const size_t count = names.size();
  names.resize(std::min(count, kWhyLimits.examples));
  return kube::listedOf(names, count);
}

// The content of a Namespace that is being deleted: its Pods go first, since Kubernetes 1.33, and nothing
// else in it is deleted while one is left (docs/semantics.md, "Versions").
std::vector<WhyBlocker> contentBlockers(const graph::Graph& graph, graph::Vertex space,
                                        const graph::DirectBlocker& blocker) {
  std::vector<std::string> pods;
  std::vector<std::string> others;
  uint32_t seen = 0;
  for (graph::OutEdges edge(graph, space); !edge.atEnd() && seen < kWhyLimits.vertices; edge.next()) {
    if (edge.kind() != graph::EdgeKind::Content) continue;
    ++seen;
    const kube::ObjectKey key = graph.key(graph::objectOf(edge.target()));
    (key.type == kube::kPods ? pods : others).push_back(kube::printable(kube::toString(key)));
  }
  const std::string kind(graph::toString(blocker.kind));
  if (pods.empty() || others.empty()) return {{kind, examplesOf(graph, blocker), {}}};
  return {{kind, examplesOf(std::move(pods)), {}},
          {kind, "after its Pods: " + examplesOf(std::move(others)), {}}};
}

// "; example.com/f, which deployments.apps/op/op removes (... says so)", of an object at the end of a chain.
std::string removalsOf(const graph::Graph& graph, graph::Vertex start, const graph::RootBlocker& root,
                       const FinalizerRemovals& removals) {
  std::string text;
  if (root.kind != graph::RootBlocker::Kind::Object || root.vertex == start) return text;
  const graph::ObjectId object = graph::objectOf(root.vertex);
  const auto found = removals.find(graph.key(object));
  if (found == removals.end() || !graph.isTerminating(object)) return text;
  for (const FinalizerRemoval& one : found->second)
    text += "; " + (one.isUnknown ? "nobody is known to remove " + one.finalizer
                                  : one.finalizer + ", " + one.clause);
  return kube::printableWhole(text);
}

WhyRoot whyRoot(ExplanationReader reader, const graph::Graph& graph, graph::Vertex start,
                const graph::RootBlocker& root, const FinalizerRemovals& removals) {
  TextWriter message(reader);
  writeRoot(message, graph, root);
  WhyRoot result{kindOf(root.kind),
                 message.take() + removalsOf(graph, start, root, removals),
                 {kube::printable(describe(graph, start))}};
  for (const graph::Edge& edge : root.path)
    result.path.push_back(kube::printable(describe(graph, edge.target)));
  return result;
}

bool isTold(const std::vector<SpecBlocker>& blockers) {
  return std::ranges::any_of(blockers,
                             [](const SpecBlocker& one) { return one.refusesDeletion || one.keeps; });
}

// The blocker is the existence of an object that one of the others names.
bool isNamedBy(const std::vector<SpecBlocker>& blockers, const graph::Graph& graph,
               const graph::DirectBlocker& blocker) {
  const auto target = blocker.condition ? graph.target(*blocker.condition) : std::nullopt;
  return target && std::ranges::any_of(blockers, [&](const SpecBlocker& one) {
           return std::ranges::find(one.objects, graph.key(*target)) != one.objects.end();
         });
}

// The end of a chain to what an object itself does not say.
WhyRoot whyRoot(const graph::Graph& graph, const SpecChain& chain) {
  const std::string last = kube::printable(kube::toString(chain.blocker->objects.front()));
  WhyRoot result{
      kindOf(graph::RootBlocker::Kind::Object), last + ": " + kube::printableWhole(chain.blocker->cause), {}};
  for (const graph::Vertex vertex : chain.path)
    result.path.push_back(kube::printable(describe(graph, vertex)));
  if (result.path.back() != last) {
    result.path.push_back(last);
    result.isNotWorking = true;
  }
  return result;
}

// Returns true if one of the chains ends where the root's object has its reason.
bool goesOn(const graph::Graph& graph, const graph::RootBlocker& root, const SpecBlockers& specBlockers,
            const std::vector<SpecChain>& chains) {
  if (root.kind != graph::RootBlocker::Kind::Object) return false;
  const auto found = specBlockers.find(graph.key(graph::objectOf(root.vertex)));
  const graph::EdgeKind kind = root.path.empty() ? graph::EdgeKind::Requires : root.path.back().kind;
  const auto isTold = [&](const SpecBlocker& one) {
    return endsChain(one, kind) && std::ranges::any_of(chains, [&](const SpecChain& chain) {
             return chain.blocker->cause == one.cause &&
                    chain.blocker->objects.front() == one.objects.front();
           });
  };
  return found != specBlockers.end() && std::ranges::any_of(found->second, isTold);
}

// What Kubernetes deletes by itself as it ends the Namespace or CRD at the start.
bool goesWithStart(const graph::Graph& graph, const graph::RootBlocker& root) {
  if (root.kind != graph::RootBlocker::Kind::Object || root.path.size() != 1) return false;
  const graph::EdgeKind kind = root.path.front().kind;
  const graph::ObjectId object = graph::objectOf(root.vertex);
  return (kind == graph::EdgeKind::Content || kind == graph::EdgeKind::Instance) &&
         !graph.isTerminating(object) && graph.finalizers(object).empty();
}

void addRoots(Why& result, ExplanationReader reader, const graph::Graph& graph, graph::Vertex start,
              const graph::Blockers& search, const SpecFindings& specs) {
  const SpecBlockers& specBlockers = specs.blockers;
  result.rootsLeftOut = search.rootsLeftOut;
  result.complete = search.complete;
  const SpecChains found =
      specBlockers.empty() ? SpecChains() : specChains(graph, start, specBlockers, kWhyLimits.vertices);
  const auto isLeftOut = [&](const graph::RootBlocker& root) {
    return (result.terminating && goesWithStart(graph, root)) ||
           goesOn(graph, root, specBlockers, found.chains);
  };
  const bool areAllLeftOut = found.chains.empty() && std::ranges::all_of(search.roots, isLeftOut);
  for (const graph::RootBlocker& root : search.roots) {
    if (areAllLeftOut || !isLeftOut(root))
      result.roots.push_back(whyRoot(reader, graph, start, root, specs.removals));
  }
  if (specBlockers.empty()) return;
  for (const SpecChain& chain : found.chains) result.roots.push_back(whyRoot(graph, chain));
  result.complete = result.complete && found.complete;
  std::ranges::stable_sort(result.roots, {}, [](const WhyRoot& root) { return root.path.size(); });
  if (result.roots.size() <= kWhyLimits.roots) return;
  result.rootsLeftOut += static_cast<uint32_t>(result.roots.size() - kWhyLimits.roots);
  result.roots.resize(kWhyLimits.roots);
}

// What a CriticalService records about this very object.
std::string deferredDeletionOf(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& key,
                               graph::ObjectId object) {
  for (const GuardEntry& guardEntry : index.guardEntries(key)) {
    const criticalservice::CriticalService& service = index.service(guardEntry.service);
    const bool isItself = criticalservice::keyOf(service) == key;
    if (service.deferral == criticalservice::DeferralMode::Never ||
        !recordsDeferral(guardEntry.guardedAs, isItself))
      continue;
    for (const criticalservice::DeferredDeletion& deletion : service.deferredDeletions.deletions) {
      if (deletion.object != key || !graph.hasUid(object, deletion.uid)) continue;
      const std::chrono::sys_seconds at{std::chrono::seconds(deletion.requestedAt)};
      return "its deletion is deferred: " + kube::printable(deletion.requestedBy) + " asked for it" +
             (deletion.requestedAt == 0 ? "" : " at " + kube::timestampText(at)) +
             ", and lastout runs it once it may";
    }
  }
  return {};
}

// Nobody can delete an object that does not exist: API servers answer NotFound, and ask no webhook.
void tellNotFound(Why& result) {
  result.allowed = true;
  result.reason = kNotFound;
  result.message =
      result.object +
      " is not there: a DELETE of it is answered with NotFound; were it there: " + result.message;
  result.blockers.clear();
}

// API servers refuse its deletion by themselves, whoever asks.
SpecBlocker refusedByServers(const kube::GroupResource& type) {
  return {.refusesDeletion = true,
          .reason = std::string(kNeverDeleted),
          .message = neverDeletedText(type) + ": it answers with 403, whoever asks"};
}

}  // namespace

// As a review answers: what CriticalServices say comes first, then each policy that denies; then what would
// hold the object.
void Why::join(const std::vector<protection::Denial>& denials) {
  for (const bool isHeld : {false, true}) {
    std::vector<std::string> messages;
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
      messages.push_back(kube::printableWhole(protection::onOneLine(one.message)));
    }
    protection::addMessages(message, messages, isHeld ? messages.size() : kMostCauses);
  }
}

void Why::join(const std::vector<SpecBlocker>& specBlockers) {
  for (const SpecBlocker& one : specBlockers) {
    if (one.refusesDeletion) {
      if (allowed) {
        reason = one.reason;
        message.clear();
      }
      allowed = false;
      if (!message.empty()) message += "; ";
      message += kube::printableWhole(one.message);
    }
    if (one.refusesDeletion || one.keeps)
      blockers.push_back({one.reason, kube::printableWhole(one.message), kube::printable(one.field)});
  }
}

namespace {

// Without what API servers refuse by themselves.
Why whyByContent(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
                 ExplanationReader reader, const std::vector<protection::Denial>& protections,
                 const SpecFindings& specs) {
  const auto found = graph.findNamed(object);
  const DeletionEffect deletionEffect = found ? deletionEffectOf(graph, *found) : DeletionEffect::Ending;
  const Verdict verdict =
      decide(GraphFacts(graph, index), index.rules(), index.guardEntries(object), deletionEffect);
  Explanation explanation = explainTo(reader, graph, index, admission::viewOf(object), verdict);
  Why result;
  result.object = kube::printable(toString(object));
  result.allowed = verdict.allowed;
  result.guarded = verdict.guarded || !verdict.allowed;
  result.reason = toString(verdict.reason);
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
  const auto type = graph.findType(object.type);
  if (!result.present && !result.allowed && type && believable(graph.knowledge(*type))) {
    tellNotFound(result);
    return result;
  }
  if (found && result.present) result.unservedFinalizers = unservedFinalizers(graph, index, *found);
  const auto bySpecs = specs.blockers.find(object);
  const bool isBlockedBySpecs = bySpecs != specs.blockers.end() && isTold(bySpecs->second);
  if (!found || (!result.isBlocked() && !isBlockedBySpecs)) return result;
  const graph::Vertex start = graph::vertexOf(*found);
  const graph::Blockers search = graph::blockers(graph, start, kWhyLimits);
  if (result.terminating && result.allowed && !verdict.held) {
    for (const graph::DirectBlocker& blocker : search.direct) {
      if (blocker.kind == graph::EdgeKind::Content)
        std::ranges::move(contentBlockers(graph, start, blocker), std::back_inserter(result.blockers));
      else if (bySpecs == specs.blockers.end() || !isNamedBy(bySpecs->second, graph, blocker))
        result.blockers.push_back(directBlocker(reader, graph, blocker));
    }
  }
  if (bySpecs != specs.blockers.end()) result.join(bySpecs->second);
  if (result.terminating && result.allowed && !verdict.held)
    addFinalizerBlockers(graph, index, *found, specs.removals, !protections.empty(), result.blockers);
  addRoots(result, reader, graph, start, search, specs);
  return result;
}

}  // namespace

std::string neverDeletedText(const kube::GroupResource& type) {
  const auto all = [](const auto& names) { return kube::listed({names.begin(), names.end()}); };
  return "no API server deletes the " + (type == kube::kNamespaces
                                             ? "Namespaces " + all(kube::kImmortalNamespaces)
                                             : "PriorityClasses " + all(kube::kImmortalPriorityClasses));
}

Why why(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
        ExplanationReader reader, const std::vector<protection::Denial>& protections,
        const SpecFindings& specs) {
  Why result = whyByContent(graph, index, object, reader, protections, specs);
  if (result.present && kube::isImmortal(object)) result.join({refusedByServers(object.type)});
  return result;
}

}  // namespace lastout::admission
