#include "server/watch/watches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "client/api_server.h"
#include "criticalservice/critical_service.h"
#include "kube/well_known.h"
#include "server/controllers/dependency_standing.h"
#include "server/watch/object_watch.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{1'000};
constexpr std::chrono::milliseconds kDiscoveryPause{200};  // between two discoveries, whatever changes
constexpr std::chrono::milliseconds kAwaitedPause{20};  // the first, until awaited types are asked for again

client::Content contentOf(const kube::GroupResource& type, const std::set<kube::GroupResource>& referring) {
  if (type == criticalservice::criticalServiceType()) return client::Content::Whole;
  return referring.contains(type) ? client::Content::References : client::Content::Metadata;
}

// For the log.
std::string withGrant(const client::SyncStatus& knowledge, const kube::GroupResource& type) {
  const bool isForbidden = knowledge.state == client::SyncStatus::State::Forbidden;
  return knowledge.problem() + (isForbidden ? grantOfDependencies(type) : "");
}

}  // namespace

Watches::Watches(std::shared_ptr<client::Access> access, LiveView& view, WatchesOptions options)
    : access_(std::move(access)),
      view_(view),
      options_(std::move(options)),
      server_(access_->newServer()),
      backoff_(options_.watcher.reflector.backoff, options_.random()),
      awaited_(client::Backoff({std::min(kAwaitedPause, options_.watcher.reflector.backoff.first),
                                options_.watcher.reflector.backoff.most},
                               options_.random())),
      discoveryProblems_(options_.log, "cannot find out what the API server serves: ",
                         "what the API server serves can be found out again"),
      loop_([this] { round(); }, std::chrono::milliseconds(0)) {}

Watches::~Watches() { stop(); }

void Watches::start() {
  loop_.wake();
  loop_.start();
}

void Watches::stop() {
  loop_.stop([this] { server_->stop(); });
  followed_.clear();
}

void Watches::round() {
  const TimePoint now = steady_clock::now();
  const bool mayDiscover = now >= discoverNotBefore_;
  std::set<std::string> groups;
  bool all = false;
  if (mayDiscover) {
    const kube::MutexLock lock(mutex_);
    groups.swap(changedGroups_);
    all = std::exchange(typesChanged_, false) || now >= rediscoverAt_;
  }
  lookAgain();
  if (all || !groups.empty()) awaited_.reset();
  const std::vector<kube::GroupResource> awaited = view_.awaited();
  if (mayDiscover && awaited_.isDue(awaited, now)) {
    for (const kube::GroupResource& type : awaited) groups.insert(type.group);
  }
  if (all || !groups.empty()) {
    rediscover(all, groups);
    lookAgain();
  }
  const kube::MutexLock lock(mutex_);
  loop_.wakeAt(nextLook());
}

TimePoint Watches::nextLook() const {
  const bool discovers = typesChanged_ || !changedGroups_.empty();
  const TimePoint wanted = discovers ? discoverNotBefore_ : std::max(awaited_.dueAt(), discoverNotBefore_);
  return std::min(steady_clock::now() + kTick, wanted);
}

void Watches::lookAgain() {
  view_.tick(steady_clock::now());
  reconsider();
  if (reconsidered_) reconsidered_();
}

// All, or what is of these groups, and of new ones.
void Watches::rediscover(bool all, const std::set<std::string>& groups) {
  if (!discovered_) all = true;
  auto discovery = all ? client::discover(*server_) : client::discoverAgain(*server_, *discovered_, groups);
  if (loop_.isStopping()) return;  // what was cut off is no gap
  const TimePoint now = steady_clock::now();
  if (!discovery) {
    rediscoverAt_ = discoverNotBefore_ = now + backoff_.next();
    discoveryProblems_.note(discovery.error().message);
    return;
  }
  discoveryProblems_.note("");
  backoff_.reset();
  if (all) rediscoverAt_ = now + options_.rediscoverAfter;
  discoverNotBefore_ = now + kDiscoveryPause;
  discovered_ = std::move(*discovery);
  view_.discovered(*discovered_, now);
  // What could not be read before may be there now, or may be read now.
  for (auto& [type, followed] : followed_) {
    if (!graph::believable(view_.knowledge(type))) followed.watcher->hurry();
  }
}

