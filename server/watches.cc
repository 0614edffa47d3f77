#include "server/watches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "client/fetch.h"
#include "criticalservice/critical_service.h"
#include "server/object_watch.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{1'000};
constexpr std::chrono::milliseconds kDiscoveryPause{200};  // between two discoveries, whatever changes

client::Content contentOf(const kube::GroupResource& type) {
  return type == criticalservice::criticalServiceType() ? client::Content::Whole : client::Content::Metadata;
}

}  // namespace

Watches::Watches(std::shared_ptr<client::Access> access, LiveView& view, WatchesOptions options)
    : access_(std::move(access)),
      view_(view),
      options_(std::move(options)),
      server_(access_->newServer()),
      backoff_(options_.watcher.reflector.backoff, options_.random()),
      awaited_(client::Backoff(options_.watcher.reflector.backoff, options_.random())),
      discoveryProblems_(options_.log, "cannot find out what the API server serves: ",
                         "what the API server serves can be found out again") {}

Watches::~Watches() { stop(); }

void Watches::start() {
  thread_ = std::thread([this] { run(); });
}

void Watches::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  server_->stop();
  if (thread_.joinable()) thread_.join();
  followed_.clear();
}

bool Watches::isStopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Watches::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const TimePoint now = steady_clock::now();
    const bool mayDiscover = now >= discoverNotBefore_;
    const bool typesChanged = mayDiscover && std::exchange(typesChanged_, false);
    reconsider_ = false;
    lock.unlock();
    lookAgain();
    if (typesChanged) awaited_.reset();
    const bool awaits = mayDiscover && awaited_.isDue(view_.awaited(), now);
    if (typesChanged || awaits || (mayDiscover && now >= rediscoverAt_)) {
      rediscover();
      lookAgain();
    }
    lock.lock();
    changed_.wait_for(lock, kTick, [this] {
      return stopping_ || reconsider_ || (typesChanged_ && steady_clock::now() >= discoverNotBefore_);
    });
  }
}

void Watches::lookAgain() {
  view_.tick(steady_clock::now());
  reconsider();
  if (reconsidered_) reconsidered_();
}

void Watches::rediscover() {
  auto discovery = client::discover(*server_);
  if (isStopping()) return;  // what was cut off is no gap
  const TimePoint now = steady_clock::now();
  if (!discovery) {
    rediscoverAt_ = discoverNotBefore_ = now + backoff_.next();
    discoveryProblems_.note(discovery.error().message);
    return;
  }
  discoveryProblems_.note("");
  backoff_.reset();
  rediscoverAt_ = now + options_.rediscoverAfter;
  discoverNotBefore_ = now + kDiscoveryPause;
  view_.discovered(std::move(*discovery), now);
  // What could not be read before may be there now, or may be read now.
  for (auto& [type, followed] : followed_) {
    if (!admission::believable(view_.knowledge(type))) followed.watcher->hurry();
  }
}

void Watches::reconsider() {
  const std::vector<kube::GroupResource> wanted = view_.wanted();
  std::vector<kube::GroupResource> unwanted;
  for (const auto& [type, followed] : followed_) {
    if (!std::ranges::binary_search(wanted, type)) unwanted.push_back(type);
  }
  for (const kube::GroupResource& type : unwanted) unfollow(type);
  for (const kube::GroupResource& type : wanted) {
    if (const auto served = view_.find(type)) {
      follow(*served);
    } else if (view_.knowledge(type) == graph::Knowledge::Absent) {
      unfollow(type);
    }
  }
}

void Watches::follow(const kube::ResourceType& type) {
  const std::string path = client::collectionPath(type);
  if (const auto found = followed_.find(type.type); found != followed_.end()) {
    if (found->second.path == path) return;
    unfollow(type.type);  // another version is served now
  }
  Followed followed{path, std::make_unique<client::Watcher>(
                              access_->newServer(), client::WatchedType{path, "", contentOf(type.type)},
                              forOneMore(options_.watcher, options_.random), audienceFor(type))};
  followed.watcher->start();
  followed_.emplace(type.type, std::move(followed));
}

void Watches::unfollow(const kube::GroupResource& type) {
  const auto found = followed_.find(type);
  if (found == followed_.end()) return;
  followed_.erase(found);
  view_.forget(type, steady_clock::now());
}

client::Audience Watches::audienceFor(const kube::ResourceType& type) {
  return {[this, type](client::StreamedObject object) {
            view_.upsert(type, std::move(object));
            noticed(type.type);
            if (options_.told) options_.told();
          },
          [this, type](const client::Removed& object) {
            view_.remove(type.type, object);
            noticed(type.type);
            if (options_.told) options_.told();
          },
          [this, type, followed = false,
           problems = ProblemLog(options_.log, toString(type.type) + ": ",
                                 toString(type.type) + ": followed again")](
              const client::Knowledge& knowledge) mutable {
            const bool follows = knowledge.state == client::Knowledge::State::Synced;
            if (followed && !follows && !knowledge.why.empty() && options_.interrupted)
              options_.interrupted(type.type);
            followed = follows;
            view_.know(type.type, knowledge, steady_clock::now());
            problems.note(knowledge.why);
            noticed(type.type);
            wake(reconsider_);
          }};
}

// What a CRD or a CriticalService says changes what to watch.
void Watches::noticed(const kube::GroupResource& type) {
  if (type == criticalservice::criticalServiceType()) wake(reconsider_);
  if (type == kube::crdType()) wake(typesChanged_);
}

void Watches::wake(bool& why) {
  {
    const std::lock_guard lock(mutex_);
    why = true;
  }
  changed_.notify_all();
}

}  // namespace lastout::server
