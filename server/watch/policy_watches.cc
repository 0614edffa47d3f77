#include "server/watch/policy_watches.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "kube/well_known.h"
#include "server/watch/object_watch.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenRounds{20};  // between two rounds

protection::ClusterType typeOf(const protection::WantedType& wanted) { return {wanted.cluster, wanted.type}; }

}  // namespace

PolicyWatches::PolicyWatches(std::shared_ptr<client::Access> access, const LiveView& live, PolicyView& view,
                             PolicyWatchesOptions options)
    : access_(std::move(access)),
      live_(live),
      view_(view),
      options_(std::move(options)),
      loop_([this] { round(); }, kBetweenRounds) {}

PolicyWatches::~PolicyWatches() { stop(); }

void PolicyWatches::stop() {
  loop_.stop();
  policies_.watcher.reset();
  followed_.clear();
}

void PolicyWatches::round() {
  view_.tick(steady_clock::now());
  view_.typesChanged();
  followPolicies();
  const std::vector<protection::WantedType> wanted = view_.wanted();
  std::erase_if(followed_, [&](const auto& one) {
    return std::ranges::find(wanted, one.first, typeOf) == wanted.end();
  });
  for (const protection::WantedType& type : wanted) {
    if (type.cluster.empty())
      follow(type);
    else
      followElsewhere(type);
  }
}

void PolicyWatches::followPolicies() {
  const kube::GroupResource type = protection::deletionPolicyType();
  if (const auto served = live_.find(type)) {
    const std::string path = client::collectionPath(*served);
    if (policies_.watcher && policies_.path == path) return;
    policies_.path = path;
    begin(policies_, *access_, client::Content::Whole, handlersOfPolicies(*served));
  } else if (live_.isAbsent(type)) {
    policies_.watcher.reset();
    view_.noPolicies();
  }
}

// A type of which other things are asked than before is followed from the beginning.
void PolicyWatches::follow(const protection::WantedType& wanted) {
  const auto served = live_.find(wanted.type);
  if (!served) {
    followed_.erase(wanted.type);
    if (!live_.isAbsent(wanted.type))
      return view_.cannotKnow(wanted.type, "the API server does not serve them now, or not to be watched",
                              wanted.generation);
    if (const auto told = absent_.find(wanted.type);
        told != absent_.end() && told->second == wanted.generation)
      return;
    view_.absent(wanted.type);
    for (const protection::WantedType& now : view_.wanted())
      if (now.type == wanted.type) absent_[wanted.type] = now.generation;
    return;
  }
  absent_.erase(wanted.type);
  follow(wanted, *served, *access_);
}

// There is no telling that a cluster which does not serve the type has none of its objects.
void PolicyWatches::followElsewhere(const protection::WantedType& wanted) {
  const auto fail = [&](const std::string& why) {
    followed_.erase(typeOf(wanted));
    view_.cannotKnow(typeOf(wanted), why, wanted.generation);
  };
  const auto cluster = view_.clusterNamed(wanted.cluster);
  if (!cluster) return fail(cluster.error());
  const auto served = (*cluster)->find(wanted.type);
  if (!served) return fail(served.error());
  follow(wanted, *served, (*cluster)->access());
}

void PolicyWatches::follow(const protection::WantedType& wanted, const kube::ResourceType& served,
                           client::Access& access) {
  const std::string path = client::collectionPath(served);
  Followed& followed = followed_[typeOf(wanted)];
  if (followed.watcher && followed.path == path && followed.generation == wanted.generation) return;
  followed.path = path;
  followed.generation = wanted.generation;
  begin(followed, access, wanted.withContent ? client::Content::Whole : client::Content::Metadata,
        handlersFor(served, wanted));
}

void PolicyWatches::begin(Followed& followed, client::Access& access, client::Content content,
                          client::ReflectorHandlers handlers) {
  followed.watcher.reset();
  followed.watcher =
      std::make_unique<client::Watcher>(access.newServer(), client::WatchedType{followed.path, "", content},
                                        forOneMore(options_.watcher, options_.random), std::move(handlers));
  followed.watcher->start();
}

client::ReflectorHandlers PolicyWatches::handlersOfPolicies(const kube::ResourceType& type) {
  const auto told = [this] {
    loop_.wake();
    if (options_.told) options_.told();
  };
  return {[this, type, told](client::StreamedObject object) {
            view_.upsertPolicy(client::toObject(std::move(object), type));
            told();
          },
          [this, told](const client::Removed& object) {
            view_.removePolicy(object.name, object.uid);
            told();
          },
          [this, told,
           problems = ProblemLog(options_.log, "deletionpolicies: ", "deletionpolicies: followed again")](
              const client::SyncStatus& knowledge) mutable {
            view_.knowPolicies(knowledge, steady_clock::now());
            problems.note(knowledge.problem());
            told();
          }};
}

// What a Namespace or a CRD says may make another type wanted.
client::ReflectorHandlers PolicyWatches::handlersFor(const kube::ResourceType& type,
                                                     const protection::WantedType& wanted) {
  const protection::ClusterType about = typeOf(wanted);
  const uint64_t generation = wanted.generation;
  const std::string called = "for policies, " + toString(about) + ": ";
  const bool wantsOthers =
      about == protection::ClusterType(kube::kCustomResourceDefinitions) || about == kube::kNamespaces;
  const auto told = [this, wantsOthers] {
    if (wantsOthers) loop_.wake();
  };
  return {
      [this, type, about, generation, told](client::StreamedObject object) {
        view_.upsert(client::toObject(std::move(object), type), generation, about.cluster);
        told();
      },
      [this, about, generation, told](const client::Removed& object) {
        view_.remove({about.type, object.namespaceName, object.name}, object.uid, generation, about.cluster);
        told();
      },
      [this, about, generation, problems = ProblemLog(options_.log, called, called + "followed again")](
          const client::SyncStatus& knowledge) mutable {
        view_.know(about, knowledge, generation, steady_clock::now());
        problems.note(knowledge.problem());
      }};
}

}  // namespace lastout::server
