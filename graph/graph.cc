// Changing a graph. Reading it is in graph_read.cc.
#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/interning.h"
#include "graph/nodes.h"
#include "graph/patterns.h"
#include "graph/requirements.h"
#include "kube/invariant.h"

namespace lastout::graph {

TypeId Graph::internType(const kube::GroupResource& type) {
  const uint32_t number = acquireType(tables_, type.group, type.resource);
  if (!std::exchange(tables_.types.write(number).pinned, true)) noteKnowledge(tables_, number);
  releaseType(tables_, number);
  return TypeId{number};
}

void Graph::forgetType(TypeId type) {
  const uint32_t number = static_cast<uint32_t>(type);
  acquireType(tables_, number);
  tables_.types.write(number).pinned = false;
  noteKnowledge(tables_, number);
  releaseType(tables_, number);
}

void Graph::setKnowledge(TypeId type, Knowledge knowledge) {
  const auto number = static_cast<uint32_t>(type);
  const Type& known = tables_.types[number];
  const bool isMeaningless = known.semantics == Type::Semantics::NotUnderstood;
  if (isMeaningless || (isPattern(known) ? known.ownKnowledge : known.knowledge) == knowledge) return;
  ++revision_;
  Type& record = tables_.types.write(number);
  (isPattern(record) ? record.ownKnowledge : record.knowledge) = knowledge;
  noteKnowledge(tables_, number);
}

void Graph::apply(std::span<const Change> changes) {
  constexpr size_t kAhead = 16;
  std::array<Incoming, kAhead> incoming;
  for (; !changes.empty(); changes = changes.subspan(std::min(kAhead, changes.size()))) {
    const std::span<const Change> some = changes.first(std::min(kAhead, changes.size()));
    for (size_t i = 0; i < some.size(); ++i) {
      if (some[i].kind == Change::Kind::Upsert)
        incoming[i] = prepare(tables_, static_cast<uint32_t>(some[i].type), *some[i].meta);
    }
    for (size_t i = 0; i < some.size(); ++i) {
      if (some[i].kind == Change::Kind::Upsert) {
        upsert(some[i].type, *some[i].meta, incoming[i]);
      } else {
        removeNamed(some[i].type, some[i].meta->namespaceName, some[i].meta->name);
      }
    }
  }
}

void Graph::upsert(TypeId type, const kube::ObjectMeta& meta) {
  upsert(type, meta, prepare(tables_, static_cast<uint32_t>(type), meta));
}

void Graph::upsert(TypeId type, const kube::ObjectMeta& meta, const Incoming& incoming) {
  ++revision_;
  if (setPresent(tables_, static_cast<uint32_t>(type), meta, incoming, scratch_)) ++present_;
  scratch_.clear();
}

void Graph::remove(const kube::ObjectKey& key) {
  const uint32_t type = graph::findType(tables_, key.type.group, key.type.resource);
  if (type != kNone) removeNamed(TypeId{type}, key.namespaceName, key.name);
}

void Graph::removeNamed(TypeId type, std::string_view namespaceName, std::string_view name) {
  const uint32_t node = findNode(tables_, static_cast<uint32_t>(type), namespaceName, name);
  if (node == kNone || !graph::isPresent(tables_, node)) return;
  ++revision_;
  LASTOUT_INVARIANT(present_ > 0);
  --present_;
  setAbsent(tables_, node);
}

ConditionId Graph::addCondition(const Condition& condition) {
  ++revision_;
  const uint32_t number = findOrAddCondition(tables_, condition);
  ++tables_.conditions.write(number).holds;
  return ConditionId{number};
}

void Graph::releaseCondition(ConditionId condition) {
  ++revision_;
  const uint32_t number = static_cast<uint32_t>(condition);
  auto& holds = tables_.conditions.write(number).holds;
  LASTOUT_INVARIANT(holds > 0);
  --holds;
  dropUnusedCondition(tables_, number);
}

void Graph::require(const kube::ObjectKey& subject, ConditionId condition, const Origin& origin) {
  ++revision_;
  addRequirement(tables_, subject, static_cast<uint32_t>(condition), origin);
}

ConditionId Graph::require(const kube::ObjectKey& subject, const Condition& condition, const Origin& origin) {
  ++revision_;
  const uint32_t number = findOrAddCondition(tables_, condition);
  addRequirement(tables_, subject, number, origin);
  return ConditionId{number};
}

void Graph::withdraw(const kube::ObjectKey& originObject) {
  const uint32_t node = findNode(tables_, originObject);
  if (node == kNone) return;
  ++revision_;
  removeRequirementsFrom(tables_, node);
}

}  // namespace lastout::graph
