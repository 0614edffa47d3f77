// Weakening: a change that no review refuses, by which a provider may lose what it needs, or what guards it
// (docs/security.md, "What lies outside the promise"). It is told while the provider's criteria are unmet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"

namespace lastout::admission {

struct Weakening {
  enum class Kind : uint8_t {
    Dependency,       // an object that the provider needs, or by which lastout reads a criterion's type
    CriticalService,  // the CriticalService itself
  };
  Kind kind = Kind::Dependency;
  std::string service;      // name of the CriticalService
  std::string serviceUid;   // empty: not known
  kube::ObjectKey changed;  // the object that was changed
  std::string message;      // says how the object is weaker
};
std::string_view toString(Weakening::Kind kind);  // "dependency", "criticalservice"

// The objects, types and APIs that the provider of a CriticalService relies on.
struct Reliance {
  std::vector<kube::ObjectKey> needed;         // guarded, or left out as there are too many
  std::vector<kube::GroupResource> converted;  // the provider converts them, and waits for their instances
  std::vector<std::string> apis;               // names of the APIServices that lead to it
};

// Returns what a provider relies on that needs `needed`, and to which APIServices of these names lead.
Reliance relianceOf(const criticalservice::CriticalService& service, const criticalservice::Needed& needed,
                    std::vector<std::string> apis);

// Returns in words what `now` does not rely on any more, in the order of `former`; empty: it relies on all.
std::string lostOf(const Reliance& former, const Reliance& now);

// Returns in words, a part of a sentence each, why the spec guards less than the former one; none: it guards
// as much. A spec whose provider was given up already cannot guard less.
std::vector<std::string> weakerThan(const criticalservice::CriticalService& former,
                                    const criticalservice::CriticalService& now);

}  // namespace lastout::admission
