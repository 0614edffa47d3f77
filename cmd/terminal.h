// Terminal: what the program may do where it prints, and a progress bar for work that takes over a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "client/environment.h"

namespace lastout::cmd {

struct Terminal {
  bool interactive = false;  // a person watches: it is a terminal that understands control sequences
  bool color = false;        // interactive, and NO_COLOR is not set (https://no-color.org)
  size_t width = 80;         // columns
};

// What stands behind a file descriptor (STDOUT_FILENO, STDERR_FILENO); `environment`: TERM and NO_COLOR
// count.
Terminal terminalOf(int fileDescriptor, const client::Environment& environment);

// Draws on one line, over and over. Shows nothing unless the terminal is interactive, and nothing in the
// first second; then it draws at most ten times a second, so update() may be called often. Not for several
// threads at once.
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // `out` must outlive it. The second starts to count here.
  Progress(std::ostream& out, const Terminal& terminal, Clock clock = std::chrono::steady_clock::now);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` things; a total of 0 is not known, and shows the count alone. `what` names the things,
  // as in "states" or "scenarios"; `note` says more, and is cut where the line ends.
  void update(uint64_t done, uint64_t total, std::string_view what, std::string_view note = {});
  // Takes the line away, before something else is printed. update() draws it again.
  void clear();

 private:
  std::ostream& out_;
  Terminal terminal_;
  Clock clock_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;  // not drawn before this
  bool drawn_ = false;
};

// 1234567 as "1,234,567".
std::string withSeparators(uint64_t number);

}  // namespace lastout::cmd
