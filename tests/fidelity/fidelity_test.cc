// What was asked of a real control plane is asked of the embedded one: its answers are the recorded ones, or
// differ where, and only where, a reason says so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/fidelity/expected_differences.h"
#include "tests/fidelity/page.h"
#include "tests/fidelity/replay.h"

namespace lastout::fidelity {
namespace {

class Fidelity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* recording : {kKubernetes126, kKubernetes136}) {
      for (Replayed& one : replayAll(recording)) replayed.push_back(std::move(one));
    }
  }
  static std::vector<Replayed> replayed;
};

std::vector<Replayed> Fidelity::replayed;

std::string shown(const std::string& json) { return json.empty() ? "nothing" : json; }

TEST_F(Fidelity, AnswersAsRecordedButForGivenReasons) {
  for (const Replayed& one : replayed) {
    for (const Difference& difference : one.differences) {
      EXPECT_NE(expectationOf(one.exchange, difference), nullptr)
          << one.exchange.recording << "/" << one.exchange.name << ": " << difference.path << " is\n  "
          << shown(difference.own) << "\nbut was recorded as\n  " << shown(difference.recorded);
    }
  }
}

TEST_F(Fidelity, GivesReasonsOnlyForWhatDiffers) {
  std::set<const ExpectedDifference*> met;
  for (const Replayed& one : replayed) {
    for (const Difference& difference : one.differences) met.insert(expectationOf(one.exchange, difference));
  }
  for (const ExpectedDifference& expected : expectedDifferences()) {
    EXPECT_TRUE(met.contains(&expected))
        << expected.recording << "/" << expected.exchange << ": " << expected.path
        << " does not differ any more: take its reason away";
  }
}

TEST_F(Fidelity, IsWhatThePageSays) {
  const std::string answers = pageOf(replayed);
  PageParts page = readPage();
  if (std::getenv("LASTOUT_UPDATE_DOCS") != nullptr) {
    page.answers = answers;
    writePage(page);
    return;
  }
  EXPECT_EQ(page.answers, answers) << "scripts/update-docs writes docs/fidelity.md anew";
}

}  // namespace
}  // namespace lastout::fidelity
