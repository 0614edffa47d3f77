// The labels that lastout keeps on objects, in two phases where strict mode would not let one go.
#include "protection/label_plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "protection/evaluate.h"
#include "tests/properties/dice.h"
#include "tests/protection/policies.h"
#include "tests/support/seed.h"

namespace lastout::protection {
namespace {

using testing::Dice;

const std::string kProtect = "example.com/protect";
const std::string kExempt = "example.com/exempt";

// As the profiles of systems with a strict mode have it.
constexpr const char* kStrictUpkeep = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
  blocks: [Unprotect]
  exemptions: [{label: example.com/exempt, values: ["true"]}]
)";

LabelUpkeep upkeep(bool isProtected, bool isExempt) {
  return {{kProtect, "true"}, isProtected, {kExempt, "true"}, isExempt};
}

kube::Labels patched(kube::Labels labels, const LabelPatch& patch) {
  for (const auto& [key, value] : patch) {
    if (value)
      labels[key] = *value;
    else
      labels.erase(key);
  }
  return labels;
}

TEST(LabelPlan, LabelsAnObjectOnce) {
  const LabelPatch patch = planLabels(upkeep(true, false), {{"app", "web"}});
  EXPECT_EQ(patch, (LabelPatch{{kProtect, "true"}}));
  EXPECT_TRUE(planLabels(upkeep(true, false), patched({}, patch)).empty());
}

TEST(LabelPlan, RemovesTheLabelInTwoPhases) {
  const LabelPatch first = planLabels(upkeep(false, false), {{kProtect, "true"}});
  EXPECT_EQ(first, (LabelPatch{{kProtect, std::nullopt}, {kExempt, "true"}}));
  const LabelPatch second = planLabels(upkeep(false, false), patched({{kProtect, "true"}}, first));
  EXPECT_EQ(second, (LabelPatch{{kExempt, std::nullopt}}));
}

TEST(LabelPlan, TakesAwayAnExemptionThatSomebodySetByHand) {
  EXPECT_EQ(planLabels(upkeep(true, false), {{kProtect, "true"}, {kExempt, "true"}}),
            (LabelPatch{{kExempt, std::nullopt}}));
}

TEST(LabelPlan, KeepsTheExemptionOfWhatIsNotStrict) {
  EXPECT_EQ(planLabels(upkeep(true, true), {}), (LabelPatch{{kProtect, "true"}, {kExempt, "true"}}));
}

TEST(LabelPlan, RepairsAChangedValueUnderStrictModeToo) {
  EXPECT_EQ(planLabels(upkeep(true, false), {{kProtect, "no"}}),
            (LabelPatch{{kProtect, "true"}, {kExempt, "true"}}));
}

// What users do, what somebody wants, and a process that may be killed after any patch: each request passes
// strict mode or changes nothing.
class StrictObject {
 public:
  StrictObject()
      : policy_(policyOf(kStrictUpkeep)),
        object_(testing::object("kind: ConfigMap\napiVersion: v1\n"
                                "metadata: {name: a, namespace: b}\n")) {}

  // False: strict mode denies it.
  bool update(kube::Labels labels) {
    kube::ObjectMeta after = object_.meta;
    after.labels = std::move(labels);
    Request request;
    request.operation = PolicyOperation::Update;
    request.object = object_.key;
    request.kind = object_.kind;
    request.meta = &object_.meta;
    request.content = &object_.content;
    request.newMeta = &after;
    if (judge(policy_, request, facts_)) return false;
    object_.meta = after;
    return true;
  }
  const kube::Labels& labels() const { return object_.meta.labels; }

 private:
  class NoFacts : public Facts {
   public:
    AncestorState ancestor(const AncestorTest& /*test*/, const Request& /*request*/) const override {
      return {};
    }
    Count children(const ChildrenTest& /*test*/, const Request& /*request*/) const override { return {}; }
    Count active(Activity /*activity*/, const Request& /*request*/) const override { return {}; }
    Listers listers(const ListedBy& /*listedBy*/, const Request& /*request*/) const override { return {}; }
  };

  DeletionPolicy policy_;
  kube::Object object_;
  NoFacts facts_;
};

kube::Labels drawLabels(Dice& dice, bool mayExempt) {
  kube::Labels labels;
  if (dice.oneIn(2)) labels[kProtect] = dice.pick(std::vector<std::string>{"true", "false", ""});
  if (mayExempt && dice.oneIn(2)) labels[kExempt] = dice.pick(std::vector<std::string>{"true", "no"});
  if (dice.oneIn(3)) labels["app"] = "web";
  return labels;
}

TEST(StrictProperty, NoUpdatesWithoutTheExemptionUnprotect) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  Dice dice(seed);
  for (int run = 0; run < 2'000; ++run) {
    StrictObject object;
    ASSERT_TRUE(object.update({{kProtect, "true"}}));
    int passed = 0;
    for (int i = 0; i < 20; ++i) passed += object.update(drawLabels(dice, false)) ? 1 : 0;
    ASSERT_EQ(object.labels().at(kProtect), "true");
    ASSERT_LT(passed, 20);
  }
}

TEST(StrictProperty, TheUpkeepConvergesWheneverItIsKilled) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  Dice dice(seed);
  for (int run = 0; run < 2'000; ++run) {
    StrictObject object;
    object.update(drawLabels(dice, true));
    for (int i = 0; i < 5; ++i) {
      // Somebody changes the policy, a few passes happen before the process is killed, users meddle.
      const LabelUpkeep former = upkeep(dice.oneIn(2), dice.oneIn(2));
      for (uint32_t passes = dice.below(3); passes > 0; --passes)
        object.update(patched(object.labels(), planLabels(former, object.labels())));
      object.update(drawLabels(dice, true));
    }
    const LabelUpkeep last = upkeep(dice.oneIn(2), dice.oneIn(2));
    for (int pass = 0; pass < 2; ++pass) {
      const LabelPatch patch = planLabels(last, object.labels());
      if (patch.empty()) break;
      ASSERT_TRUE(object.update(patched(object.labels(), patch))) << "pass " << pass;
    }
    EXPECT_TRUE(planLabels(last, object.labels()).empty()) << "two passes are enough";
    EXPECT_EQ(object.labels().contains(kProtect), last.isProtected);
    EXPECT_EQ(object.labels().contains(kExempt), last.isExempt);
  }
}

}  // namespace
}  // namespace lastout::protection
