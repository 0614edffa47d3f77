// The compiler refuses what touches a guarded member without its lock, and the locks do what they say.
#include "kube/locks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

namespace lastout::kube {
namespace {

class GuardedCount {
 public:
  void add(int more) {
    {
      const MutexLock lock(mutex_);
      count_ += more;
    }
    changed_.notifyAll();
  }
  int waitForMoreThan(int least) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [this, least]() LASTOUT_REQUIRES(mutex_) { return count_ > least; });
    return count_;
  }
  bool isMoreThan(int least, std::chrono::milliseconds patience) {
    MutexLock lock(mutex_);
    return changed_.waitFor(lock, patience,
                            [this, least]() LASTOUT_REQUIRES(mutex_) { return count_ > least; });
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int count_ LASTOUT_GUARDED_BY(mutex_) = 0;
};

TEST(Locks, AConditionIsWaitedFor) {
  GuardedCount count;
  std::thread other([&count] { count.add(1); });
  EXPECT_EQ(count.waitForMoreThan(0), 1);
  other.join();
  EXPECT_TRUE(count.isMoreThan(0, std::chrono::milliseconds(0)));
  EXPECT_FALSE(count.isMoreThan(1, std::chrono::milliseconds(0)));
}

TEST(Locks, SeveralReadAtATime) {
  SharedMutex mutex;
  const ReaderLock lock(mutex);
  std::thread other([&mutex] { const ReaderLock also(mutex); });
  other.join();
}

// The numbers of the lines that clang refuses in a class with `int count_`, guarded by `Mutex mutex_`, and
// `int shared_`, guarded by `SharedMutex lock_`. The first is 1.
std::set<int> refusedLines(const std::string& members) {
  const std::string name = ::testing::TempDir() + "locks_test.refused";
  const std::string line =
      "echo '#include \"kube/locks.h\"\n"
      "using namespace lastout::kube;\n"
      "struct Example { Mutex mutex_; ConditionVariable changed_; int count_ LASTOUT_GUARDED_BY(mutex_) = "
      "0;\n"
      "SharedMutex lock_; int shared_ LASTOUT_GUARDED_BY(lock_) = 0;\n"
      "#line 1\n" +
      members + "};' | clang++-14 -std=c++20 -fsyntax-only -Wthread-safety -I. -x c++ - 2>&1 |" +
      " sed -n 's/^[^ ]*:\\([0-9]*\\):[0-9]*: .*requires holding.*/\\1/p' > " + name;
  EXPECT_EQ(std::system(line.c_str()), 0);
  std::ifstream file(name);
  return {std::istream_iterator<int>(file), std::istream_iterator<int>()};
}

TEST(Locks, TheCompilerRefusesWhatTouchesAMemberWithoutItsLock) {
  if (std::system("command -v clang++-14 >/dev/null") != 0) GTEST_SKIP() << "there is no clang++-14";
  EXPECT_EQ(refusedLines(
                "int a() { const MutexLock lock(mutex_); return count_; }\n"
                "int b() { return count_; }\n"
                "int c() { MutexLock lock(mutex_); lock.unlock(); return count_; }\n"
                "void d() { MutexLock lock(mutex_); changed_.wait(lock, [this] { return count_ > 0; }); }\n"
                "int e() LASTOUT_REQUIRES(mutex_) { return count_; }\n"
                "int f() { return e(); }\n"
                "int g() { const ReaderLock lock(lock_); return shared_; }\n"
                "void h() { const WriterLock lock(lock_); ++shared_; }\n"
                "void i() { const ReaderLock lock(lock_); ++shared_; }\n"
                "void j() { WriterLock lock(lock_); lock.unlock(); ++shared_; }\n"),
            (std::set<int>{2, 3, 4, 6, 9, 10}));
}

}  // namespace
}  // namespace lastout::kube
