// Runs the real program, as a shell would, and gives back what it printed.
#pragma once

#include <string>
#include <vector>

namespace lastout::testing {

struct Ran {
  int exitCode = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
  size_t peakKilobytes = 0;  // resident memory at its largest
};

// Paths are seen from the repository's top folder, where tests run.
struct Start {
  std::vector<std::string> arguments;
  std::string input;         // its standard input
  bool asNobody = false;     // gives up root's rights first; nothing changes for other users
  bool errorsToOut = false;  // standard error goes where the standard output goes, in order
};

// The program under test with these arguments.
Ran lastout(const Start& start);
// The same for `lastout(...)` with arguments alone.
Ran lastout(std::vector<std::string> arguments);
// A line of shell, in which `lastout` is the program under test.
Ran shell(const std::string& line);

// The program under test, running until it is told to end. Both its outputs are read together.
class Running {
 public:
  // Starts it and waits until it has printed `greeting`, or has ended.
  Running(std::vector<std::string> arguments, const std::string& greeting);
  ~Running();  // ends it, whatever it says to that
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  // Sends SIGINT, as Ctrl-C does, and waits for its end. Once only.
  Ran interrupt();

 private:
  int process_ = -1;
  int output_ = -1;
  std::string printed_;
};

}  // namespace lastout::testing
