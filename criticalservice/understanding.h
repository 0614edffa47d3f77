// understand(): whether what a CriticalService names can be there, by the types that there are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/resource_map.h"

namespace lastout::criticalservice {

// Answers questions about the types that criteria name. A built-in type is there whether or not it is served.
// For a pattern (kube/patterns.h) the answer is yes if it is yes for any matching type; isCertain: for all.
struct KnownCriterionTypes {
  // It is served, or a CRD of it is there.
  std::function<bool(const kube::GroupResource& type)> isThere;
  // It was there before, as far as is remembered.
  std::function<bool(const kube::GroupResource& type)> wasThere;
  // A CRD defines it, or did: when it goes with its CRD, nothing of it is left. What is served without one,
  // by an API server behind the API server, may only be away.
  std::function<bool(const kube::GroupResource& type)> isDefined;
  // It would be known if it were there.
  std::function<bool(const kube::GroupResource& type)> isCertain;
  // nullopt: nobody knows, as of a type whose CRD alone is there.
  std::function<std::optional<bool>(const kube::GroupResource& type)> isNamespaced;
  // Something of the group is served, or should be, or has a CRD.
  std::function<bool(std::string_view group)> isServed;
  // All that are there, for the nearest name.
  std::function<std::vector<kube::GroupResource>()> all;
  // The kind of its objects; empty: nobody knows.
  std::function<std::string(const kube::GroupResource& type)> kindOf;
};

// Where exactly these types are there, and everybody knows so. `types` must outlive it.
KnownCriterionTypes knownTypes(const kube::ResourceMap& types);

// Sets the doubt of each criterion: a group that is served without the resource, the scope or the CRD that
// the criterion names, or a type or CRD that was never there, unless the criterion says `ifNotInstalled:
// Met`; or a kind by which objects of its target's type are never named. Sets the doubts of the provider and
// of listed dependencies of another scope than their types have. Adds to `seenTypes` those types that a CRD
// defines, or did, and takes off it those that no criterion names. Changes nothing of a spec that is not
// understood.
void understand(CriticalService& service, const KnownCriterionTypes& types);

// True if a criterion, the provider or a listed dependency is of the group, or a criterion is about the CRD
// of a type of it.
bool namesGroup(const CriticalService& service, std::string_view group);

// A type that was never there, in words, as a doubt begins: it is not misspelt for certain.
bool isOfMissingType(std::string_view doubt);

}  // namespace lastout::criticalservice
