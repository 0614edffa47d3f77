// replay_plan: what is to be done about one object whose deletion a user asks for by an annotation, for the
// time when no other object lists it any more (ListedBy::replay). Pure, and called again whenever a fact
// changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

struct ReplayFacts {
  bool isAsked = false;    // the object carries the annotation, and is not being deleted
  bool isGuarded = false;  // by a CriticalService, for which lastout runs the deletion as a deferred one
  // Why the annotation does not count; empty: it does; nullopt: nobody knows yet.
  std::optional<std::string> doubt;
  int64_t until = 0;  // the annotation asks for it, where it counts; in seconds since the epoch, as `now`
  int64_t now = 0;
  bool isListed = false;  // as isListed() says
};

struct ReplayPlan {
  enum class Action : uint8_t {
    None,    // there is nothing to do, until the object changes
    Look,    // nothing is to be told yet
    Ignore,  // the annotation does not count
    Wait,    // something lists the object
    Delete,
  };
  Action action = Action::None;
  std::optional<std::chrono::seconds> lookAgain;  // though nothing changes
  friend bool operator==(const ReplayPlan&, const ReplayPlan&) = default;
};

ReplayPlan planReplay(const ReplayFacts& facts);

// True if an object lists the request's object for one of the policies, or nobody can say whether one does.
bool isListed(const std::vector<const DeletionPolicy*>& policies, const Request& request, const Facts& facts);

inline constexpr std::chrono::seconds kLookAtAnnotationAgain{60};
inline constexpr std::chrono::seconds kLookAtDoubtAgain{5};  // while nobody knows whether annotations count

}  // namespace lastout::protection
