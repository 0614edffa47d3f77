#include "tests/support/dialogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/stop.h"

namespace lastout::testing {

std::vector<DialogueStep> readDialogue(const std::string& path) {
  std::ifstream file(path);
  if (!file) stop(path + " cannot be read");
  std::vector<DialogueStep> steps;
  bool isInside = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!isInside && (line.empty() || line.starts_with('#'))) continue;
    if (line.empty()) {
      isInside = false;
    } else if (!isInside) {
      isInside = true;
      steps.push_back({line, {}, {}, false, number});
    } else if (line == "----") {
      steps.back().expects = true;
    } else {
      (steps.back().expects ? steps.back().expected : steps.back().text) += line + "\n";
    }
  }
  if (steps.empty()) stop(path + " has no step");
  return steps;
}

std::vector<std::string> dialoguesIn(const std::string& folder, const std::string& beginning) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(beginning)) paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  if (paths.empty()) stop(folder + " has no dialogue " + beginning);
  return paths;
}

std::string nameOfDialogue(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::erase(name, '-');
  return name;
}

void playDialogue(const std::string& path,
                  const std::function<std::string(const DialogueStep& step)>& answer) {
  for (const DialogueStep& step : readDialogue(path)) {
    const std::string said = answer(step);
    if (!step.expects) continue;
    EXPECT_EQ(said, step.expected) << path << ":" << step.line << ": " << step.command;
  }
}

}  // namespace lastout::testing
