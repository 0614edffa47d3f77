#include "graph/blockers.h"
#include "graph/dump_selection.h"
#include "graph/names.h"
#include "kube/messages.h"

namespace lastout::graph {

namespace {

// A quoted string of what is printable; in labels Graphviz reads backslashes and would read "\n", "\N" and
// the like.
std::string inDotQuotes(const std::string& printable) {
  std::string result = "\"";
  for (const char character : printable) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + "\"";
}

std::string dotString(std::string_view text) { return inDotQuotes(kube::printable(text)); }

std::string_view colorOf(const DumpVerdict& verdict) {
  if (!verdict.allowed) return "red";
  return verdict.held ? "darkorange" : "darkgreen";
}

std::string objectLine(const Graph& graph, ObjectId object, const DumpOptions& options) {
  const ObjectView view = graph.object(object);
  std::string attributes = "shape=box";
  if (!view.present) attributes += " style=dashed";
  if (view.terminating) attributes += " style=filled fillcolor=lightgrey";
  const std::optional<DumpVerdict> verdict =
      options.verdict ? options.verdict(object) : std::optional<DumpVerdict>();
  if (verdict.has_value()) {
    attributes += " color=" + std::string(colorOf(*verdict)) + " penwidth=2";
    attributes += " tooltip=" + inDotQuotes(kube::printableWhole(verdict->text));
  }
  return attributes;
}

std::string conditionLine(const Graph& graph, ConditionId condition) {
  return isMet(graph, condition) ? "shape=ellipse style=dashed color=darkgreen" : "shape=ellipse";
}

std::string edgeAttributes(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Requires:
      return "";
    case EdgeKind::Holder:
      return " [style=dashed]";
    default:
      return " [style=dotted label=" + dotString(toString(kind)) + "]";
  }
}

}  // namespace

std::string dumpDot(const Graph& graph, const DumpOptions& options) {
  const DumpSelection selection = select(graph, options);
  std::string text = "// An arrow leads from what goes after to what it goes after.\n";
  if (!options.note.empty()) text += "// " + kube::printable(options.note) + "\n";
  text += "digraph lastout {\n  rankdir=LR\n";
  for (size_t i = 0; i < selection.vertices.size(); ++i) {
    const Vertex vertex = selection.vertices[i];
    text += "  n" + std::to_string(i) + " [label=" + dotString(describe(graph, vertex)) + " ";
    text += isObject(graph, vertex) ? objectLine(graph, objectOf(vertex), options)
                                    : conditionLine(graph, conditionOf(graph, vertex));
    text += "]\n";
  }
  for (const DrawnEdge& edge : selection.edges) {
    text += "  n" + std::to_string(edge.source) + " -> n" + std::to_string(edge.target) +
            edgeAttributes(edge.kind) + "\n";
  }
  if (selection.leftOut > 0) {
    text +=
        "  more [shape=plaintext label=" + dotString(std::to_string(selection.leftOut) + " more left out") +
        "]\n";
  }
  return text + "}\n";
}

}  // namespace lastout::graph
