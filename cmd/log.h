// The log of a program that serves: JSON objects on the standard error, one a line, which nobody has to wait
// for.
#pragma once

#include <spdlog/common.h>

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace lastout::cmd {

// Lines go through a queue to a thread of the log's own: whoever does not read the standard error must not
// stop verdicts. When the queue is full, the oldest lines are lost.
class Log {
 public:
  Log();
  ~Log();  // what is not read within kFarewell is lost
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  static constexpr std::chrono::milliseconds kFarewell{1'000};

  // `fields`, of which there is one at least, after `time` (UTC) and `level`. By any thread.
  void write(spdlog::level::level_enum level, const nlohmann::ordered_json& fields);
  // Writes how many lines were lost since it was called last, if any were. By one thread.
  void countLost();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace lastout::cmd
