#include "tests/faults/faulty_api.h"

#include <atomic>
#include <utility>

#include "kube/names.h"
#include "simulator/answer.h"
#include "simulator/request.h"
#include "simulator/status.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using std::chrono::milliseconds;

// So that a watch that waits for events hears of a fault soon.
constexpr milliseconds kWatchPatience{20};

std::string resourceOf(const ExchangeRequest& request) {
  const auto target = simulator::parseTarget(request.path);
  return target ? target->resource : "";
}

}  // namespace

// What FaultyApi knows of it is guarded by its mutex.
class FaultyApi::Watch : public simulator::WatchResponse {
 public:
  Watch(FaultyApi& api, std::unique_ptr<simulator::WatchResponse> real, std::string resource,
        uint64_t generation)
      : resource(std::move(resource)), generation(generation), api_(api), real_(std::move(real)) {}

  std::optional<std::string> next(milliseconds patience) override {
    if (over_) return std::nullopt;
    auto piece = exhausted_ ? std::nullopt : real_->next(std::min(patience, kWatchPatience));
    exhausted_ = !piece;
    Told told = api_.tell(*this, piece.value_or(""));
    if (told.isLast) over_ = true;
    return std::move(told.text);
  }
  void end() override {
    over_ = true;
    real_->end();
  }
  bool isExhausted() const { return exhausted_; }

  const std::string resource;
  const uint64_t generation;
  std::string kept;  // while it is held
  std::string late;  // the event that the next one overtakes

 private:
  FaultyApi& api_;
  const std::unique_ptr<simulator::WatchResponse> real_;
  bool exhausted_ = false;
  std::atomic<bool> over_{false};
};

void FaultyApi::answer(const std::string& path, const std::string& body) {
  const std::lock_guard lock(mutex_);
  answers_[path] = body;
  if (body.empty()) answers_.erase(path);
}

ExchangeResponse FaultyApi::handle(const ExchangeRequest& request) {
  if (request.method == "GET") {
    const std::lock_guard lock(mutex_);
    if (const auto found = answers_.find(request.path); found != answers_.end()) {
      ExchangeResponse answer;
      answer.body = found->second;
      return answer;
    }
  }
  if (auto refused = refusal(request)) return std::move(*refused);
  uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    generation = generation_;
  }
  ExchangeResponse response = real_(request);
  if (response.stream != nullptr)
    response.stream =
        std::make_unique<Watch>(*this, std::move(response.stream), resourceOf(request), generation);
  return response;
}

std::optional<ExchangeResponse> FaultyApi::refusal(const ExchangeRequest& request) {
  std::unique_lock lock(mutex_);
  if (now_.delay > milliseconds(0)) {
    ++faults_;
    const auto until = std::chrono::steady_clock::now() + now_.delay;
    changed_.wait_until(lock, until, [&] { return now_.delay == milliseconds(0); });
  }
  const bool isDiscovery = request.path == "/api" || request.path == "/apis";
  if (const int status = now_.undiscovered && isDiscovery ? 503 : now_.status; status != 0) {
    ++faults_;
    simulator::ApiError error;
    error.code = status;
    error.message = "a fault";
    return simulator::answerWith(error);
  }
  const std::string what = request.method + " " + resourceOf(request);
  if (now_.forbidden.contains(what)) {
    ++faults_;
    simulator::ApiError error;
    error.code = 403;
    error.reason = "Forbidden";
    error.message =
        "it is forbidden: User \"lastout\" cannot " + kube::lowerCase(request.method) + " resource \"x\"";
    return simulator::answerWith(error);
  }
  if (now_.longestPatch != 0 && what == "PATCH criticalservices" && request.body.size() > now_.longestPatch) {
    ++faults_;
    return simulator::answerWith(simulator::tooLarge(now_.longestPatch));
  }
  if (now_.expires && request.query.contains("continue")) {
    ++faults_;
    return simulator::answerWith(simulator::expired("too old: a fault"));
  }
  return std::nullopt;
}

void FaultyApi::set(Faults faults) {
  {
    const std::lock_guard lock(mutex_);
    now_ = std::move(faults);
  }
  changed_.notify_all();
}

void FaultyApi::cutWatches(int after, WatchEnd end) {
  const std::lock_guard lock(mutex_);
  end_ = end;
  cutAfter_ = after;
  if (after == 0) {
    cutAfter_.reset();
    ++generation_;
  }
}

int FaultyApi::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

bool FaultyApi::isCut(const Watch& watch) const { return watch.generation != generation_; }

FaultyApi::Told FaultyApi::tell(Watch& watch, const std::string& piece) {
  const std::lock_guard lock(mutex_);
  watch.kept += piece;
  Told told;
  if (now_.held.contains(watch.resource) && !isCut(watch)) {
    if (!piece.empty()) ++faults_;
    return told;
  }
  const std::string all = std::exchange(watch.kept, {});
  for (size_t begin = 0, end = 0; begin < all.size() && !isCut(watch); begin = end) {
    end = std::min(all.find('\n', begin), all.size() - 1) + 1;
    takeEvent(watch, all.substr(begin, end - begin), told);
  }
  if (isCut(watch)) {
    ++faults_;
    told.isLast = true;
    if (end_ == WatchEnd::Expired) told.text += simulator::errorLine(simulator::expired("too old: a fault"));
    if (end_ == WatchEnd::Amid) told.text += R"({"type":"MODIFIED","object":{"metadata":{"name":"x)";
  } else if (watch.isExhausted() || all.empty() || !now_.swaps) {  // nothing overtakes it any more
    told.text += std::exchange(watch.late, {});
    told.isLast = watch.isExhausted();
  }
  return told;
}

void FaultyApi::takeEvent(Watch& watch, const std::string& line, Told& told) {
  if (now_.swaps && watch.late.empty()) {
    watch.late = line;
    return;
  }
  if (!watch.late.empty() || now_.repeats) ++faults_;
  told.text += line + (now_.repeats ? line : "") + std::exchange(watch.late, {});
  if (!cutAfter_ || --*cutAfter_ > 0) return;
  cutAfter_.reset();
  ++generation_;
}

}  // namespace lastout::testing
