// SPIN stores the states that the machine and Rumur have, and what has no translation is refused.
#include "prove/promela.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/opinions.h"

namespace lastout::prove {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr const char* kNoError = "no error";

Opinion ofSpin(const std::string& murphi) {
  const auto model = toPromela(murphi);
  EXPECT_TRUE(model) << (model ? "" : kube::toString(model.error()));
  return opinionOn(model.value_or(""), "model.pml");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class Promela : public ::testing::TestWithParam<const char*> {};

TEST_P(Promela, HasTheStatesOfTheMachineAndOfRumur) {
  const auto ready = shipped(GetParam());
  ASSERT_TRUE(ready);
  const std::string murphi = modelOf(*ready);
  const Opinion spins = ofSpin(murphi);
  EXPECT_EQ(spins.verdict, kNoError);
  EXPECT_EQ(spins.states, ofMachine(*ready).states);
  EXPECT_EQ(spins.states, ofRumur(murphi).states);
}

// Each is compiled twice, which takes seconds; a sanitizer sees nothing of that.
#ifdef LASTOUT_SANITIZED
const auto kCounted = ::testing::Values("own-namespace");
#else
const auto kCounted = ::testing::Values("own-namespace", "provider-statefulset", "hold-foreground");
#endif

std::string withoutHyphens(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, Promela, kCounted, withoutHyphens);

TEST(PromelaModel, FollowsTheMurphiModelAndNotTheMachine) {
  const auto ready = shipped("webhook-refuses-collector");
  const std::string wrong =
      replaced(modelOf(*ready), "ends_content(s) & !call_fails(s, OnCleanup) & is_empty(s)",
               "ends_content(s) & is_empty(s)");
  const Opinion spins = ofSpin(wrong);
  EXPECT_EQ(spins.verdict, kNoError);
  EXPECT_EQ(spins.states, ofRumur(wrong).states);
  EXPECT_NE(spins.states, ofMachine(*ready).states);
}

TEST(PromelaModel, EndsAtAnUnsafeCommit) {
  const std::string unsafe =
      replaced(modelOf(*shipped("crd-of-provider")), "f.criteria_were_met := criteria_are_met(s);",
               "f.criteria_were_met := false;");
  EXPECT_EQ(ofRumur(unsafe).verdict, "UNSAFE");
  EXPECT_EQ(ofSpin(unsafe).verdict, "error: a deletion was committed although its criteria did not hold");
}

// Two counters up to 2, of which the second goes on only while the first is at 1: (0,0), (1,0), (1,1), (1,2)
// and, once the first is at 2, each of these seconds, too.
constexpr const char* kCounters = R"(
type
  count_t: 0..2;
  which_t: enum { first, second };
  counter_t: record value: count_t; done: boolean; end;

var
  counter: array [which_t] of counter_t;

function after(c: count_t): count_t;
begin
  switch c
    case 0: return 1;
    else return 2;
  end;
end;

procedure advance(var c: counter_t);
var old: count_t;
begin
  old := c.value;
  c.value := after(old);
  c.done := c.value = 2;
end;

ruleset w: which_t do
  rule "count" !counter[w].done & (w = first | counter[first].value = 1) ==>
  begin
    advance(counter[w]);
  end;
end;

startstate
begin
  clear counter;
end;

liveness "can end" forall w: which_t do counter[w].done end;
)";

TEST(PromelaModel, StoresNothingButTheVariables) {
  EXPECT_EQ(ofSpin(kCounters), (Opinion{.verdict = kNoError, .states = 7}));
}

TEST(PromelaModel, NamesTheErrorOfARule) {
  const Opinion spins = ofSpin(replaced(kCounters, "old := c.value;",
                                        "old := c.value; if c.value = 1 then error \"no further\"; end;"));
  EXPECT_EQ(spins.verdict, "error: no further");
}

struct Refused {
  const char* right;
  const char* wrong;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.wrong; }

class NotTranslated : public ::testing::TestWithParam<Refused> {};

TEST_P(NotTranslated, IsRefusedWithItsLine) {
  const auto model = toPromela(replaced(kCounters, GetParam().right, GetParam().wrong));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr(GetParam().message));
  EXPECT_GT(model.error().position.line, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Of, NotTranslated,
    ::testing::Values(
        Refused{"0..2", "1..2", "a range that begins with another number than 0"},
        Refused{"0..2", "0..256", "256"}, Refused{"record value", "scalarset value", "'scalarset'"},
        Refused{"old := c.value;", "while true do old := 2; end;", "'while'"},
        Refused{"old := c.value;", "undefine old;", "'undefine'"},
        Refused{"old := c.value;", "old := c.value + 1;", "'+'"},
        Refused{"old := c.value;", "old := c.value * 2;", "'*'"},
        Refused{"old := c.value;", "old := 3;", "3 is of another type"},
        Refused{"old := c.value;", "old := c.done;", "m_c).m_done is of another type"},
        Refused{"old := c.value;", "old := c.valu;", "no field valu"},
        Refused{"old := c.value;", "old := after(first);", "m_first is of another type"},
        Refused{"old := c.value;", "old := before(1);", "no function is named before"},
        Refused{"old := c.value;", "after(1);", "no procedure is named after"},
        Refused{"case 0: return 1;", "case c: return 1;", "m_c is no constant"},
        Refused{"case 0: return 1;", "case 0: c := 1;", "c is no variable to assign to"},
        Refused{"counter[first].value = 1", "counter[0].value = 1", "0 is of another type"},
        Refused{"counter[first].value = 1", "counter[first] = counter[second]", "are not compared"},
        Refused{"counter[first].value = 1", "second < first", "are not compared"},
        Refused{"counter[first].value = 1", "exists w: which_t do true end", "'exists'"},
        Refused{"!counter[w].done &", "!counter[w].done = true &",
                "'!' before a comparison needs parentheses"},
        Refused{"advance(counter[w]);", "advance(counter);", "no variable for c"},
        Refused{"var\n  counter", "var\n  other: nothing_t;\n  counter", "no type is named nothing_t"},
        Refused{"liveness \"can end\"", "invariant \"can end\"", "'invariant'"},
        Refused{"startstate\nbegin\n  clear counter;\nend;", "", "one startstate"},
        Refused{"enum { first, second }", "enum { first, first }", "first is declared twice"},
        Refused{"end;\n\nstartstate", "\n\nstartstate", "'startstate'"}));

TEST(PromelaOption, IsAboutOneScenario) {
  const testing::Ran ran = testing::lastout(
      {"prove", "--promela", "/dev/null", "scenarios/own-namespace.yaml", "scenarios/reapplied-crd.yaml"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("--promela is about one scenario"));
}

TEST(PromelaOption, RefusesWhatTheMurphiModelHasNoRulesFor) {
  const testing::Ran ran =
      testing::lastout({"prove", "--promela", "/dev/null", "scenarios/policy-usage.yaml"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("policy-usage.yaml"), HasSubstr("no rules for DeletionPolicies")));
}

TEST(PromelaOption, TheScriptPrintsATable) {
  const testing::Ran ran = testing::shell(
      "LASTOUT=\"$(command -v lastout)\" scripts/second-opinion --spin scenarios/own-namespace.yaml");
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  const std::string cell = R"( [0-9.]+ s, [0-9.]+ k/s \|)";
  EXPECT_THAT(ran.out,
              MatchesRegex("\\| scenario .*\n.*\n\\| own-namespace \\| 20 \\|" + cell + cell + cell + "\n"));
}

}  // namespace
}  // namespace lastout::prove
