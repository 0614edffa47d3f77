#include "server/work_keeper.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/fetch.h"
#include "client/read_metadata.h"
#include "client/writes.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using admission::Keeping;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMostDoubt{60'000};
constexpr milliseconds kKeepPause{50};        // between two looks, whatever changes
constexpr milliseconds kKeptPause{5'000};     // for the watch to tell of what was changed
constexpr milliseconds kNotToldPause{1'000};  // at what the watches have not told yet
const std::string kFinalizer(admission::kKeptFinalizer);

std::string nameOf(const KeptWorkChange& change) {
  return toString(kube::ObjectKey{manifestwork::appliedManifestWorkType(), "", change.name});
}

// What the RBAC authorizer says, and no webhook.
std::string withGrant(std::string problem) {
  if (problem.find(" cannot patch resource ") != std::string::npos ||
      problem.find(" cannot get resource ") != std::string::npos)
    problem += "; the ClusterRole lastout-keeps-works grants that";
  return problem;
}

}  // namespace

WorkKeeper::WorkKeeper(const std::shared_ptr<client::Access>& access, const LiveView& view,
                       WorkKeeperOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(access->newServer()),
      random_(options_.random()),
      doubts_(options_.log, "works are let go although nobody can tell what is there of a provider's type: ",
              "what is there of all providers' types is known again") {}

WorkKeeper::~WorkKeeper() { stop(); }

void WorkKeeper::start() {
  thread_ = std::thread([this] { run(); });
}

void WorkKeeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

void WorkKeeper::reconsider() {
  {
    const std::lock_guard lock(mutex_);
    reconsider_ = true;
  }
  changed_.notify_all();
}

bool WorkKeeper::isStopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void WorkKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return stopping_ || reconsider_; });
    reconsider_ = false;
    lock.unlock();
    if (options_.mayAct() && view_.isReady()) pass();
    lock.lock();
    changed_.wait_for(lock, kKeepPause, [this] { return stopping_; });
  }
}

// How long one type after the other has been in doubt.
milliseconds WorkKeeper::doubt(const std::optional<kube::GroupResource>& type) {
  const TimePoint now = steady_clock::now();
  if (!type) inDoubtSince_.reset();
  if (type && !inDoubtSince_) inDoubtSince_ = now;
  const milliseconds since =
      inDoubtSince_ ? std::chrono::duration_cast<milliseconds>(now - *inDoubtSince_) : milliseconds(0);
  doubts_.note(type && since >= kMostDoubt ? toString(*type) : "");
  return since;
}

std::vector<KeptWorkChange> WorkKeeper::changes() {
  std::vector<KeptWorkChange> changes;
  const bool mayKeep = options_.mayKeep();
  const std::set<std::string> refused = options_.refused();
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const bool waitsForLists = doubt(typeInDoubt(view)) < kMostDoubt;
    const ViewOfWorks works{view, types, view_.ownNamespace(), waitsForLists};
    changes = mayKeep ? keptWorksToChange(works, refused) : keptWorksToLetGo(works);
  });
  return changes;
}

void WorkKeeper::pass() {
  const std::vector<KeptWorkChange> changes = this->changes();
  std::set<std::string> uids;
  for (const KeptWorkChange& change : changes) uids.insert(change.uid);
  std::erase_if(records_, [&](const auto& record) { return !uids.contains(record.first); });
  for (const KeptWorkChange& change : changes) {
    if (isStopping() || !options_.mayAct()) return;
    if (steady_clock::now() >= recordOf(change).notBefore) settle(change);
  }
}

WorkKeeper::Record& WorkKeeper::recordOf(const KeptWorkChange& change) {
  const auto found = records_.find(change.uid);
  if (found != records_.end()) return found->second;
  const std::string name = nameOf(change);
  return records_
      .emplace(change.uid,
               Record(client::Backoff(options_.again, random_),
                      ProblemLog(options_.log, name + ": its finalizer of lastout's cannot be changed: ",
                                 name + ": its finalizer of lastout's can be changed again")))
      .first->second;
}

void WorkKeeper::settle(const KeptWorkChange& change) {
  Record& record = recordOf(change);
  const std::string forsaken = change.forsaken ? change.forsaken->uid : "";
  if (std::exchange(record.forsaken, forsaken) != forsaken) {
    record.notBefore = steady_clock::now() + kNotToldPause;
    return;
  }
  const Done done = this->change(change);
  if (isStopping()) return;  // what was cut off is no problem
  record.problems.note(done ? "" : withGrant(done.error()));
  if (!done) {
    record.notBefore = steady_clock::now() + record.backoff.next();
    return;
  }
  record.notBefore = steady_clock::now() + (*done ? kKeptPause : kNotToldPause);
  if (*done) tell(change);
}

// Over the very work as it is now: its finalizers may have changed since the view was told.
WorkKeeper::Done WorkKeeper::change(const KeptWorkChange& change) {
  const auto type = view_.find(manifestwork::appliedManifestWorkType());
  if (!type) return false;
  if (change.forsaken && !isForsaken(*change.forsaken)) return false;
  const auto meta = client::readMetadata(*server_, *type, "", change.name, options_.patience);
  if (!meta) return tl::unexpected(meta.error());
  if (!*meta || (*meta)->uid != change.uid) return false;
  std::vector<std::string> finalizers = (*meta)->finalizers;
  const bool begins = change.keeping == Keeping::Begins;
  if ((std::ranges::find(finalizers, kFinalizer) != finalizers.end()) == begins) return false;
  if (begins && (*meta)->deletionTimestamp) return false;
  if (begins)
    finalizers.push_back(kFinalizer);
  else
    std::erase(finalizers, kFinalizer);
  client::ApiRequest request = client::mergePatch(
      client::objectPath(*type, "", change.name),
      {{"metadata",
        {{"uid", change.uid}, {"resourceVersion", (*meta)->resourceVersion}, {"finalizers", finalizers}}}});
  request.patience = options_.patience;
  const auto whole = client::fetch(*server_, request);
  if (!whole) return tl::unexpected(whole.error().message);
  if (whole->answer.status < 300) return true;
  if (whole->answer.status == 404 || whole->answer.status == 409) return false;  // it has changed meanwhile
  return tl::unexpected(toString(client::statusOfAnswer(*whole)));
}

// It is there indeed, and nobody deletes it.
bool WorkKeeper::isForsaken(const VeryObject& object) {
  const auto type = view_.find(object.key.type);
  if (!type) return false;
  const auto meta =
      client::readMetadata(*server_, *type, object.key.namespaceName, object.key.name, options_.patience);
  return meta && *meta && (*meta)->uid == object.uid && !(*meta)->deletionTimestamp;
}

void WorkKeeper::tell(const KeptWorkChange& change) {
  const std::string name = nameOf(change);
  if (change.keeping == Keeping::Begins)
    return options_.log(Level::Info, name + " is kept until what it has applied is gone");
  if (!change.forsaken) return options_.log(Level::Info, name + " is kept no longer");
  const std::string message = name + " is let go although " + toString(change.forsaken->key) +
                              " is there: neither its agent nor lastout could delete that, and the garbage "
                              "collector will, once the work is gone";
  options_.log(Level::Warning, message);
  options_.told({"work.open-cluster-management.io/v1", "AppliedManifestWork", change.name, change.uid, true,
                 "LetGoEarly", message});
}

}  // namespace lastout::server
