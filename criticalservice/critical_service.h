// CriticalService: the provider, what must be gone before it may be deleted, and what status.provider records
// about it. Source: the generic-delete-protection design; fields and JSON names are that document's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "criticalservice/deferred_deletion.h"
#include "graph/condition.h"
#include "kube/object.h"
#include "kube/object_references.h"

namespace lastout::criticalservice {

inline constexpr std::string_view kKind = "CriticalService";

// spec.deletionIntent: what may happen to the CriticalService while its provider is still there. May be set
// at any time, also after deletion was requested. The verdicts are the table in docs/verdicts.md.
enum class DeletionIntent : uint8_t {
  Ordered,             // it stays until its provider is gone (the default)
  BestEffortDeletion,  // it may go before its provider; until then it guards as usual
  OrphanResources,     // it may go, and its provider is no longer guarded
};

// spec.enforcement: how the provider is kept. May be set at any time (docs/enforcement.md).
enum class EnforcementMode : uint8_t {
  Deny,  // its DELETE is denied while a criterion is unmet (the default)
  Hold,  // a DELETE that leaves what it runs is admitted, and a finalizer of lastout's keeps it until then
};

// A criterion is never met while it has a `doubt`: why nobody can say what it means. Empty: it is understood.
struct FinalizerCriterion {
  kube::GroupResource type;  // or a pattern (kube/patterns.h), as the next
  std::string finalizerName;
  bool metIfNotInstalled = false;  // ifNotInstalled: Met: nothing holds it although its type was never there
  std::string doubt = {};
  kube::NamespaceScope scope = {};  // `namespaces` or `exceptProviderNamespace`
  auto operator<=>(const FinalizerCriterion&) const = default;
};

struct SpecificResourceCriterion {
  kube::ObjectKey object;
  bool metIfNotInstalled = false;
  std::string doubt = {};
  auto operator<=>(const SpecificResourceCriterion&) const = default;
};

// No object of the type names the provider, or a dependency that is listed.
struct ReferenceCriterion {
  kube::GroupResource type;
  kube::WantedReference reference;
  bool metIfNotInstalled = false;
  std::string doubt = {};
  auto operator<=>(const ReferenceCriterion&) const = default;
};

// No object of the type is left. In no manifest: it follows from what the provider converts
// (criticalservice/dependencies.h), and stands behind the criteria that somebody wrote.
struct InstancesCriterion {
  kube::GroupResource type;
  auto operator<=>(const InstancesCriterion&) const = default;
};

// spec.guard.dependencies: what is guarded because the provider needs it to work.
enum class DependencyMode : uint8_t {
  Auto,    // what its Pods name, what binds and selects them, and what reaches them (the default)
  None,    // nothing
  Listed,  // what is listed
};

struct DependencySpec {
  DependencyMode mode = DependencyMode::Auto;
  std::vector<kube::ObjectKey> listed;  // when Listed
  friend bool operator==(const DependencySpec&, const DependencySpec&) = default;
};

using Criterion =
    std::variant<FinalizerCriterion, SpecificResourceCriterion, ReferenceCriterion, InstancesCriterion>;

struct CriticalService {
  kube::ObjectMeta meta;
  kube::ObjectKey provider;
  std::vector<Criterion> criteria;
  DeletionIntent intent = DeletionIntent::Ordered;
  EnforcementMode enforcement = EnforcementMode::Deny;
  DependencySpec dependencies;
  bool guardsScaling = false;  // spec.guard.scaleToZero: scaling the provider to zero is like deleting it
  DeferralMode deferral = DeferralMode::Controllers;
  bool hasFormerReplay = false;  // spec.replay is written, the former name of spec.deferredDeletions
  std::string providerUid;  // status.provider.uid: the provider it has seen first; empty while it saw none
  DeferredDeletions deferredDeletions;  // status.deferredDeletions
  // status.seenTypes: those types of its criteria, and those whose CRDs these name, that a CRD has defined.
  std::set<kube::GroupResource> seenTypes = {};
  // Why there can be no object of the provider's name ("widgets.my.crd.group are cluster-scoped: leave the
  // namespace out"); empty: there can be one. What was meant is not guarded: who wrote the name was asked for
  // rights to an object of that name, and to no other.
  std::string providerDoubt = {};
  std::map<size_t, std::string> dependencyDoubts = {};  // the same of some of dependencies.listed, by place
  // Why the spec cannot be understood; empty: it can. Otherwise it has one criterion, in doubt, on the
  // CriticalService itself, and of all else what could be read.
  kube::Errors notUnderstood = {};
};

// The type's own names.
kube::GroupResource criticalServiceType();  // criticalservices.lastout.dev
kube::ObjectKey keyOf(const CriticalService& service);
// "criticalservices.lastout.dev/guard", the CriticalService of that name as people read of it.
std::string nameInWords(std::string_view name);

std::string_view toString(DeletionIntent intent);        // the word in spec.deletionIntent
std::string_view toString(EnforcementMode enforcement);  // the word in spec.enforcement
const kube::GroupResource& typeOf(const Criterion& criterion);
std::string_view doubtOf(const Criterion& criterion);  // its `doubt`
// Returns true if the criterion says `ifNotInstalled: Met`.
bool isMetIfNotInstalled(const Criterion& criterion);
// Returns true if the criterion is about the object, by its type and its scope; what that carries aside.
bool isAbout(const FinalizerCriterion& criterion, const kube::ObjectKey& object);
// Returns those of the criteria that go on asking for all that `criterion` asks for: the same, and the same
// of more namespaces, types or finalizers. `ifNotInstalled` does not count, nor what nobody wrote.
std::vector<Criterion> stillAsking(const std::vector<Criterion>& criteria, const Criterion& criterion);
// Returns true if there is such a criterion that is otherwise the same in all.
bool isStillIn(const std::vector<Criterion>& criteria, const Criterion& criterion);
// Returns the criterion that goes on asking for a part of what `criterion` asks for, by its scope; nullptr:
// there is none.
const FinalizerCriterion* narrowedOf(const std::vector<Criterion>& criteria, const Criterion& criterion);
// Returns what of the criterion `narrowed`, as of narrowedOf(), does not ask for.
Criterion lostOf(const Criterion& criterion, const FinalizerCriterion& narrowed);
// Returns true if a CriticalService guards less by the intent `now` than by `former`.
bool isWeaker(DeletionIntent former, DeletionIntent now);
// The same of the enforcement. Each of the two keeps the provider where the other does not
// (docs/enforcement.md), so the other one always is.
bool isWeaker(EnforcementMode former, EnforcementMode now);
// The type whose CRD the criterion names; nullopt: it names none.
std::optional<kube::GroupResource> definedBy(const Criterion& criterion);
// "finalizer my.crd.group/super-important on coolresources.my.crd.group" (and " in namespace a"),
// "subnets.x that name vpcs.x/main in spec.vpcRef.name",
// "customresourcedefinitions.apiextensions.k8s.io/x", "any coolresources.my.crd.group"
std::string toString(const Criterion& criterion);
// The criteria that stand in the service's manifest, without doubts; none of a spec that is not understood.
std::vector<Criterion> writtenCriteria(const CriticalService& service);
// The field that asks for the service's criterion of that number: "spec.criteria[1]"; where nobody wrote
// it, kDependenciesField; "spec" where that is not understood.
std::string fieldOf(const CriticalService& service, size_t criterion);
inline constexpr size_t kMostSeenTypes = 1024;  // the limit in the CRD
inline constexpr std::string_view kDependenciesField = "spec.guard.dependencies";
// Returns the fields that Reference criteria of these services ask about, by the type of the objects.
using FieldsByType = std::map<kube::GroupResource, std::set<kube::ReferenceFields>>;
void addFields(const CriticalService& service, FieldsByType& fields);
// Returns the references of the object by these fields (kube/object_references.h).
std::vector<std::string> referencesOf(const kube::Object& object, const FieldsByType& fields);
// The fields of a Finalizer criterion that set its scope.
inline constexpr std::string_view kExceptField = "exceptProviderNamespace";
inline constexpr std::string_view kNamespacesField = "namespaces";
// Returns which of the two a scope is written as.
std::string_view fieldOf(const kube::NamespaceScope& scope);
// Says in the service's criteria which of these Namespaces, by name, their selectors leave out.
void selectNamespaces(CriticalService& service, const std::map<std::string, kube::Labels>& namespaces);
std::string fieldOfDependency(size_t place);  // of a listed one: "spec.guard.dependencies[0]"

// A manifest into a CriticalService: every unknown type, missing or double union member, empty name and
// unknown field has its own message. `types` resolves `resource: CustomResourceDefinition`, the way the
// document writes it. A type that is not installed is no error
// (docs/decisions/criticalservice-validation.md): warnings() names it. Of the status only provider.uid,
// seenTypes and deferredDeletions are read; what else stands there is left to whoever wrote it.
tl::expected<CriticalService, kube::Errors> parse(const kube::Object& object, const kube::ResourceMap& types);
// Reads one that was accepted once, and guards: what only a writer could mend is no error, such as a
// criterion whose type turned out to be namespaced, or is called otherwise. So it means the same whatever
// CRDs come and go. Fails only when the provider cannot be read; of another spec that cannot be understood
// (`notUnderstood`) the provider is guarded by a criterion that is never met.
tl::expected<CriticalService, kube::Errors> parseStanding(const kube::Object& object);

// The manifest that parse() reads into the same value but for criteria that nobody wrote: apiVersion, kind,
// metadata (name and uid), spec, and what the status says of the provider and the types that were seen.
kube::Value toManifest(const CriticalService& service);

// What keeps the criterion unmet, as the graph's condition.
graph::Condition conditionOf(const Criterion& criterion);
// Held while the provider is there, whatever its uid.
graph::Condition providerCondition(const CriticalService& service);

struct ProviderStatus {
  std::string uid;       // for status.provider.uid: the first uid seen, for ever; empty while none was seen
  bool present = false;  // seen now
  bool replaced =
      false;  // seen now, under another uid than the recorded one: another object of the same name
};

// Returns the new status.provider. `presentUid`: the uid of the existing provider; nullopt: it is absent. A
// replaced provider is guarded like the first one, and only reported: nobody but a person can say whether it
// still serves what the first one left behind (docs/decisions/replaced-provider.md).
ProviderStatus observeProvider(const CriticalService& service, std::optional<std::string_view> presentUid);

}  // namespace lastout::criticalservice
