#include "server/watches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "client/fetch.h"
#include "criticalservice/critical_service.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{1'000};

client::Content contentOf(const kube::GroupResource& type) {
  return type == criticalservice::criticalServiceType() ? client::Content::Whole : client::Content::Metadata;
}

}  // namespace

Watches::Watches(std::shared_ptr<client::Access> access, LiveView& view, WatchesOptions options)
    : access_(std::move(access)),
      view_(view),
      options_(std::move(options)),
      server_(access_->newServer()),
      backoff_(options_.watcher.reflector.backoff, options_.random()) {}

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
    const bool discovers = std::exchange(typesChanged_, false) || steady_clock::now() >= rediscoverAt_;
    reconsider_ = false;
    lock.unlock();
    if (discovers) rediscover();
    view_.tick(steady_clock::now());
    reconsider();
    lock.lock();
    changed_.wait_for(lock, kTick, [this] { return stopping_ || typesChanged_ || reconsider_; });
  }
}

void Watches::rediscover() {
  auto discovery = client::discover(*server_);
  if (isStopping()) return;  // what was cut off is no gap
  const TimePoint now = steady_clock::now();
  if (!discovery) {
    rediscoverAt_ = now + backoff_.next();
    options_.log("cannot find out what the API server serves: " + discovery.error().message);
    return;
  }
  backoff_.reset();
  rediscoverAt_ = now + options_.rediscoverAfter;
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
  client::WatcherOptions options = options_.watcher;
  options.random = options_.random();
  Followed followed{path, std::make_unique<client::Watcher>(
                              access_->newServer(), client::WatchedType{path, "", contentOf(type.type)},
                              std::move(options), audienceFor(type))};
  followed.watcher->start();
  followed_.emplace(type.type, std::move(followed));
}

void Watches::unfollow(const kube::GroupResource& type) {
  const auto found = followed_.find(type);
  if (found == followed_.end()) return;
  followed_.erase(found);
  view_.forget(type);
  view_.tick(steady_clock::now());
}

client::Audience Watches::audienceFor(const kube::ResourceType& type) {
  return {[this, type](client::StreamedObject object) {
            view_.upsert(type, std::move(object));
            noticed(type.type);
          },
          [this, type](const client::Removed& object) {
            view_.remove(type.type, object);
            noticed(type.type);
          },
          [this, type, before = std::string()](const client::Knowledge& knowledge) mutable {
            view_.know(type.type, knowledge, steady_clock::now());
            if (knowledge.why != before) {
              options_.log(toString(type.type) +
                           (knowledge.why.empty() ? ": followed again" : ": " + knowledge.why));
              before = knowledge.why;
            }
            noticed(type.type);
          }};
}

// What a CRD or a CriticalService says changes what to watch.
void Watches::noticed(const kube::GroupResource& type) {
  const bool isService = type == criticalservice::criticalServiceType();
  const bool isDefinition = type == kube::crdType();
  if (!isService && !isDefinition) return;
  if (isService && servicesChanged_) servicesChanged_();
  {
    const std::lock_guard lock(mutex_);
    (isDefinition ? typesChanged_ : reconsider_) = true;
  }
  changed_.notify_all();
}

}  // namespace lastout::server
