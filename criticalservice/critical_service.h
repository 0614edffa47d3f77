// CriticalService: who the provider is, and what must be gone before it may go. Source: the generic-delete-protection
// design; fields and JSON names are that document's.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graph/condition.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// spec.deletionIntent: what may happen to the CriticalService while its provider is still there. May be set at any
// time, also after deletion was requested. The verdicts are the table in docs/verdicts.md.
enum class DeletionIntent : uint8_t {
  Ordered,             // it stays until its provider is gone (the default)
  BestEffortDeletion,  // it may go before its provider; until then it guards as usual
  OrphanResources,     // it may go, and its provider is no longer guarded
};

struct FinalizerCriterion {
  kube::GroupResource type;
  std::string finalizerName;
  auto operator<=>(const FinalizerCriterion&) const = default;
};

struct SpecificResourceCriterion {
  kube::ObjectKey object;
  auto operator<=>(const SpecificResourceCriterion&) const = default;
};

using Criterion = std::variant<FinalizerCriterion, SpecificResourceCriterion>;

struct CriticalService {
  kube::ObjectMeta meta;
  kube::ObjectKey provider;
  std::vector<Criterion> criteria;
  DeletionIntent intent = DeletionIntent::Ordered;
  std::string providerUid;  // status.provider.uid: the provider it has seen first; empty while it saw none
};

// The type's own names.
kube::GroupResource criticalServiceType();  // criticalservices.lastout.dev

// A manifest into a CriticalService: every unknown type, missing or double union member, empty name and unknown field
// has its own message. `types` resolves `resource: CustomResourceDefinition`, the way the document writes it.
tl::expected<CriticalService, kube::Errors> parse(const kube::Object& object, const kube::ResourceMap& types);

// What keeps the criterion unmet, as the graph's condition.
graph::Condition conditionOf(const Criterion& criterion);

}  // namespace lastout::criticalservice
