#include "admission/criterion_words.h"

#include <variant>

#include "admission/decide.h"

namespace lastout::admission {
void writeHeld(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
               graph::ConditionId condition, Holders& holders) {
  findHolders(graph, condition, holders);
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  const graph::Knowledge knowledge = graph.knowledge(condition);
  const bool one = holders.count == 1;
  if (one) {
    text.key({type.group, type.resource, graph.namespaceName(holders.examples[0]),
              graph.name(holders.examples[0])});
  } else {
    text.number(holders.count).letter(' ').type(type);
  }
  const bool isConverted = std::holds_alternative<criticalservice::InstancesCriterion>(criterion);
  if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion)) {
    text.either(one, " has finalizer ", " have finalizer ").name(finalizer->finalizerName);
  } else {
    text.either(one, " exists", " exist");
  }
  if (one && !holders.live) text << " (being deleted)";
  if (!one) text.either(holders.shown < holders.count, " (among them ", " (").names(graph, holders) << ")";
  if (!believable(knowledge) && knowledge != graph::Knowledge::Unknown) {
    (text << " (when last seen: ").unknownBecause(graph, type, knowledge) << ")";
  }
  if (isConverted) text.either(one, ", and the provider converts it", ", and the provider converts them");
}

void writeNotKnown(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
                   graph::Knowledge knowledge) {
  if (const std::string_view doubt = criticalservice::doubtOf(criterion); !doubt.empty()) {
    (text << "it is not understood what ").name(criticalservice::toString(criterion)) << " asks for (";
    text.name(doubt) << ")";
    return;
  }
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  text << "it is not known whether ";
  if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion)) {
    ((text << "any ").type(type) << " has finalizer ").name(finalizer->finalizerName);
  } else if (std::holds_alternative<criticalservice::InstancesCriterion>(criterion)) {
    (text << "any ").type(type) << " is left for the provider to convert";
  } else {
    text.key(viewOf(std::get<criticalservice::SpecificResourceCriterion>(criterion).object)) << " exists";
  }
  (text << " (").unknownBecause(graph, type, knowledge) << ")";
}

}  // namespace lastout::admission
