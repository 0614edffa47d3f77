#include "simulator/watch.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <utility>

namespace lastout::simulator {
namespace {

using Clock = std::chrono::steady_clock;

// Of a piece, about: objects may be large, there may be many, and many clients may watch them.
constexpr size_t kPieceBytes = size_t{256} << 10;
constexpr std::chrono::seconds kBookmarkEvery{10};  // rest/080

class Watch : public WatchResponse {
 public:
  Watch(ControlPlane& plane, WatchOptions options);
  std::optional<std::string> next(std::chrono::milliseconds patience) override;
  void end() override;

 private:
  std::string tellThere();
  bool isServed() const LASTOUT_REQUIRES(plane_.mutex);
  bool collect(std::chrono::milliseconds patience);
  void tell(const Write& write, std::string& text);
  void add(std::string_view kind, const StoredRecord& record, std::string& text);
  std::string finish(const ApiError& error);

  ControlPlane& plane_;
  WatchOptions options_;
  Clock::time_point endsAt_;
  Clock::time_point nextBookmark_;
  std::shared_ptr<const WriteHistory> history_;
  std::deque<RecordRef> there_;      // when it began, selected, and not told yet
  std::optional<ApiError> refusal_;  // when it began
  bool over_ = false;
  std::atomic<bool> isEnded_{false};  // written with the plane's mutex held, so that no wait misses it
  bool toldAny_ = false;
  uint64_t seen_ = 0;  // writes up to this version were told
  std::vector<Write> writes_;
};

Watch::Watch(ControlPlane& plane, WatchOptions options)
    : plane_(plane),
      options_(std::move(options)),
      endsAt_(plane.stopwatch() + options_.timeout),
      nextBookmark_(plane.stopwatch() + kBookmarkEvery) {
  std::vector<RecordRef> all;
  {
    const kube::MutexLock lock(plane_.mutex);
    const Storage& storage = plane_.storage;
    history_ = plane_.storage.history(options_.selection.type);
    seen_ = options_.from.value_or(storage.version());
    if (!options_.from && !options_.isSilentAtFirst)
      all = storage.list(options_.selection.type, options_.selection.namespaceName);
    const uint64_t wanted = std::max(seen_, options_.notOlderThan.value_or(0));
    if (wanted > storage.version()) refusal_ = futureVersion(wanted, storage.version());
  }
  std::ranges::copy_if(all, std::back_inserter(there_),
                       [this](const RecordRef& record) { return options_.selection.contains(*record); });
}

// A piece of what was there when the watch began, and where it ends; what is told is let go.
std::string Watch::tellThere() {
  std::string text;
  for (; !there_.empty() && text.size() < kPieceBytes; there_.pop_front())
    add("ADDED", *there_.front(), text);
  if (there_.empty() && std::exchange(options_.marksBeginning, false))
    text += bookmarkLine(*options_.type, seen_, options_.view, true);
  return text;
}

bool Watch::isServed() const {
  const ServedType& type = *options_.type;
  return !history_->ended && plane_.types.find(type.type.group, type.version, type.type.resource) != nullptr;
}

// Fills writes_ with a piece of what comes next, waiting for it if need be; when nothing can come any more,
// the watch is over. False when the history does not go back to what this watch saw last.
bool Watch::collect(std::chrono::milliseconds patience) {
  writes_.clear();
  kube::MutexLock lock(plane_.mutex);
  const Clock::time_point until = std::min(endsAt_, plane_.stopwatch() + patience);
  for (bool isLast = false;;) {
    if (!history_->after(seen_, kPieceBytes, writes_)) return false;
    const bool isAll = writes_.empty() || writes_.back().version() == history_->writes.back().version();
    over_ = isEnded_ || (isAll && !isServed());
    if (over_ || isLast || !writes_.empty()) return true;
    const Clock::time_point now = plane_.stopwatch();
    isLast = now >= until || plane_.changed.waitFor(lock, until - now) == std::cv_status::timeout;
  }
}

std::optional<std::string> Watch::next(std::chrono::milliseconds patience) {
  if (over_ || isEnded_) return std::nullopt;
  if (refusal_) return finish(*refusal_);
  if (there_.empty() && !options_.marksBeginning && !collect(patience)) {
    const kube::MutexLock lock(plane_.mutex);
    return finish(expired("too old resource version: " + std::to_string(seen_) + " (" +
                          std::to_string(history_->knownSince) + ")"));
  }
  options_.view.now = plane_.seconds();  // a watch lasts long, and ages are of the moment
  if (!there_.empty() || options_.marksBeginning) return tellThere();
  std::string text;
  for (const Write& write : writes_) tell(write, text);
  const Clock::time_point now = plane_.stopwatch();
  over_ = over_ || now >= endsAt_;
  if (options_.bookmarks && now >= std::min(endsAt_, nextBookmark_)) {
    text += bookmarkLine(*options_.type, seen_, options_.view);
    nextBookmark_ = now + kBookmarkEvery;
  }
  return text;
}

void Watch::end() {
  {
    const kube::MutexLock lock(plane_.mutex);
    isEnded_ = true;
  }
  plane_.changed.notifyAll();
}

// An object that comes into the selection is told as added, one that leaves it as deleted: as it was when it
// was in it, so that whoever selects by labels knows it by them.
void Watch::tell(const Write& write, std::string& text) {
  seen_ = write.version();
  const bool was = write.before != nullptr && options_.selection.contains(*write.before);
  const bool is = write.kind != Write::Kind::Deleted && options_.selection.contains(*write.record);
  if (is)
    add(was ? "MODIFIED" : "ADDED", *write.record, text);
  else if (was)
    add("DELETED", StoredRecord(write.record->key(), write.before->object(), seen_), text);
}

void Watch::add(std::string_view kind, const StoredRecord& record, std::string& text) {
  text += eventLine(kind, *options_.type, record, options_.view, !toldAny_);
  toldAny_ = true;
}

std::string Watch::finish(const ApiError& error) {
  over_ = true;
  return errorLine(error);
}

}  // namespace

std::unique_ptr<WatchResponse> openWatch(ControlPlane& plane, WatchOptions options) {
  return std::make_unique<Watch>(plane, std::move(options));
}

}  // namespace lastout::simulator
