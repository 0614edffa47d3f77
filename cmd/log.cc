#include "cmd/log.h"

#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lastout::cmd {
namespace {

using Fields = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{100};  // whether the program is to end
constexpr size_t kWaitingLines = 8'192;

std::string nowText() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

// Writes to the standard error and is never stuck in it: a pipe that is ready takes PIPE_BUF bytes at once.
class PatientSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // From now on it waits no longer than until then.
  void endBy(steady_clock::time_point end) { end_ = end; }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view left(line.data(), line.size());
    while (!left.empty() && steady_clock::now() < end_.load()) {
      pollfd errors{STDERR_FILENO, POLLOUT, 0};
      if (poll(&errors, 1, static_cast<int>(kLook.count())) <= 0) continue;
      const ssize_t written = ::write(STDERR_FILENO, left.data(), std::min<size_t>(left.size(), PIPE_BUF));
      if (written < 0 && errno != EINTR && errno != EAGAIN) return;
      left.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
  }
  void flush_() override {}

  std::atomic<steady_clock::time_point> end_{steady_clock::time_point::max()};
};

struct Log::Parts {
  std::shared_ptr<PatientSink> sink = std::make_shared<PatientSink>();
  std::shared_ptr<spdlog::details::thread_pool> pool =
      std::make_shared<spdlog::details::thread_pool>(kWaitingLines, 1);
  std::shared_ptr<spdlog::async_logger> logger = std::make_shared<spdlog::async_logger>(
      "lastout", sink, pool, spdlog::async_overflow_policy::overrun_oldest);
  size_t told = 0;  // of the lines that were lost
};

Log::Log() : parts_(std::make_unique<Parts>()) { parts_->logger->set_pattern("%v"); }

Log::~Log() { parts_->sink->endBy(steady_clock::now() + kFarewell); }

void Log::write(spdlog::level::level_enum level, const Fields& fields) {
  const auto name = spdlog::level::to_string_view(level);
  std::string line = R"({"time":")" + nowText() + R"(","level":")";
  line.append(name.data(), name.size()).append("\",");
  line.append(fields.dump(-1, ' ', false, Fields::error_handler_t::replace), 1);  // without its bracket
  parts_->logger->log(level, line);
}

void Log::countLost() {
  const size_t lost = parts_->pool->overrun_counter();
  if (lost == parts_->told) return;
  write(spdlog::level::warn,
        {{"msg", "lines of this log were lost: they were not read in time"}, {"lines", lost - parts_->told}});
  parts_->told = lost;
}

}  // namespace lastout::cmd
