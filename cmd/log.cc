#include "cmd/log.h"

#include <poll.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "kube/locks.h"

namespace lastout::cmd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{100};                // whether the program is to end
constexpr milliseconds kGathering{5};             // from a first line on
constexpr size_t kMostWaiting = size_t{4} << 20;  // bytes
constexpr size_t kUsualLine = 1'024;              // likewise

// It is made once a second.
std::string_view nowText() {
  thread_local std::time_t made = 0;
  thread_local char text[32];
  const std::time_t now = std::time(nullptr);
  if (std::exchange(made, now) != now) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

}  // namespace

LogLine::LogLine(spdlog::level::level_enum level, std::string_view msg) : level_(level), json_(kUsualLine) {
  const auto name = spdlog::level::to_string_view(level);
  json_.raw("{");
  add("time", nowText());
  add("level", std::string_view(name.data(), name.size()));
  add("msg", msg);
}

LogLine& LogLine::add(std::string_view key, std::string_view value) {
  json_.key(key);
  json_.text(value);
  return *this;
}

LogLine& LogLine::add(std::string_view key, int64_t value) {
  json_.key(key);
  json_.number(value);
  return *this;
}

LogLine& LogLine::add(std::string_view key, bool value) {
  json_.key(key);
  json_.flag(value);
  return *this;
}

std::string LogLine::take() {
  json_.raw("}");
  return json_.take();
}

// Has a mutex of its own, by which the compiler knows what it guards. Writes to the standard error and is
// never stuck in it: a pipe that is ready takes PIPE_BUF bytes at once.
class Log::Sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Sink(int to) : to_(to), thread_([this] { run(); }) {}
  ~Sink() override {
    {
      const kube::MutexLock lock(lines_);
      end_ = steady_clock::now() + kFarewell;
    }
    changed_.notifyOne();
    thread_.join();
  }

  // How many lines were lost since this was called last; none as long as there is no room for a line that
  // says so.
  size_t takeLost() {
    const kube::MutexLock lock(lines_);
    return waiting_.size() > kMostWaiting / 2 ? 0 : std::exchange(lost_, 0);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const kube::MutexLock lock(lines_);
    if (waiting_.size() + message.payload.size() >= kMostWaiting) {
      ++lost_;
      return;
    }
    if (waiting_.empty()) changed_.notifyOne();
    waiting_.append(message.payload.data(), message.payload.size()).push_back('\n');
  }
  void flush_() override {}

  void run() {
    kube::MutexLock lock(lines_);
    while (true) {
      changed_.wait(lock, [this]() LASTOUT_REQUIRES(lines_) { return !waiting_.empty() || end_; });
      if (waiting_.empty()) return;
      changed_.waitFor(lock, kGathering, [this]() LASTOUT_REQUIRES(lines_) { return end_.has_value(); });
      const std::string gathered = std::exchange(waiting_, {});
      lock.unlock();
      const std::string_view left = write(gathered);
      lock.lock();
      lost_ += static_cast<size_t>(std::ranges::count(left, '\n'));
    }
  }

  // What cannot be written is left. Whole lines at a time, as far as they are no longer than PIPE_BUF, so
  // that nobody else's text comes between.
  std::string_view write(std::string_view left) {
    while (!left.empty() && !isOver()) {
      pollfd errors{to_, POLLOUT, 0};
      if (poll(&errors, 1, static_cast<int>(kLook.count())) <= 0) continue;
      const std::string_view piece = left.substr(0, PIPE_BUF);
      const size_t line = piece.rfind('\n');
      const ssize_t written =
          ::write(to_, piece.data(), line == std::string_view::npos ? piece.size() : line + 1);
      if (written < 0 && errno != EINTR && errno != EAGAIN) break;
      left.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return left;
  }

  bool isOver() {
    const kube::MutexLock lock(lines_);
    return end_ && steady_clock::now() >= *end_;
  }

  const int to_;
  kube::Mutex lines_;
  kube::ConditionVariable changed_;
  std::string waiting_ LASTOUT_GUARDED_BY(lines_);
  size_t lost_ LASTOUT_GUARDED_BY(lines_) = 0;
  // The program ends, and waits no longer than until then.
  std::optional<steady_clock::time_point> end_ LASTOUT_GUARDED_BY(lines_);
  std::thread thread_;
};

Log::Log(int to, spdlog::level::level_enum least)
    : sink_(std::make_shared<Sink>(to)), logger_(std::make_unique<spdlog::logger>("lastout", sink_)) {
  logger_->set_level(least);
}

Log::~Log() = default;

void Log::write(LogLine line) { logger_->log(line.level(), line.take()); }

bool Log::countLost() {
  const size_t lost = sink_->takeLost();
  if (lost == 0) return false;
  write(LogLine(spdlog::level::warn, "lines of this log were lost: they were not read in time")
            .add("lines", static_cast<int64_t>(lost)));
  return true;
}

}  // namespace lastout::cmd
