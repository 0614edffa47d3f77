#include "server/controllers/finalizer_loop.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "client/writes.h"
#include "server/runtime/lack_of_right.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kRoundPause{50};         // between two looks, whatever changes
constexpr milliseconds kChangedPause{5'000};    // for the watch to tell of what was changed
constexpr milliseconds kUnchangedPause{1'000};  // at what the watches have not told yet

constexpr milliseconds kLoopPatience{10'000};  // for one answer: the API server asks webhooks
// What was refused, or could not be confirmed, is tried again after this.
constexpr client::BackoffLimits kTryAgain{milliseconds(20), milliseconds(30'000)};

std::string withGrant(std::string problem, const std::string& role) {
  if (isLackOfRight(problem, {"patch", "get"})) problem += "; the ClusterRole " + role + " grants that";
  return problem;
}

}  // namespace

FinalizerLoop::FinalizerLoop(const std::shared_ptr<client::Access>& access, const LiveView& view,
                             FinalizerLoopOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(newControllerServer(*access)),
      random_(options_.random()),
      worker_({options_.mayAct, [this] { return pass(); },
               [this] {
                 records_.clear();
                 options_.looksOn();
               },
               kRoundPause}) {}

std::optional<TimePoint> FinalizerLoop::pass() {
  if (!view_.isReady()) return std::nullopt;
  const std::vector<FinalizerChange> changes = options_.changes();
  std::set<std::string> uids;
  for (const FinalizerChange& change : changes) uids.insert(change.uid);
  std::erase_if(records_, [&](const auto& record) { return !uids.contains(record.first); });
  std::optional<TimePoint> next;
  for (const FinalizerChange& change : changes) {
    if (!worker_.goesOn()) return next;
    Record& record = recordOf(change);
    if (steady_clock::now() >= record.notBefore) settle(change, record);
    next = next ? std::min(*next, record.notBefore) : record.notBefore;
  }
  return next;
}

client::Backoff FinalizerLoop::backoff() const { return {kTryAgain, random_}; }

FinalizerLoop::Record& FinalizerLoop::recordOf(const FinalizerChange& change) {
  const auto found = records_.find(change.uid);
  if (found != records_.end()) return found->second;
  const std::string finalizer = toString(change.object) + ": lastout's finalizer ";
  return records_
      .emplace(change.uid, Record(backoff(), ProblemLog(options_.log, finalizer + "cannot be changed: ",
                                                        finalizer + "can be changed again")))
      .first->second;
}

void FinalizerLoop::settle(const FinalizerChange& change, Record& record) {
  const bool isOldDoubt = std::exchange(record.doubt, change.doubt) == change.doubt;
  if (!change.doubt.empty() && !isOldDoubt) {
    record.notBefore = steady_clock::now() + kUnchangedPause;
    return;
  }
  const Changed done = execute(change);
  if (worker_.isStopping()) return;  // what was cut off is no problem
  const std::string problem = done ? "" : withGrant(done.error(), options_.grantedBy);
  record.problems.note(problem);
  options_.attempted(change, problem);
  if (!done) {
    record.notBefore = steady_clock::now() + record.backoff.next();
    return;
  }
  record.backoff.reset();
  record.notBefore = steady_clock::now() + (*done ? kChangedPause : kUnchangedPause);
  if (*done) change.done();
}

// Over the very object as it is now: its finalizers may have changed since the view was told, and what the
// change rests on is found out after it was read. An object that terminates takes no finalizer.
Changed FinalizerLoop::execute(const FinalizerChange& change) {
  const auto type = view_.find(change.object.type);
  if (!type) return false;
  const auto meta = ObjectClient(*server_, kLoopPatience)
                        .getMetadata(*type, change.object.namespaceName, change.object.name);
  if (!meta) return tl::unexpected(meta.error().why);
  if (!*meta || (*meta)->uid != change.uid ||
      kube::hasFinalizer(**meta, options_.finalizer) == change.begins) {
    change.moot();
    return false;
  }
  if (change.begins && (*meta)->deletionTimestamp) return false;
  const Changed confirmed = change.confirm(**meta);
  if (!confirmed || !*confirmed) return confirmed;
  if (!options_.mayAct()) return false;
  return write(change, *type, **meta);
}

Changed FinalizerLoop::write(const FinalizerChange& change, const kube::ResourceType& type,
                             const kube::ObjectMeta& meta) {
  std::vector<std::string> finalizers = meta.finalizers;
  if (change.begins)
    finalizers.emplace_back(options_.finalizer);
  else
    std::erase(finalizers, options_.finalizer);
  const auto written =
      ObjectClient(*server_, kLoopPatience)
          .write(client::finalizersPatch(
              client::objectPath(type, change.object.namespaceName, change.object.name), meta, finalizers));
  if (written) return *written;
  if (isConflict(written.error())) return false;  // it has changed meanwhile
  return tl::unexpected(written.error().why);
}

tl::expected<std::optional<kube::ObjectMeta>, std::string> FinalizerLoop::read(
    const kube::ObjectKey& object) {
  const auto type = view_.find(object.type);
  if (!type) return std::nullopt;
  auto meta = ObjectClient(*server_, kLoopPatience).getMetadata(*type, object.namespaceName, object.name);
  if (!meta) return tl::unexpected(std::move(meta.error().why));
  return std::move(*meta);
}

}  // namespace lastout::server
