#include "admission/explain.h"

#include <algorithm>
#include <utility>

#include "admission/cause_list.h"
#include "admission/denial_text.h"
#include "admission/text_writer.h"
#include "graph/edges.h"
#include "kube/crd.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

// One reason that is no blocker of any service.
void explainAlone(Explanation& explanation, Reason reason, TextWriter& text, std::string_view why,
                  std::string_view advice) {
  text << why << advice;
  explanation.message = text.take();
  if (explanation.message.size() > kLongestMessage) {
    explanation.message.replace(kLongestMessage - 3, std::string::npos, "...");
  }
  CauseList causes;
  causes.start(toString(reason)) << why;
  causes.moveTo(explanation);
}

void explainServicesUnknown(Explanation& explanation, ExplanationReader reader, const graph::Graph& graph,
                            const GuardIndex& index, TextWriter& text) {
  const graph::Knowledge knowledge = graph.knowledge(index.allServices());
  const kube::GroupResource type = criticalservice::criticalServiceType();
  TextWriter why(reader);
  why.unknownBecause(graph, type, knowledge);
  TextWriter advice(reader);
  if (knowledge == graph::Knowledge::Forbidden) {
    (advice << "; ").grant(type);
  } else {
    advice << "; try again when lastout has listed them";
  }
  text << " must stay while it is not known what is guarded: ";
  explainAlone(explanation, Reason::ServicesUnknown, text, why.view(), advice.view());
}

// Which of two guard entries is told: the one whose service's name comes first.
void choose(const GuardIndex& index, const GuardEntry*& chosen, const GuardEntry& guardEntry) {
  if (chosen != nullptr &&
      index.service(chosen->service).meta.name <= index.service(guardEntry.service).meta.name)
    return;
  chosen = &guardEntry;
}

void explainAllowed(Explanation& explanation, const graph::Graph& graph, const GuardIndex& index,
                    const KeyView& object, TextWriter& text) {
  const GraphFacts facts(graph, index);
  const GuardEntry* guarding = nullptr;
  const GuardEntry* released = nullptr;  // by its service's intent
  for (const GuardEntry& guardEntry : index.guardEntries(object)) {
    choose(index, detail::factsOf(facts, index.rules(), guardEntry).guards ? guarding : released, guardEntry);
  }
  if (guarding != nullptr) {
    const criticalservice::CriticalService& service = index.service(guarding->service);
    text << " may be deleted: ";
    if (detail::factsOf(facts, index.rules(), *guarding).providerGone) {
      (text << "provider ").key(viewOf(service.provider)) << " is gone";
    } else {
      (text << "what ").service(service.meta.name) << " waits for is gone";
    }
  } else if (released != nullptr) {
    const criticalservice::CriticalService& service = index.service(released->service);
    (text << " may be deleted: spec.deletionIntent of ").service(service.meta.name)
        << " is " << criticalservice::toString(service.intent);
  } else {
    text << " is not guarded";
  }
  explanation.message = text.take();
}

// By its key alone: a criterion about finalizers also asks for what the object carries.
bool mayHold(const graph::Graph& graph, const kube::ObjectKey& key,
             const criticalservice::Criterion& criterion) {
  if (const auto* specific = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion))
    return specific->object == key;
  if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion))
    return isAboutIn(graph, *finalizer, key);
  return criticalservice::typeOf(criterion) == key.type;
}

bool holds(const graph::Graph& graph, const kube::ObjectKey& key,
           const criticalservice::Criterion& criterion) {
  if (!mayHold(graph, key, criterion)) return false;
  const auto object = graph.find(key);
  if (!object || graph.isTerminating(*object)) return false;
  if (std::holds_alternative<criticalservice::ReferenceCriterion>(criterion)) {
    const auto condition = graph.findCondition(criticalservice::conditionOf(criterion));
    bool isHolder = false;
    graph::forEachInEdge(graph, graph::vertexOf(*object), [&](graph::Vertex source, graph::EdgeKind) {
      isHolder = isHolder || (condition && source == graph::vertexOf(graph, *condition));
    });
    return isHolder;
  }
  const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion);
  if (finalizer == nullptr) return true;
  return criticalservice::carriesIn(graph)(key, finalizer->finalizerName);
}

// What it waits for is told as of a denial.
void explainHeld(Explanation& explanation, ExplanationReader reader, const graph::Graph& graph,
                 const GuardIndex& index, const KeyView& object, TextWriter& text) {
  DenialText denial(reader, graph, index, object);
  if (denial.empty()) {
    text << kHeldSentence << "it is confirmed that it may go";
    explanation.message = text.take();
    return;
  }
  explanation.message = denial.heldSentence();
  denial.moveCausesTo(explanation);
}

}  // namespace

std::string_view toString(Reason reason) {
  switch (reason) {
    case Reason::NotGuarded:
      return "NotGuarded";
    case Reason::CriteriaMet:
      return "CriteriaMet";
    case Reason::Held:
      return "Held";
    case Reason::ServicesUnknown:
      return "ServicesUnknown";
    case Reason::ProviderPresent:
      return "ProviderPresent";
    case Reason::ProviderUnknown:
      return "ProviderUnknown";
    case Reason::CriterionUnmet:
      return "CriterionUnmet";
    case Reason::CriterionUnknown:
      return "CriterionUnknown";
    case Reason::ServicesLeft:
      return "ServicesLeft";
    case Reason::Unconfirmed:
      return "Unconfirmed";
    case Reason::Invalid:
      return "Invalid";
    case Reason::Forbidden:
      return "Forbidden";
    case Reason::Protected:
      return "Protected";
    case Reason::ProtectionUnknown:
      return "ProtectionUnknown";
  }
  return "";
}