void Watches::reconsider() {
  const std::vector<kube::GroupResource> wanted = view_.wanted();
  std::vector<kube::GroupResource> unwanted;
  for (const auto& [type, followed] : followed_) {
    if (!std::ranges::binary_search(wanted, type)) unwanted.push_back(type);
  }
  for (const kube::GroupResource& type : unwanted) unfollow(type);
  const std::set<kube::GroupResource> referring = view_.wantedWithReferences();
  for (const kube::GroupResource& type : wanted) {
    if (const auto served = view_.find(type)) {
      follow(*served, contentOf(type, referring));
    } else if (view_.knowledge(type) == graph::Knowledge::Absent) {
      unfollow(type);
    }
  }
}

// A type that tells what providers need only since now, as the first CriticalService wants that which names
// it, is listed again: nothing is known of it until then, and unknown means no. The other way round nothing
// is gained by that: what is told once with its references stays so as long as it is followed.
void Watches::follow(const kube::ResourceType& type, client::Content content) {
  const std::string path = client::collectionPath(type);
  if (const auto found = followed_.find(type.type); found != followed_.end()) {
    if (found->second.path == path && found->second.content >= content && !view_.lacksFields(type.type))
      return;
    content = std::max(content, found->second.content);
    unfollow(type.type);  // another version is served now, or more of it is wanted
  }
  const bool keepsFields = view_.keepFields(type.type, content == client::Content::Metadata);
  const client::Content read = keepsFields ? client::Content::Whole : content;
  Followed followed{
      path, content,
      std::make_unique<client::Watcher>(access_->newServer(), client::WatchedType{path, "", read},
                                        forOneMore(options_.watcher, options_.random), handlersFor(type))};
  followed.watcher->start();
  followed_.emplace(type.type, std::move(followed));
}

void Watches::unfollow(const kube::GroupResource& type) {
  const auto found = followed_.find(type);
  if (found == followed_.end()) return;
  followed_.erase(found);
  view_.forget(type, steady_clock::now());
}

client::ReflectorHandlers Watches::handlersFor(const kube::ResourceType& type) {
  const auto upsert = [this, type](client::StreamedObject object) {
    const std::string name = object.meta.name;
    view_.upsert(type, std::move(object), steady_clock::now());
    noticed(type.type, name);
    if (options_.told) options_.told();
  };
  return {upsert,
          [this, type](const client::Removed& object) {
            view_.remove(type.type, object);
            noticed(type.type, object.name);
            if (options_.told) options_.told();
          },
          [this, type, followed = false,
           problems = ProblemLog(options_.log, toString(type.type) + ": ",
                                 toString(type.type) + ": followed again")](
              const client::SyncStatus& knowledge) mutable {
            const bool follows = knowledge.state == client::SyncStatus::State::Synced;
            if (followed && !follows && !knowledge.why.empty() && options_.interrupted)
              options_.interrupted(type.type);
            followed = follows;
            view_.know(type.type, knowledge, steady_clock::now());
            // A type that went with its CRD is no problem.
            const bool isGone = view_.knowledge(type.type) == graph::Knowledge::Absent;
            problems.note(isGone ? "" : withGrant(knowledge, type.type));
            noticed(type.type, "");
          },
          upsert};
}

// What a CRD or a CriticalService says changes what to watch. Without a name: how well the type is known
// does.
void Watches::noticed(const kube::GroupResource& type, const std::string& name) {
  const bool isDefinition = type == kube::kCustomResourceDefinitions;
  const bool isService = type == criticalservice::criticalServiceType();
  if (!name.empty() && !isDefinition && !isService) return;
  {
    const kube::MutexLock lock(mutex_);
    const size_t dot = name.find('.');
    if (isDefinition && dot == std::string::npos) typesChanged_ = true;
    if (isDefinition && dot != std::string::npos) changedGroups_.insert(name.substr(dot + 1));
  }
  loop_.wake();
}

}  // namespace lastout::server
