// The log, written to a pipe: what a reader gets, and what one gets who comes late.
#include "cmd/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lastout::cmd {
namespace {

using LoggedLine = nlohmann::json;

class LogTest : public ::testing::Test {
 public:
  LogTest() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~LogTest() override {
    closeEnd(0);
    closeEnd(1);
  }

  int writingEnd() const { return ends_[1]; }
  void closeEnd(size_t end) {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }
  // From now on everything is read, by a thread of its own.
  void read() {
    reader_ = std::thread([this] {
      std::array<char, 4096> piece;
      for (ssize_t got = 0; (got = ::read(ends_[0], piece.data(), piece.size())) > 0;) {
        const std::lock_guard lock(mutex_);
        text_.append(piece.data(), static_cast<size_t>(got));
        read_.notify_one();
      }
    });
  }
  // Waits until that was read: a log that goes does not wait for long.
  void waitFor(std::string_view words) {
    std::unique_lock lock(mutex_);
    size_t from = 0;
    read_.wait(lock, [&] {
      const size_t found = text_.find(words, from);
      from = text_.size() - std::min(text_.size(), words.size());
      return found != std::string::npos;
    });
  }
  // After the log has gone.
  std::vector<LoggedLine> lines() {
    closeEnd(1);
    reader_.join();
    std::vector<LoggedLine> all;
    std::istringstream text(text_);
    for (std::string line; std::getline(text, line);) all.push_back(LoggedLine::parse(line));
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  std::thread reader_;
  std::mutex mutex_;
  std::condition_variable read_;
  std::string text_;  // guarded by the mutex while there is a reader
};

TEST_F(LogTest, WritesAnObjectALine) {
  read();
  {
    Log log(writingEnd());
    log.write(
        LogLine(spdlog::level::info, "a \"b\"\n").add("n", int64_t{-3}).add("yes", true).add("t", "ä\xff"));
    log.write(spdlog::level::err, "c");
  }
  const std::vector<LoggedLine> all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["msg"], "a \"b\"\n");
  EXPECT_EQ(all[0]["level"], "info");
  EXPECT_EQ(all[0]["n"], -3);
  EXPECT_EQ(all[0]["yes"], true);
  EXPECT_EQ(all[0]["t"], "ä\xEF\xBF\xBD");
  EXPECT_EQ(all[1]["level"], "error");
  EXPECT_EQ(all[1]["msg"], "c");
}

// Nobody reads until more was written than is kept.
TEST_F(LogTest, TellsWhatWasLostWhenThereIsRoomAgain) {
  constexpr size_t kLines = 20'000;
  size_t written = 0;
  int64_t lost = 0;
  {
    Log log(writingEnd());
    const std::string msg(500, 'x');
    for (size_t i = 0; i < kLines; ++i) log.write(spdlog::level::info, msg);
    // Its thread may take what waits at any moment, and so make room: then this tells at once.
    bool isTold = log.countLost();
    read();
    for (; !isTold; isTold = log.countLost()) std::this_thread::yield();
    waitFor("were lost");
  }
  for (const LoggedLine& line : lines()) {
    const auto told = line.value("lines", int64_t{0});
    lost += told;
    if (told == 0) ++written;
  }
  EXPECT_GT(lost, 0);
  EXPECT_EQ(written + static_cast<size_t>(lost), kLines);
}

}  // namespace
}  // namespace lastout::cmd
