// hold_plan: what is to be done about one object that a policy holds by a finalizer (Enforcement::Hold): a
// pure function from facts to actions, called again whenever a fact changes. Its order is the one of dbops:
// protection, children, confirmation, cascade, external step, finalizer off (docs/holding.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::protection {

// An object that depends on the held one.
struct HeldChild {
  kube::ObjectKey key;
  std::string kind;
  std::string uid;
  bool terminates = false;
  std::string obstacle;  // why it does not go; empty: nobody knows
};
// Returns how the status and messages name the child of an object in `namespaceName` that the policy holds:
// "DatabaseUser/reader"; in another namespace "DatabaseUser/infra/reader". A child with the resource name of
// a type of another group that the policy asks for has the group behind its kind. So no two children of an
// object have one name.
std::string childName(const DeletionPolicy& policy, std::string_view namespaceName, const HeldChild& child);

// What is known when the plan is made. What it points to must outlive it.
struct HoldFacts {
  kube::ObjectKey key;
  std::string kind;
  const kube::ObjectMeta* meta = nullptr;  // never nullptr
  const kube::Value* content = nullptr;    // the whole object; never nullptr
  std::optional<std::string> protectedBy;  // as protectionOf() says
  // That are there, terminating ones among them; in the order of the policy's tests, and by name.
  std::vector<HeldChild> children;
  std::optional<std::string> childrenUnknown;  // set: why nobody can say which there are
  // Why force and confirmation do not count: no policy checks their authors. nullopt: they count.
  std::optional<std::string> forceDoubt;
  std::chrono::seconds awaited{0};  // for how long plans have awaited a report of the external step
  // Those on the object that hold it for no policy any more (hold_finalizers.h).
  std::vector<std::string> releasable;
  int64_t now = 0;  // seconds since the epoch
};

struct HoldEvent {
  bool isWarning = false;
  std::string reason;
  std::string message;
};

// Actions in the order of their execution. If one fails, or finds that the object has changed, the next plan
// contains the rest.
struct HoldPlan {
  bool addFinalizer = false;
  std::vector<std::string> release;  // finalizers that go at once, beside addFinalizer or removeFinalizer
  nlohmann::json statusPatch;        // a JSON merge patch of the object, for its status; null: none
  std::vector<HoldEvent> events;
  bool deleteItself = false;  // by force alone
  HoldEvent begun;            // with deleteItself: told once that is done
  std::vector<HeldChild> deleteChildren;
  // The deletion policy's word: the object waits until an outside controller reports that it is done.
  std::optional<std::string> awaitedWord;
  bool asksOutside = false;  // with awaitedWord: the status tells that controller only now that it may act
  bool removeFinalizer = false;  // the policy's
  bool isForced = false;         // with removeFinalizer: only force lets it go
  // The object is annotated to be forced, and that does not count: why, and what to do; empty: it is not so.
  std::string ignoredForce;
  // Look again after this, though nothing is told to have changed.
  std::optional<std::chrono::seconds> lookAgain;
};

// `policy.hold` must be there.
HoldPlan planHold(const DeletionPolicy& policy, const HoldFacts& facts);

// Returns the plan for an object that no policy holds any more.
HoldPlan planRelease(const HoldFacts& facts);

}  // namespace lastout::protection