Explanation explainTo(ExplanationReader reader, const graph::Graph& graph, const GuardIndex& index,
                      const KeyView& object, const Verdict& verdict, std::string_view detail) {
  constexpr size_t kLongestName = 160;
  Explanation explanation;
  explanation.revision = graph.revision();
  TextWriter text(kLongestName, reader);
  if (verdict.allowed && verdict.reason == Reason::Held) {
    explainHeld(explanation, reader, graph, index, object, text.key(object));
  } else if (verdict.allowed) {
    explainAllowed(explanation, graph, index, object, text.key(object));
  } else if (verdict.reason == Reason::ServicesUnknown) {
    explainServicesUnknown(explanation, reader, graph, index, text.key(object));
  } else if (verdict.reason == Reason::Unconfirmed) {
    text.key(object) << " must stay until the API server has confirmed that nothing blocks it: ";
    explainAlone(explanation, verdict.reason, text,
                 detail.empty() ? std::string_view("the confirming read failed") : detail, "; try again");
  } else {
    DenialText denial(reader, graph, index, object,
                      verdict.held ? DeletionEffect::Held : DeletionEffect::Ending);
    if (denial.empty()) {
      text.key(object) << " was denied: ";
      explainAlone(explanation, verdict.reason, text, "what blocked it is gone meanwhile", "; try again");
    } else {
      explanation.message = denial.sentence();
      denial.moveCausesTo(explanation);
    }
  }
  return explanation;
}

Explanation explain(const graph::Graph& graph, const GuardIndex& index, const KeyView& object,
                    const Verdict& verdict, std::string_view detail) {
  return explainTo(ExplanationReader::OfLastout, graph, index, object, verdict, detail);
}

Explanation explain(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
                    const Verdict& verdict, std::string_view detail) {
  return explain(graph, index, viewOf(object), verdict, detail);
}

std::optional<OwnHolder> ownHolder(const graph::Graph& graph, const criticalservice::CriticalService& service,
                                   const criticalservice::Criterion& criterion,
                                   const Dependencies& dependencies) {
  if (!criticalservice::doubtOf(criterion).empty()) return std::nullopt;
  const auto holding = [&](const kube::ObjectKey& key) { return holds(graph, key, criterion); };
  const kube::ObjectKey& provider = service.provider;
  if (holding(provider)) return OwnHolder{provider, "its own provider"};
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  if (type == kube::kNamespaces && !provider.namespaceName.empty()) {
    kube::ObjectKey home = kube::namespaceKey(provider.namespaceName);
    if (holding(home)) return OwnHolder{std::move(home), "the namespace of its own provider"};
  }
  if (type == kube::kCustomResourceDefinitions) {
    kube::ObjectKey definition = kube::crdKey(provider.type);
    if (holding(definition)) return OwnHolder{std::move(definition), "the CRD of its own provider"};
  }
  for (const criticalservice::Dependency& dependency : dependencies) {
    if (holding(dependency.object)) return OwnHolder{dependency.object, "which its own provider needs"};
  }
  return std::nullopt;
}

bool writeUnresolvable(TextWriter& text, const graph::Graph& graph,
                       const criticalservice::CriticalService& service, size_t criterion,
                       const Dependencies& dependencies) {
  const auto holder = ownHolder(graph, service, service.criteria[criterion], dependencies);
  if (!holder) return false;
  (text << kNoDeletion).service(service.meta.name) << "#";
  text << criticalservice::fieldOf(service, criterion) << " waits for ";
  text.key(viewOf(holder->object)) << ", " << holder->relation << ": ";
  const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&service.criteria[criterion]);
  const std::string& home = service.provider.namespaceName;
  const kube::ObjectKey& key = holder->object;
  const bool isAtHome = !home.empty() && kube::isPartOfNamespace(home, key.type, key.namespaceName, key.name);
  if (finalizer != nullptr && isAtHome && finalizer->scope.kind == kube::NamespaceScope::Kind::All)
    text << "set finalizer." << criticalservice::kExceptField
         << " of that criterion to true, or change it otherwise";
  else
    text << "change that criterion";
  text << " (with spec.deletionIntent OrphanResources while it is not met)";
  if (finalizer != nullptr) {
    (text << ", or take finalizer ").name(finalizer->finalizerName) << " off ";
    text.key(viewOf(holder->object));
  }
  return true;
}

std::string whyUnresolvable(const graph::Graph& graph, const criticalservice::CriticalService& service,
                            size_t criterion) {
  TextWriter text;
  writeUnresolvable(text, graph, service, criterion, {});
  return text.take();
}

std::string whyUnmet(const graph::Graph& graph, const criticalservice::Criterion& criterion) {
  const auto condition = graph.findCondition(criticalservice::conditionOf(criterion));
  const graph::Knowledge knowledge = condition ? graph.knowledge(*condition) : graph::Knowledge::Unknown;
  TextWriter text;
  if (condition && graph.holders(*condition) > 0) {
    Holders holders;
    writeUnmetCriterion(text, graph, criterion, *condition, holders);
  } else if (!believable(knowledge)) {
    writeNotKnown(text, graph, criterion, knowledge);
  }
  return text.take();
}

std::string whyUnknown(const graph::Graph& graph, const kube::GroupResource& type) {
  const auto known = graph.findType(type);
  TextWriter text;
  text.unknownBecause(graph, type, known ? graph.knowledge(*known) : graph::Knowledge::Unknown);
  return text.take();
}

}  // namespace lastout::admission
