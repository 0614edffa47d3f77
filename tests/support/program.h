// Runs the real program, as a shell would, and gives back what it printed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lastout::testing {

struct Ran {
  int exitCode = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
  size_t peakKilobytes = 0;  // resident memory at its largest
};

// What is started here ends with the thread that has started it, whatever ends that.
//
// Paths are seen from the repository's top folder, where tests run.
struct Start {
  std::vector<std::string> arguments;
  std::string input;         // its standard input
  bool asNobody = false;     // gives up root's rights first; nothing changes for other users
  bool errorsToOut = false;  // standard error goes where the standard output goes, in order
  bool unbounded = false;    // may use as much processor time as it wants
};

// The program under test with these arguments.
Ran lastout(const Start& start);
// The same for `lastout(...)` with arguments alone.
Ran lastout(std::vector<std::string> arguments);
// A line of shell, in which `lastout` is the program under test.
Ran shell(const std::string& line);

// The program under test, running until it is told to end. Both its outputs are read together, all the time:
// who is not read waits with his work once the pipe is full.
class Running {
 public:
  // Is told each line that it prints, by one thread at a time.
  using Said = std::function<void(const std::string& line)>;

  // Starts it and waits until it has printed `greeting`, or has ended. `program` instead of it, if given.
  Running(std::vector<std::string> arguments, const std::string& greeting, const std::string& program = {},
          Said said = {});
  ~Running();  // ends it with SIGKILL
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  // What it had printed when its greeting came, which is in there.
  const std::string& greeting() const { return greeting_; }
  // What follows `before` in that, to the end of the line; "": it did not print `before`.
  std::string greetingAfter(const std::string& before) const;
  int process() const { return process_; }
  // Waits until it has printed that, ever; false: it has ended, and has not.
  bool waitFor(const std::string& text);
  // True if it has closed its outputs, as a process does that ends.
  bool hasEnded();
  // From now on what it prints is read, and not kept.
  void discard() { discards_ = true; }
  // Sends SIGINT, as Ctrl-C does, and waits for its end. Once only, of this and the next.
  Ran interrupt();
  // The same with SIGTERM, as a kubelet does.
  Ran terminate();

 private:
  void readToTheEnd();
  void tell(std::string_view piece);
  Ran end(int signal);

  int process_ = -1;
  int output_ = -1;
  const Said said_;
  std::string line_;  // that it has not printed to its end, where somebody is told
  std::string greeting_;
  std::atomic<bool> discards_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string printed_;  // guarded by the mutex, once there is a reader, as what follows
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace lastout::testing
