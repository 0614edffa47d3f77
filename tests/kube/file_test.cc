#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "kube/parse.h"

namespace lastout::kube {
namespace {

// A folder of its own for each test, gone afterwards.
class ReadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "lastout-read-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  static std::string message(const std::string& path, const ParseLimits& limits = {}) {
    const auto read = readFile(path, limits);
    return read ? "read" : toString(read.error());
  }

  std::filesystem::path folder_;
};

TEST_F(ReadFile, GivesAllBytes) {
  const std::string bytes("a\0\xFF\n", 4);
  EXPECT_EQ(readFile(write("some", bytes)).value(), bytes);
  EXPECT_EQ(readFile(write("none", "")).value(), "");
  const std::string large(100'000, 'x');
  EXPECT_EQ(readFile(write("large", large)).value(), large);
}

TEST_F(ReadFile, StopsAtTheLimit) {
  const std::string path = write("file", "12345");
  EXPECT_EQ(message(path, {.bytes = 5}), "read");
  EXPECT_EQ(message(path, {.bytes = 4}), path + ": has 5 bytes; at most 4 are read");
}

TEST_F(ReadFile, DoesNotReadAHugeFileAtAll) {
  const std::string path = write("file", "");
  std::filesystem::resize_file(path, uintmax_t{1} << 40);  // sparse: takes no space
  EXPECT_EQ(message(path), path + ": has 1099511627776 bytes; at most 16777216 are read");
}

TEST_F(ReadFile, SaysWhyNot) {
  EXPECT_EQ(message(folder_ / "absent"),
            (folder_ / "absent").string() + ": cannot be read: No such file or directory");
  EXPECT_EQ(message(folder_), folder_.string() + ": is a folder, not a file");
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message(pipe), pipe + ": is no regular file");
  // Its size is said to be 0, and it never ends.
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: is no regular file");
}

TEST(ErrorText, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(toString(Error{"no", "file", {3, 4}}), "file:3:4: no");
  EXPECT_EQ(toString(Error{"no", "file", {}}), "file: no");
  EXPECT_EQ(toString(Error{"no", "", {3, 4}}), "line 3:4: no");
  EXPECT_EQ(toString(Error{"no", "", {}}), "no");
}

}  // namespace
}  // namespace lastout::kube
