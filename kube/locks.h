// Locks that the compiler checks: clang refuses code that touches a member without the mutex that guards it
// (-Wthread-safety, in every preset that is built or read by clang). GCC reads the annotations as nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define LASTOUT_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define LASTOUT_THREAD_SAFETY(attribute)
#endif

// Behind a member: it may be used only with the mutex held.
#define LASTOUT_GUARDED_BY(mutex) LASTOUT_THREAD_SAFETY(guarded_by(mutex))
// Behind a function's parameters, also a lambda's: it is called only by who holds the mutex; by who holds it
// at least as a reader; by who does not hold it.
#define LASTOUT_REQUIRES(mutex) LASTOUT_THREAD_SAFETY(requires_capability(mutex))
#define LASTOUT_REQUIRES_SHARED(mutex) LASTOUT_THREAD_SAFETY(requires_shared_capability(mutex))
#define LASTOUT_EXCLUDES(mutex) LASTOUT_THREAD_SAFETY(locks_excluded(mutex))

namespace lastout::kube {

class LASTOUT_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Tells the compiler, and does nothing: for another name of a mutex that is held.
  void assertHeld() const LASTOUT_THREAD_SAFETY(assert_capability(this)) {}

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex for as long as it lives, but for what is between unlock() and lock(). Of one thread.
class LASTOUT_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LASTOUT_THREAD_SAFETY(acquire_capability(mutex)) : lock_(mutex.mutex_) {}
  ~MutexLock() LASTOUT_THREAD_SAFETY(release_capability()) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() LASTOUT_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }
  void unlock() LASTOUT_THREAD_SAFETY(release_capability()) { lock_.unlock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

// As std::condition_variable. A predicate that touches what is guarded says so itself:
//   changed_.wait(lock, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_; });
class ConditionVariable {
 public:
  void notifyOne() noexcept { changed_.notify_one(); }
  void notifyAll() noexcept { changed_.notify_all(); }

  void wait(MutexLock& lock) { changed_.wait(lock.lock_); }
  template <class Predicate>
  void wait(MutexLock& lock, Predicate predicate) {
    changed_.wait(lock.lock_, predicate);
  }
  template <class Clock, class Duration>
  std::cv_status waitUntil(MutexLock& lock, const std::chrono::time_point<Clock, Duration>& deadline) {
    return changed_.wait_until(lock.lock_, deadline);
  }
  // False: the time is over, and the predicate still does not hold. As of waitFor().
  template <class Clock, class Duration, class Predicate>
  bool waitUntil(MutexLock& lock, const std::chrono::time_point<Clock, Duration>& deadline,
                 Predicate predicate) {
    return changed_.wait_until(lock.lock_, deadline, predicate);
  }
  template <class Rep, class Period>
  std::cv_status waitFor(MutexLock& lock, const std::chrono::duration<Rep, Period>& patience) {
    return changed_.wait_for(lock.lock_, patience);
  }
  template <class Rep, class Period, class Predicate>
  bool waitFor(MutexLock& lock, const std::chrono::duration<Rep, Period>& patience, Predicate predicate) {
    return changed_.wait_for(lock.lock_, patience, predicate);
  }

 private:
  std::condition_variable changed_;
};

// One writer, or any number of readers.
class LASTOUT_THREAD_SAFETY(capability("shared mutex")) SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

 private:
  friend class WriterLock;
  friend class ReaderLock;
  std::shared_mutex mutex_;
};

// Holds a mutex alone for as long as it lives, but for what is after unlock(). Of one thread.
class LASTOUT_THREAD_SAFETY(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) LASTOUT_THREAD_SAFETY(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~WriterLock() LASTOUT_THREAD_SAFETY(release_capability()) {}
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  void unlock() LASTOUT_THREAD_SAFETY(release_capability()) { lock_.unlock(); }

 private:
  std::unique_lock<std::shared_mutex> lock_;
};

class LASTOUT_THREAD_SAFETY(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) LASTOUT_THREAD_SAFETY(acquire_shared_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~ReaderLock() LASTOUT_THREAD_SAFETY(release_capability()) {}
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace lastout::kube
