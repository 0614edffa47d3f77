#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace lastout::testing {
namespace {

// A test program that hangs is ended, and fails its test.
#ifdef LASTOUT_SANITIZED
constexpr rlim_t kMaxCpuSeconds = 600;
#else
constexpr rlim_t kMaxCpuSeconds = 120;
#endif
constexpr uid_t kNobody = 65534;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    closeEnd(read);
    closeEnd(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void closeEnd(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

[[noreturn]] void child(pid_t parent, const Start& start, const std::vector<char*>& arguments, Pipe& in,
                        Pipe& out, Pipe& err) {
  dup2(in.read, STDIN_FILENO);
  dup2(out.write, STDOUT_FILENO);
  dup2(start.errorsToOut ? out.write : err.write, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);  // the sockets on which the test listens, among others
  if (!start.unbounded) {
    const rlimit cpu = {kMaxCpuSeconds, kMaxCpuSeconds};
    setrlimit(RLIMIT_CPU, &cpu);
  }
  if (start.asNobody && geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
  // Nothing is left of a test that is ended because it took too long.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  execv(arguments.front(), arguments.data());
  _exit(127);
}

// Writes the input and reads both outputs at once, so that neither side ever waits for the other.
void exchange(const std::string& input, Pipe& in, Pipe& out, Pipe& err, Ran& ran) {
  size_t written = 0;
  if (input.empty()) Pipe::closeEnd(in.write);
  while (in.write >= 0 || out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 3> waiting = {{{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) {
      const ssize_t count = write(in.write, input.data() + written, input.size() - written);
      if (count > 0) written += static_cast<size_t>(count);
      if (count <= 0 || written == input.size()) Pipe::closeEnd(in.write);
    }
    for (const auto& [index, end, text] :
         {std::tuple{1, &out.read, &ran.out}, std::tuple{2, &err.read, &ran.err}}) {
      if (waiting[static_cast<size_t>(index)].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = read(*end, buffer.data(), buffer.size());
      if (count <= 0) {
        Pipe::closeEnd(*end);
      } else {
        text->append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }
}

Ran run(const std::string& program, const Start& start) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err;
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) std::abort();
  if (process == 0) child(parent, start, arguments, in, out, err);
  Pipe::closeEnd(in.read);
  Pipe::closeEnd(out.write);
  Pipe::closeEnd(err.write);

  Ran ran;
  exchange(start.input, in, out, err, ran);
  int status = 0;
  rusage usage{};
  wait4(process, &status, 0, &usage);
  ran.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.peakKilobytes = static_cast<size_t>(usage.ru_maxrss);
  return ran;
}

}  // namespace

Ran lastout(const Start& start) { return run(LASTOUT_PROGRAM, start); }

Ran lastout(std::vector<std::string> arguments) {
  return lastout(Start{std::move(arguments), "", false, false});
}

Ran shell(const std::string& line) {
  const std::string folder = std::filesystem::absolute(LASTOUT_PROGRAM).parent_path().string();
  return run("/bin/sh", {{"-c", "PATH=\"" + folder + ":$PATH\"; " + line}, "", false, true});
}

Running::Running(std::vector<std::string> arguments, const std::string& greeting, const std::string& program,
                 Said said)
    : said_(std::move(said)) {
  arguments.insert(arguments.begin(), program.empty() ? LASTOUT_PROGRAM : program);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  Pipe in, out, err;
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) std::abort();
  if (process_ == 0) child(parent, Start{{}, "", false, true, true}, words, in, out, err);
  output_ = std::exchange(out.read, -1);
  Pipe::closeEnd(out.write);
  std::array<char, 4096> buffer{};
  while (printed_.find(greeting) == std::string::npos) {
    const ssize_t count = read(output_, buffer.data(), buffer.size());
    if (count <= 0) break;
    printed_.append(buffer.data(), static_cast<size_t>(count));
  }
  greeting_ = printed_;
  tell(printed_);
  reader_ = std::thread([this] { readToTheEnd(); });
}

void Running::readToTheEnd() {
  std::array<char, 65536> more{};
  for (ssize_t count = 1; count > 0;) {
    count = read(output_, more.data(), more.size());
    if (count > 0) tell({more.data(), static_cast<size_t>(count)});
    if (count > 0 && discards_) continue;
    {
      const std::lock_guard lock(mutex_);
      if (count > 0) printed_.append(more.data(), static_cast<size_t>(count));
      ended_ = count <= 0;
    }
    changed_.notify_all();
  }
}

void Running::tell(std::string_view piece) {
  if (!said_) return;
  line_ += piece;
  for (size_t end = 0; (end = line_.find('\n')) != std::string::npos;) {
    said_(line_.substr(0, end));
    line_.erase(0, end + 1);
  }
}

std::string Running::greetingAfter(const std::string& before) const {
  const size_t found = greeting_.find(before);
  if (found == std::string::npos) return "";
  const size_t begin = found + before.size();
  return greeting_.substr(begin, greeting_.find('\n', begin) - begin);
}

bool Running::hasEnded() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool Running::waitFor(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto isPrinted = [&] { return printed_.find(text) != std::string::npos; };
  changed_.wait(lock, [&] { return ended_ || isPrinted(); });
  return isPrinted();
}

Running::~Running() {
  if (process_ > 0) kill(process_, SIGKILL);
  if (process_ > 0) waitpid(process_, nullptr, 0);
  if (reader_.joinable()) reader_.join();
  Pipe::closeEnd(output_);
}

Ran Running::interrupt() { return end(SIGINT); }

Ran Running::terminate() { return end(SIGTERM); }

Ran Running::end(int signal) {
  kill(process_, signal);
  reader_.join();
  int status = 0;
  waitpid(std::exchange(process_, -1), &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), printed_, "", 0};
}

}  // namespace lastout::testing
