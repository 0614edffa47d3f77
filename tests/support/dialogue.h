// Dialogues: tests in text files, each a row of steps and of what follows from them:
//
//   # what the test is about
//   <step>
//   <its text, as many lines as it needs>
//   ----
//   <what follows>
//
// A blank line ends a step. A step without "----" only has to be understood.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lastout::testing {

struct DialogueStep {
  std::string command;  // the first line: "watch Database"
  std::string text;     // the lines behind it, each with its line break
  std::string expected;
  bool expects = false;  // there is a "----"
  int line = 0;          // of the command
};

// What a file says; one that cannot be read ends the test program.
std::vector<DialogueStep> readDialogue(const std::string& path);

// The dialogues of a folder whose names begin like that, in the order of their names.
std::vector<std::string> dialoguesIn(const std::string& folder, const std::string& beginning);
// The same for tests with parameters, which are called as the files are.
std::string nameOfDialogue(const std::string& path);

// Plays the steps of a file: `answer` gives what follows from one, each line with its line break. A step
// whose expectation differs fails the test, with its place.
void playDialogue(const std::string& path,
                  const std::function<std::string(const DialogueStep& step)>& answer);

}  // namespace lastout::testing
