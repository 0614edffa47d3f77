#include "graph/blockers.h"
#include "graph/dump_selection.h"
#include "graph/names.h"
#include "kube/messages.h"

namespace lastout::graph {

namespace {

// Mermaid has no escapes, only character codes: everything that it, its Markdown or the HTML that it makes
// could read becomes one.
std::string mermaidString(std::string_view text) {
  constexpr std::string_view kSpecial = "\"#&<>`*_\\[]{}()|;~";
  std::string result = "\"";
  for (const char character : kube::printable(text)) {
    if (kSpecial.find(character) == std::string_view::npos) {
      result += character;
    } else {
      result += "#" + std::to_string(static_cast<int>(character)) + ";";
    }
  }
  return result + "\"";
}

std::string classOf(const Graph& graph, Vertex vertex, const DumpOptions& options) {
  if (!isObject(graph, vertex)) return isMet(graph, conditionOf(graph, vertex)) ? ":::met" : "";
  if (options.verdict) {
    if (const std::optional<DumpVerdict> verdict = options.verdict(objectOf(vertex))) {
      if (!verdict->allowed) return ":::denied";
      return verdict->held ? ":::held" : ":::allowed";
    }
  }
  return graph.object(objectOf(vertex)).terminating ? ":::terminating" : "";
}

std::string arrow(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Requires:
      return " --> ";
    case EdgeKind::Holder:
      return " -.-> ";
    default:
      return " -. " + std::string(toString(kind)) + " .-> ";
  }
}

}  // namespace

std::string dumpMermaid(const Graph& graph, const DumpOptions& options) {
  const DumpSelection selection = select(graph, options);
  std::string text = "%% An arrow leads from what goes after to what it goes after.\n";
  if (!options.note.empty()) text += "%% " + kube::printable(options.note) + "\n";
  text +=
      "flowchart LR\n"
      "  classDef absent stroke-dasharray:4\n  classDef terminating fill:#ddd\n"
      "  classDef denied stroke:#c00,stroke-width:2px\n  classDef allowed stroke:#080,stroke-width:2px\n"
      "  classDef held stroke:#c80,stroke-width:2px\n"
      "  classDef met stroke:#080,stroke-dasharray:4\n";
  for (size_t i = 0; i < selection.vertices.size(); ++i) {
    const Vertex vertex = selection.vertices[i];
    const std::string label = mermaidString(describe(graph, vertex));
    text += "  n" + std::to_string(i) + (isObject(graph, vertex) ? "[" + label + "]" : "([" + label + "])") +
            classOf(graph, vertex, options) + "\n";
    if (isObject(graph, vertex) && !graph.isPresent(objectOf(vertex))) {
      text += "  class n" + std::to_string(i) + " absent\n";  // besides that of its verdict
    }
  }
  for (const DrawnEdge& edge : selection.edges) {
    text += "  n" + std::to_string(edge.source) + arrow(edge.kind) + "n" + std::to_string(edge.target) + "\n";
  }
  if (selection.leftOut > 0) {
    text += "  more[" + mermaidString(std::to_string(selection.leftOut) + " more left out") + "]\n";
  }
  return text;
}

}  // namespace lastout::graph
