// Weakening: a change that no review refuses, by which a provider may lose what it needs, or what guards it
// (docs/security.md, "What lies outside the promise"): seen, and told while its criteria are unmet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"

namespace lastout::admission {

struct Weakening {
  enum class Kind : uint8_t {
    Dependency,       // of something that the provider needs, or by which lastout reads what criteria name
    CriticalService,  // of the CriticalService itself
  };
  Kind kind = Kind::Dependency;
  std::string service;      // name of the CriticalService
  std::string serviceUid;   // empty: not known
  kube::ObjectKey changed;  // the object that was changed
  std::string message;      // what of it is weaker
};
std::string_view toString(Weakening::Kind kind);  // "dependency", "criticalservice"

// What the provider of a CriticalService relies on, as it was found.
struct Reliance {
  std::vector<kube::ObjectKey> needed;         // guarded, or left out as there are too many
  std::vector<kube::GroupResource> converted;  // what the provider waits for, as it converts that
  std::vector<std::string> apis;               // names of the APIServices that lead to it
};

// In words, what `now` does not rely on any more; empty: there is nothing. In the order of `former`.
std::string lostOf(const Reliance& former, const Reliance& now);

// In words, by what the spec guards less than it did, each an own sentence part; none: by nothing. Nothing is
// weaker than what is given up already.
std::vector<std::string> weakerThan(const criticalservice::CriticalService& former,
                                    const criticalservice::CriticalService& now);

}  // namespace lastout::admission
