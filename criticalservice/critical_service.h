// CriticalService: who the provider is, and what must be gone before it may go. Source: the
// generic-delete-protection design; fields and JSON names are that document's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "criticalservice/put_off.h"
#include "graph/condition.h"
#include "kube/object.h"

namespace lastout::criticalservice {

inline constexpr std::string_view kApiVersion = "lastout.dev/v1alpha1";
inline constexpr std::string_view kKind = "CriticalService";

// spec.deletionIntent: what may happen to the CriticalService while its provider is still there. May be set
// at any time, also after deletion was requested. The verdicts are the table in docs/verdicts.md.
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
  bool guardsScaling = false;  // spec.guard.scaleToZero: scaling the provider to zero is like deleting it
  Replay replay = Replay::Controllers;
  std::string providerUid;  // status.provider.uid: the provider it has seen first; empty while it saw none
  PutOffs putOff;           // status.putOff
};

// The type's own names.
kube::GroupResource criticalServiceType();  // criticalservices.lastout.dev
kube::ObjectKey keyOf(const CriticalService& service);

std::string_view toString(DeletionIntent intent);  // the word in spec.deletionIntent
const kube::GroupResource& typeOf(const Criterion& criterion);
// "finalizer my.crd.group/super-important on coolresources.my.crd.group",
// "customresourcedefinitions.apiextensions.k8s.io/x"
std::string toString(const Criterion& criterion);

// A manifest into a CriticalService: every unknown type, missing or double union member, empty name and
// unknown field has its own message. `types` resolves `resource: CustomResourceDefinition`, the way the
// document writes it. A type that is not installed is no error
// (docs/decisions/criticalservice-validation.md): warnings() names it. Of the status only provider.uid
// and putOff are read; what else stands there is left to whoever wrote it.
tl::expected<CriticalService, kube::Errors> parse(const kube::Object& object, const kube::ResourceMap& types);
// Likewise, of one that was accepted once, and guards: what only a writer could mend is no error, such as a
// criterion whose type turned out to be namespaced, or is called otherwise. So it means the same whatever
// CRDs come and go.
tl::expected<CriticalService, kube::Errors> parseStanding(const kube::Object& object);

// The manifest that parse() reads into the same value: apiVersion, kind, metadata (name and uid), spec, and
// what the status says of the provider that was seen.
kube::Value toManifest(const CriticalService& service);

// What keeps the criterion unmet, as the graph's condition.
graph::Condition conditionOf(const Criterion& criterion);
// Held while the provider is there, whatever its uid.
graph::Condition providerCondition(const CriticalService& service);

}  // namespace lastout::criticalservice
