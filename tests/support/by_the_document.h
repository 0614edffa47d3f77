// The verdict written from the words of the design document (docs/concepts.md) and of docs/verdicts.md alone:
// no index, no conditions, every CriticalService looked at and every object for every criterion. What
// decide() is compared with.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/decide.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "graph/condition.h"
#include "kube/object_key.h"

namespace lastout::testing {

// The texts in the fields by which an object names another one; empty: the field has none.
struct PlainReference {
  std::string field;
  std::string namespaceField;
  std::string kindField;
  std::string kind;
  std::string namespaceName;
  std::string name;
};

struct PlainObject {
  kube::ObjectKey key;
  std::vector<std::string> finalizers;
  bool terminating = false;
  std::vector<PlainReference> names = {};
  std::map<std::string, std::string> labels = {};  // of a Namespace, but for the one with its name
};

// Which types there are, and of which scope; and which there were while each CriticalService stood.
struct PlainTypes {
  std::map<kube::GroupResource, bool> namespaced;
  std::map<std::string, std::set<kube::GroupResource>> seenBy;
  std::set<std::string> unknownGroups = {};  // something may be served of them, nobody knows what
};

struct PlainCluster {
  std::vector<PlainObject> objects = {};  // CriticalServices need not be among them
  std::vector<criticalservice::CriticalService> services = {};
  std::map<std::string, std::vector<criticalservice::Dependency>> needs = {};  // of the services' providers
  std::map<kube::GroupResource, graph::Knowledge> knowledge = {};  // of a type that is not here: Unknown
  std::string ownNamespace = {};                                   // lastout's; empty: none
  std::optional<PlainTypes> types = {};                            // nullopt: every criterion means something
};

// What denies: the CriticalService, and the number of its criterion; -1 when it is its provider, or itself.
struct PlainBlocker {
  std::string service;
  int criterion = -1;
  admission::Reason reason = admission::Reason::CriterionUnmet;
  auto operator<=>(const PlainBlocker&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

struct PlainVerdict {
  bool allowed = true;
  bool servicesKnown = true;
  // Some service guards the object as its intent stands, so that an ALLOW has to be confirmed.
  bool guarded = false;
  bool held = false;  // the provider stays after the DELETE, as each service that guards it wants
  // An ALLOW that rests on that a provider is gone whose scope does not fit: no API server can confirm that,
  // so it becomes a DENY.
  bool unconfirmable = false;
  std::vector<PlainBlocker> blockers;  // sorted; one for each reason for which a service denies
};

// docs/verdicts.md, "When a criterion is understood": of this CriticalService.
bool isUnderstoodByTheDocument(const PlainCluster& cluster, const criticalservice::CriticalService& service,
                               const criticalservice::Criterion& criterion);

// The same, of the provider and listed dependencies: the object may be what it is named as.
bool fitsItsScopeByTheDocument(const PlainCluster& cluster, const kube::ObjectKey& object);

// `deletionEffect`: of the DELETE; Held, where lastout's finalizer keeps what it deletes.
PlainVerdict verdictByTheDocument(
    const PlainCluster& cluster, const kube::ObjectKey& deleted,
    admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending);

}  // namespace lastout::testing
