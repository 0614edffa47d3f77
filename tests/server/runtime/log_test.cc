#include "server/runtime/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lastout::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ProblemLog, SaysEachProblemOnceAndThatItIsOver) {
  std::vector<std::pair<Level, std::string>> lines;
  ProblemLog problems([&lines](Level level, const std::string& line) { lines.emplace_back(level, line); },
                      "the lamp: ", "the lamp burns again");
  for (const char* problem : {"", "dark", "dark", "broken", "", "", "broken"}) problems.note(problem);
  EXPECT_THAT(
      lines,
      ElementsAre(Pair(Level::Warning, "the lamp: dark"), Pair(Level::Warning, "the lamp: broken"),
                  Pair(Level::Info, "the lamp burns again"), Pair(Level::Warning, "the lamp: broken")));
}

TEST(ProblemsByName, SaysWhatIsWrongWithEachOnceForAsLongAsItIsTheSame) {
  std::vector<std::string> lines;
  ProblemsByName problems([&lines](Level /*level*/, const std::string& line) { lines.push_back(line); });
  problems.note("lamp", "the lamp is dark");
  problems.note("lamp", "the lamp is dark");
  problems.note("door", "the door is shut");
  problems.note("lamp", "the lamp is broken");
  problems.note("lamp", "");
  problems.note("lamp", "the lamp is broken");
  EXPECT_THAT(
      lines, ElementsAre("the lamp is dark", "the door is shut", "the lamp is broken", "the lamp is broken"));
}

}  // namespace
}  // namespace lastout::server
