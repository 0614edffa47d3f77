#include "graph/names.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "kube/messages.h"
#include "kube/object_references.h"
#include "kube/patterns.h"
#include "kube/reference.h"
#include "kube/well_known.h"

namespace lastout::graph {

std::string_view toString(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::Unknown:
      return "Unknown";
    case Knowledge::Synced:
      return "Synced";
    case Knowledge::Stale:
      return "Stale";
    case Knowledge::Absent:
      return "Absent";
    case Knowledge::Forbidden:
      return "Forbidden";
    case Knowledge::Unserved:
      return "Unserved";
    case Knowledge::NotUnderstood:
      return "NotUnderstood";
  }
  return {};
}

kube::GroupResource notUnderstoodType() { return {std::string(kube::kLastoutGroup), "notunderstood"}; }

bool covers(const Condition& wide, const Condition& narrow) {
  Condition same = wide;
  same.type = narrow.type;
  same.finalizer = narrow.finalizer;
  same.scope = narrow.scope;
  return same == narrow && kube::coversTypes(wide.type, narrow.type) &&
         kube::coversFinalizers(wide.finalizer, narrow.finalizer) && kube::covers(wide.scope, narrow.scope);
}

bool isAbout(const Condition& condition, const kube::ObjectKey& object) {
  return kube::meansType(condition.type, object.type) &&
         condition.scope.includes(object.type, object.namespaceName, object.name);
}

std::string toString(const Condition& condition) {
  if (condition.type == notUnderstoodType()) return "what is meant by " + condition.name;
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      if (kube::isWantedReference(condition.finalizer)) {
        const kube::WantedReference wanted = kube::wantedReferenceOf(condition.finalizer);
        return kube::toString(wanted.fields) + " of " + kube::toString(condition.type) + " naming " +
               kube::toString(wanted.target) + (wanted.kind.empty() ? "" : " as " + wanted.kind);
      }
      return "finalizer " + condition.finalizer + " on " + kube::toString(condition.type) +
             kube::inWords(condition.scope, SIZE_MAX);
    case Condition::Kind::Object: {
      const kube::ObjectKey key{condition.type, condition.namespaceName, condition.name};
      return "existence of " + kube::toString(key) +
             (condition.uid.empty() ? "" : " with uid " + condition.uid);
    }
    case Condition::Kind::NamespaceContent:
      return "content of namespace " + condition.name;
    case Condition::Kind::Instances:
      return "instances of " + kube::toString(condition.type);
  }
  return {};
}

std::string describe(const Graph& graph, Vertex vertex) {
  return isObject(graph, vertex) ? kube::toString(graph.key(objectOf(vertex)))
                                 : toString(graph.condition(conditionOf(graph, vertex)));
}

bool namedBefore(const Graph& graph, Vertex a, Vertex b) {
  const bool aIsObject = isObject(graph, a);
  if (aIsObject != isObject(graph, b)) return aIsObject;
  if (!aIsObject) {
    return std::less<>()(graph.condition(conditionOf(graph, a)), graph.condition(conditionOf(graph, b)));
  }
  const ObjectView first = graph.object(objectOf(a));
  const ObjectView second = graph.object(objectOf(b));
  return std::tie(first.group, first.resource, first.namespaceName, first.name) <
         std::tie(second.group, second.resource, second.namespaceName, second.name);
}

namespace {

constexpr size_t kMostNamed = 5;
constexpr size_t kMostCompared = 10'000;  // names, to find the nearest

// Returns the objects of one type, absent ones that something names included, in the order of their names.
std::vector<kube::ObjectKey> namedObjectsOf(const Graph& graph, const kube::GroupResource& type) {
  std::vector<kube::ObjectKey> keys;
  const auto wanted = graph.findType(type);
  if (!wanted) return keys;
  for (uint32_t slot = 0; slot < graph.objectSlots(); ++slot) {
    const ObjectId object{slot};
    if (graph.isLive(object) && graph.object(object).type == *wanted) keys.push_back(graph.key(object));
  }
  std::sort(keys.begin(), keys.end(), [](const kube::ObjectKey& a, const kube::ObjectKey& b) {
    return std::tie(a.namespaceName, a.name) < std::tie(b.namespaceName, b.name);
  });
  return keys;
}

std::string quoted(std::string_view reference) { return '"' + std::string(reference) + "\" "; }

std::string namesNothing(const kube::ObjectPattern& pattern, const std::vector<kube::ObjectKey>& candidates) {
  const std::string type = kube::toString(pattern.key.type);
  if (candidates.empty()) return "names nothing: there are no " + type;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::min(candidates.size(), kMostCompared); ++i) names.push_back(candidates[i].name);
  const std::string_view near = kube::nearest(pattern.key.name, names);
  const auto meant = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const kube::ObjectKey& key) { return key.name == near; });
  if (meant != candidates.end()) return "names nothing; did you mean " + kube::toString(*meant) + "?";
  return "names nothing; there are " + someOf(candidates);
}

}  // namespace

std::string someOf(const std::vector<kube::ObjectKey>& keys) {
  return kube::listed(kube::wordsOf(keys), kMostNamed);
}

kube::Result<FoundObject> findObject(const Graph& graph, std::string_view reference,
                                     const kube::ResourceMap& types) {
  const kube::Result<kube::ObjectPattern> pattern = kube::parsePattern(reference, types);
  if (!pattern) return tl::unexpected(pattern.error());
  const bool isWhole = !pattern->hasGlob() && !pattern->anyNamespace;
  if (isWhole && graph.findNamed(pattern->key)) return FoundObject{pattern->key, {}};
  const std::vector<kube::ObjectKey> candidates = namedObjectsOf(graph, pattern->key.type);
  std::vector<kube::ObjectKey> found;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(found),
               [&](const kube::ObjectKey& key) { return pattern->matches(key); });
  if (found.size() == 1) return FoundObject{std::move(found.front()), {}};
  if (found.size() > 1) {
    return tl::unexpected(kube::Error{quoted(reference) + "names " + std::to_string(found.size()) +
                                          " objects: " + someOf(found) + "; choose one",
                                      "",
                                      {}});
  }
  FoundObject none{{}, quoted(reference) + namesNothing(*pattern, candidates)};
  if (isWhole) none.key = pattern->key;
  return none;
}

}  // namespace lastout::graph
