// The log of a program that serves: JSON objects on the standard error, one a line, which nobody has to wait
// for.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "admission/json_text.h"

namespace lastout::cmd {

// One line, which begins with `time` (UTC), `level` and `msg`.
class LogLine {
 public:
  LogLine(spdlog::level::level_enum level, std::string_view msg);

  LogLine& add(std::string_view key, std::string_view value);
  LogLine& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  LogLine& add(std::string_view key, int64_t value);
  LogLine& add(std::string_view key, bool value);

  spdlog::level::level_enum level() const { return level_; }
  std::string take();

 private:
  spdlog::level::level_enum level_;
  admission::JsonWriter json_;
};

// Lines are gathered for some milliseconds and written by a thread of the log's own: whoever does not read
// the standard error must not stop verdicts. While it is full, lines are lost.
class Log {
 public:
  // Writes lines of that level and above to that descriptor, which must outlive this: the standard error.
  explicit Log(int to = 2, spdlog::level::level_enum least = spdlog::level::info);
  ~Log();  // what is not read within kFarewell is lost
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  static constexpr std::chrono::milliseconds kFarewell{1'000};

  // By any thread.
  void write(LogLine line);
  void write(spdlog::level::level_enum level, std::string_view msg) { write(LogLine(level, msg)); }
  // Writes how many lines were lost and not told of yet, if any were and there is room again; whether it did.
  bool countLost();

 private:
  class Sink;
  const std::shared_ptr<Sink> sink_;
  const std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace lastout::cmd
