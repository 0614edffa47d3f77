#include "server/watch/type_watches.h"

#include <utility>

#include "client/api_server.h"
#include "server/watch/object_watch.h"

namespace lastout::server {

void TypeWatches::follow(const std::set<kube::GroupResource>& wanted) {
  const kube::MutexLock lock(mutex_);
  if (stopped_) return;
  for (auto one = followed_.begin(); one != followed_.end();) {
    const auto served = wanted.contains(one->first) ? options_.findType(one->first) : std::nullopt;
    if (served && client::collectionPath(*served) == one->second.path)
      ++one;
    else
      one = followed_.erase(one);
  }
  for (const kube::GroupResource& type : wanted) {
    if (followed_.contains(type)) continue;
    if (const auto served = options_.findType(type))
      begin(*served);
    else
      options_.unserved(type);
  }
}

void TypeWatches::begin(const kube::ResourceType& type) {
  Followed& followed = followed_[type.type];
  followed.path = client::collectionPath(type);
  followed.watcher = std::make_unique<client::Watcher>(
      access_->newServer(), client::WatchedType{followed.path, {}, options_.content},
      forOneMore(options_.watcher, options_.random), options_.handlersOf(type));
  followed.watcher->start();
}

void TypeWatches::stop() {
  const kube::MutexLock lock(mutex_);
  stopped_ = true;
  followed_.clear();
}

}  // namespace lastout::server
