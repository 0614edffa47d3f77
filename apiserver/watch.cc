#include "apiserver/watch.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace lastout::apiserver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostAtOnce = 500;                 // writes that are taken under one hold of the lock
constexpr std::chrono::seconds kBookmarkEvery{10};  // rest/080

class Watch : public WatchStream {
 public:
  Watch(ControlPlane& plane, WatchOptions options)
      : plane_(plane),
        options_(std::move(options)),
        end_(plane.stopwatch() + options_.timeout),
        nextBookmark_(plane.stopwatch() + kBookmarkEvery) {}

  std::optional<std::string> next(std::chrono::milliseconds patience) override;

 private:
  bool start(std::string& text);
  bool collect(std::chrono::milliseconds patience);
  void tell(const Write& write, std::string& text);
  void add(std::string_view kind, const Record& record, std::string& text);
  std::string finish(const ApiError& error);

  ControlPlane& plane_;
  WatchOptions options_;
  Clock::time_point end_;
  Clock::time_point nextBookmark_;
  bool started_ = false;
  bool over_ = false;
  bool toldAny_ = false;
  uint64_t seen_ = 0;  // writes up to this version were told
  std::vector<Write> writes_;
};

// What is there when the watch begins; nothing to tell when it begins at a version.
bool Watch::start(std::string& text) {
  started_ = true;
  std::vector<RecordRef> records;
  {
    const std::scoped_lock lock(plane_.mutex);
    seen_ = options_.from.value_or(plane_.storage.version());
    if (seen_ > plane_.storage.version()) {
      text = finish(futureVersion(seen_, plane_.storage.version()));
      return false;
    }
    if (options_.from) return true;
    records = plane_.storage.list(options_.selection.type, options_.selection.namespaceName);
  }
  for (const RecordRef& record : records) {
    if (options_.selection.contains(*record)) add("ADDED", *record, text);
  }
  return true;
}

// Fills writes_ with what comes next, waiting for it if need be. False when the history does not go back to
// what this watch saw last.
bool Watch::collect(std::chrono::milliseconds patience) {
  writes_.clear();
  std::unique_lock lock(plane_.mutex);
  const auto read = [&] {
    return plane_.storage.writesAfter(options_.selection.type, seen_, kMostAtOnce, writes_);
  };
  if (!read()) return false;
  const Clock::time_point began = plane_.stopwatch();
  const Clock::time_point until = std::min(end_, began + patience);
  for (Clock::time_point now = began; writes_.empty(); now = plane_.stopwatch()) {
    if (now >= until || plane_.changed.wait_for(lock, until - now) == std::cv_status::timeout) return read();
    if (!read()) return false;
  }
  return true;
}

std::optional<std::string> Watch::next(std::chrono::milliseconds patience) {
  if (over_) return std::nullopt;
  std::string text;
  if (!started_ && (!start(text) || !text.empty())) return text;
  if (!collect(patience)) {
    const std::scoped_lock lock(plane_.mutex);
    return finish(expired("too old resource version: " + std::to_string(seen_) + " (" +
                          std::to_string(plane_.storage.knownSince(options_.selection.type)) + ")"));
  }
  for (const Write& write : writes_) tell(write, text);
  const Clock::time_point now = plane_.stopwatch();
  over_ = now >= end_;
  if (options_.bookmarks && (over_ || now >= nextBookmark_)) {
    text += bookmarkLine(*options_.type, seen_, options_.view);
    nextBookmark_ = now + kBookmarkEvery;
  }
  return text;
}

// An object that comes into the selection is told as added, one that leaves it as deleted.
void Watch::tell(const Write& write, std::string& text) {
  seen_ = write.version();
  const bool was = write.before != nullptr && options_.selection.contains(*write.before);
  const bool is = write.kind != Write::Kind::Deleted && options_.selection.contains(*write.record);
  if (is)
    add(was ? "MODIFIED" : "ADDED", *write.record, text);
  else if (was)
    add("DELETED", *write.record, text);
}

void Watch::add(std::string_view kind, const Record& record, std::string& text) {
  text += eventLine(kind, *options_.type, record, options_.view, !toldAny_);
  toldAny_ = true;
}

std::string Watch::finish(const ApiError& error) {
  over_ = true;
  return errorLine(error);
}

}  // namespace

std::unique_ptr<WatchStream> openWatch(ControlPlane& plane, WatchOptions options) {
  return std::make_unique<Watch>(plane, std::move(options));
}

}  // namespace lastout::apiserver
