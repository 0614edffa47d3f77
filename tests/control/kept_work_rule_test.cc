// The plan of kept works, held against docs/concepts.md, "Kept works". That the server and the machine follow
// it is in tests/properties/plans_test.cc.
#include "control/kept_work_rule.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "kube/well_known.h"

namespace lastout::control {
namespace {

// An object that the work owns. Unless a row says otherwise, a CriticalService guards it and has deferred
// deletions run, and it is to go.
struct Owned {
  bool isTerminating = false;
  bool isLastouts = false;
  bool isGuarded = true;
  bool isWanted = true;
  bool isAwaited = true;
  bool wasAwaited = false;
  bool isReviewed = false;
  bool isForgotten = false;
  bool isRefused = false;
  DeferralState deferralState = DeferralState::Stands;
};

// One work.
struct OneWork {
  WorkNow now;
  std::vector<Owned> owned = {};
  bool unsure = false;
  bool records = false;
  bool defersUnseen = false;

  WorkNow work(int /*work*/) const { return now; }
  bool isUnsure() const { return unsure; }
  bool recordsUnseen(int /*work*/) const { return records; }
  bool hasUnseenDeferredDeletions(int /*work*/) const { return defersUnseen; }
  template <class Holds>
  bool anyOwned(int /*work*/, Holds holds) const {
    for (size_t i = 0; i < owned.size(); ++i) {
      if (holds(i)) return true;
    }
    return false;
  }
  bool isTerminating(size_t i) const { return owned[i].isTerminating; }
  bool isLastouts(size_t i) const { return owned[i].isLastouts; }
  bool isGuarded(size_t i) const { return owned[i].isGuarded; }
  bool isWanted(size_t i) const { return owned[i].isWanted; }
  bool isAwaited(size_t i) const { return owned[i].isAwaited; }
  bool wasAwaited(int /*work*/, size_t i) const { return owned[i].wasAwaited; }
  bool isReviewed(size_t i) const { return owned[i].isReviewed; }
  bool isForgotten(int /*work*/, size_t i) const { return owned[i].isForgotten; }
  bool isRefused(size_t i) const { return owned[i].isRefused; }
  DeferralState deferralState(size_t i) const { return owned[i].deferralState; }
};

constexpr WorkNow kApplied{.isHeldByOthers = true};
constexpr WorkNow kKept{.isKept = true, .isHeldByOthers = true};
constexpr WorkNow kInPass{.terminates = true, .isKept = true, .isHeldByOthers = true};
constexpr WorkNow kAlone{.terminates = true, .isKept = true};  // its agent is done
constexpr Owned kPlain{.isGuarded = false, .isWanted = false, .isAwaited = false};

TEST(KeptWorkPlan, FollowsTheDocument) {
  struct Row {
    const char* name;
    OneWork work;
    Keeping keeping;
  };
  const Row rows[] = {
      {"it owns a guarded object", {kApplied, {{}}}, Keeping::Begins},
      {"it owns nothing guarded", {kApplied, {kPlain}}, Keeping::AsItIs},
      {"its record lists what nobody sees", {.now = kApplied, .records = true}, Keeping::Begins},
      {"Never: nothing is deferred", {kApplied, {{.isWanted = false}}}, Keeping::AsItIs},
      {"a terminating object takes no finalizer",
       {{.terminates = true, .isHeldByOthers = true}, {{}}},
       Keeping::AsItIs},
      {"it brings lastout", {kApplied, {{}, {.isLastouts = true}}}, Keeping::AsItIs},
      {"it brings lastout, and is kept", {kKept, {{}, {.isLastouts = true}}}, Keeping::Ends},
      {"nothing guarded is left of it", {kKept, {kPlain}}, Keeping::Ends},
      {"more may be there than is known", {.now = kKept, .owned = {kPlain}, .unsure = true}, Keeping::AsItIs},
      {"its agent is at work", {kInPass, {{}}}, Keeping::AsItIs},
      {"lastout deletes what the agent could not", {kAlone, {{}}}, Keeping::AsItIs},
      {"what it waits for goes", {kAlone, {{.isTerminating = true}}}, Keeping::AsItIs},
      {"nothing is left to wait for", {kAlone, {kPlain}}, Keeping::Ends},
      {"who guarded it is gone before it",
       {kAlone, {{.isTerminating = true, .isGuarded = false, .isAwaited = false, .wasAwaited = true}}},
       Keeping::AsItIs},
      {"lastout has recorded the deletion of what nobody sees",
       {.now = kAlone, .defersUnseen = true},
       Keeping::AsItIs},
      {"another owner keeps it", {kAlone, {{.deferralState = DeferralState::Waits}}}, Keeping::Ends},
      {"another owner keeps it, and the agent is at work",
       {kInPass, {{.deferralState = DeferralState::Waits}}},
       Keeping::AsItIs},
      {"somebody refuses it again and again", {kAlone, {{.isRefused = true}}}, Keeping::Ends},
      {"deferredDeletions: Never guards it", {kAlone, {{.isWanted = false}}}, Keeping::Ends},
      {"it waits for one, and leaves another behind", {kAlone, {{}, kPlain}}, Keeping::Ends},
  };
  for (const Row& row : rows) EXPECT_EQ(planKeptWork<size_t>(row.work, 0).keeping, row.keeping) << row.name;
}

TEST(KeptWorkPlan, NamesWhatIsLeftBehind) {
  const OneWork work{kAlone, {{}, {.deferralState = DeferralState::Waits}}};
  EXPECT_EQ(planKeptWork<size_t>(work, 0).forsaken, std::optional<size_t>(1));
  EXPECT_TRUE(planKeptWork<size_t>(work, 0).waits);
  EXPECT_EQ(planKeptWork<size_t>(OneWork{kAlone, {{}}}, 0).forsaken, std::nullopt);
}

// "The agent has struck it off the work's status, or removed its own finalizer."
TEST(KeptWorkPlan, LeavesToLastoutWhatTheAgentIsDoneWith) {
  const auto isLeft = [](const WorkNow& now, const Owned& owned) {
    return isLeftBehind(OneWork{now, {owned}}, 0, size_t{0});
  };
  EXPECT_TRUE(isLeft(kAlone, {}));
  EXPECT_FALSE(isLeft(kInPass, {})) << "its agent asks for it";
  EXPECT_TRUE(isLeft(kInPass, {.isForgotten = true}));
  EXPECT_FALSE(isLeft(kAlone, {.isTerminating = true}));
  EXPECT_FALSE(isLeft(kAlone, {.isWanted = false})) << "deferredDeletions: Never";
  EXPECT_FALSE(isLeft(kAlone, kPlain)) << "nobody awaits it";
  EXPECT_TRUE(isLeft(kAlone, {.isGuarded = false, .isWanted = false, .isAwaited = false, .isReviewed = true}))
      << "it was a provider's";
}

TEST(KeptWorkPlan, LastoutIsItsCrdAndItsNamespace) {
  const kube::ObjectKey definition{kube::kCustomResourceDefinitions, "", "criticalservices.lastout.dev"};
  const kube::ObjectKey pod{kube::kPods, "lastout-system", "lastout"};
  EXPECT_TRUE(isLastouts(definition, ""));
  EXPECT_TRUE(isLastouts(kube::namespaceKey("lastout-system"), "lastout-system"));
  EXPECT_TRUE(isLastouts(pod, "lastout-system"));
  EXPECT_FALSE(isLastouts(pod, "")) << "it runs outside the cluster";
  EXPECT_FALSE(isLastouts({kube::kClusterRoles, "", "lastout-system"}, "lastout-system"));
}

TEST(KeptWorkPlan, AwaitsNamespacesAndCriticalServices) {
  EXPECT_TRUE(isAwaited(kube::kNamespaces));
  EXPECT_TRUE(isAwaited({"lastout.dev", "criticalservices"}));
  EXPECT_FALSE(isAwaited({"lastout.dev", "deletionpolicies"}));
}

}  // namespace
}  // namespace lastout::control
