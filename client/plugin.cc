// Runs a plugin; plugin_answer.cc reads what it says.
#include "client/plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "client/environment.h"
#include "kube/messages.h"

namespace lastout::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{10};  // how often to look whether it has ended
constexpr size_t kMostSaid = 300;               // bytes of its standard error that a message repeats

std::string systemWords(int code) { return std::generic_category().message(code); }

class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int number) {
    close();
    number_ = number;
  }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// One of the plugin's outputs, and what has come from it.
struct Output {
  Descriptor reading;
  Descriptor writing;  // the plugin's end
  std::string text;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return ::fcntl(reading.number(), F_SETFL, O_NONBLOCK) == 0;
  }

  // Takes what is there, some of it when it is much; then drops what is beyond the last `keep` bytes.
  void take(size_t keep) {
    std::array<char, 65536> buffer;
    for (int i = 0; i < 64 && reading.number() >= 0; ++i) {
      const ssize_t count = ::read(reading.number(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return reading.close();
      text.append(buffer.data(), static_cast<size_t>(count));
      if (text.size() > keep) text.erase(0, text.size() - keep);
    }
  }
};

// A null-terminated array of C strings, as exec wants it.
std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> variablesOf(const ExecPlugin& plugin) {
  Environment variables = processEnvironment();
  for (const auto& [name, value] : plugin.environment) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = plugin.info;
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

// The actions and attributes of posix_spawn, freed at the end.
struct Spawning {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  Spawning() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
};

// Answers 0 or the system's error.
int start(const ExecPlugin& plugin, const Output& out, const Output& err, pid_t& process) {
  Spawning spawning;
  posix_spawn_file_actions_addopen(&spawning.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawning.actions, out.writing.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&spawning.actions, err.writing.number(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&spawning.actions, STDERR_FILENO + 1);
  // A group of its own, so that what it starts can be killed with it; and the signals as every program
  // expects them, whatever this one blocks or ignores.
  sigset_t none;
  sigemptyset(&none);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&usual, number);
  posix_spawnattr_setpgroup(&spawning.attributes, 0);
  posix_spawnattr_setsigmask(&spawning.attributes, &none);
  posix_spawnattr_setsigdefault(&spawning.attributes, &usual);
  posix_spawnattr_setflags(&spawning.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = {plugin.command};
  words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> environment = variablesOf(plugin);
  return ::posix_spawnp(&process, plugin.command.c_str(), &spawning.actions, &spawning.attributes,
                        pointersTo(words).data(), pointersTo(environment).data());
}

// Whether it has ended; it stays there for reap(), so that its number is not given to anybody else.
bool hasEnded(pid_t process) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == process;
}

// How it ended, as the end of a sentence; "" when all was well.
std::string reap(pid_t process) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED) != 0)
    if (errno != EINTR) return "ended, but nobody knows how: " + systemWords(errno);
  if (info.si_code != CLD_EXITED) return "was ended by signal " + std::to_string(info.si_status);
  return info.si_status == 0 ? "" : "failed with " + std::to_string(info.si_status);
}

// "; it said: ...", the end of its standard error.
std::string said(const Output& err) {
  constexpr const char* kAround = " \t\r\n";
  std::string_view text = err.text;
  text = text.substr(0, text.find_last_not_of(kAround) + 1);
  if (text.size() > kMostSaid) text.remove_prefix(text.size() - kMostSaid);
  text.remove_prefix(std::min(text.find_first_not_of(kAround), text.size()));
  if (text.empty()) return "";
  std::string oneLine(text);
  std::ranges::replace(oneLine, '\n', ' ');
  return "; it said: " + kube::printable(oneLine);
}

void waitForMore(const Output& out, const Output& err) {
  // A closed one is -1, which poll passes over.
  std::array<pollfd, 2> waiting = {{{out.reading.number(), POLLIN, 0}, {err.reading.number(), POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(kLook.count()));
}

// Why it must not go on; "" as long as it may.
std::string mustEnd(const PluginLimits& limits, const Output& out, SteadyClock::time_point begin,
                    const std::stop_token& stop) {
  if (stop.stop_requested()) return "was stopped";
  if (out.text.size() > limits.answerBytes)
    return "wrote more than " + std::to_string(limits.answerBytes) + " bytes: that is no credential";
  if (SteadyClock::now() - begin >= limits.time)
    return "did not end within " + std::to_string(limits.time.count()) +
           " ms; it must work without being asked anything";
  return "";
}

}  // namespace

kube::Error pluginError(const ExecPlugin& plugin, const std::string& message) {
  std::string text = plugin.path.empty() ? "" : plugin.path + ": ";
  text += "the credential plugin " + kube::inQuotes(plugin.command) + " " + message;
  return {std::move(text), plugin.file, plugin.position};
}

kube::Result<std::string> runPlugin(const ExecPlugin& plugin, const PluginLimits& limits,
                                    const std::stop_token& stop) {
  Output out;
  Output err;
  if (!out.open() || !err.open())
    return tl::unexpected(pluginError(plugin, "cannot be started: " + systemWords(errno)));
  const SteadyClock::time_point begin = SteadyClock::now();
  pid_t process = 0;
  if (const int code = start(plugin, out, err, process); code != 0) {
    std::string message = "cannot be started: " + systemWords(code);
    if (!plugin.installHint.empty()) message += "; " + kube::printable(plugin.installHint);
    return tl::unexpected(pluginError(plugin, message));
  }
  out.writing.close();
  err.writing.close();

  for (;;) {
    // In this order: what an ended plugin wrote is all there.
    const bool ended = hasEnded(process);
    out.take(limits.answerBytes + 1);
    err.take(kMostSaid * 2);
    const bool tooMuch = out.text.size() > limits.answerBytes;
    if (ended && !tooMuch) break;
    if (const std::string why = mustEnd(limits, out, begin, stop); !why.empty()) {
      ::kill(-process, SIGKILL);
      reap(process);
      return tl::unexpected(pluginError(plugin, why + said(err)));
    }
    // It may have closed both and go on: then there is nothing to wait for but time.
    waitForMore(out, err);
  }
  if (const std::string how = reap(process); !how.empty())
    return tl::unexpected(pluginError(plugin, how + said(err)));
  return std::move(out.text);
}

}  // namespace lastout::client
