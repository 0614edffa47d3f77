#include "cmd/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace lastout::cmd {
namespace {

using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr size_t kBarWidth = 24;

std::string bar(uint64_t done, uint64_t total) {
  const auto filled = static_cast<size_t>(static_cast<double>(std::min(done, total)) /
                                          static_cast<double>(total) * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
}

}  // namespace

Terminal terminalOf(int fileDescriptor, const client::Environment& environment) {
  Terminal terminal;
  const std::string_view kind = client::valueOf(environment, "TERM");
  const bool dumb = kind == "dumb" || kind.empty();
  terminal.interactive = !dumb && isatty(fileDescriptor) == 1;
  terminal.color = terminal.interactive && client::valueOf(environment, "NO_COLOR").empty();
  winsize size{};
  if (terminal.interactive && ioctl(fileDescriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  return terminal;
}

std::string withSeparators(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

Progress::Progress(std::ostream& out, const Terminal& terminal, Clock clock)
    : out_(out), terminal_(terminal), clock_(std::move(clock)), start_(clock_()), next_(start_ + kPatience) {}

void Progress::update(uint64_t done, uint64_t total, std::string_view what, std::string_view note) {
  if (!terminal_.interactive) return;
  const steady_clock::time_point now = clock_();
  if (now < next_) return;
  next_ = now + kInterval;

  std::string line;
  if (total > 0) line += bar(done, total);
  line += withSeparators(done);
  if (total > 0) line += "/" + withSeparators(total);
  line += " ";
  line += what;
  line +=
      "  " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - start_).count()) + " s";
  if (!note.empty()) {
    line += "  ";
    line += note;
  }
  // One column stays free: a full line would wrap, and could not be drawn over.
  if (line.size() >= terminal_.width) line.resize(terminal_.width - 1);
  out_ << "\r\x1b[K" << line << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace lastout::cmd
