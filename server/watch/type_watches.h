// TypeWatches: keeps a Watcher for each type that a controller has to know as a whole, as the API server
// serves them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "client/access.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "kube/resource_map.h"

namespace lastout::server {

struct TypeWatchesOptions {
  std::function<std::optional<kube::ResourceType>(const kube::GroupResource& type)> findType;
  client::Content content = client::Content::Metadata;
  client::WatcherOptions watcher;                  // its `random` is made for each
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  std::function<client::ReflectorHandlers(const kube::ResourceType& type)> handlersOf;
  // A type that is wanted is not served; told at each follow(). Must not call these functions.
  std::function<void(const kube::GroupResource& type)> unserved;
};

// Its functions may be called by any thread, but not from within a handler.
class TypeWatches {
 public:
  TypeWatches(std::shared_ptr<client::Access> access, TypeWatchesOptions options)
      : access_(std::move(access)), options_(std::move(options)) {}
  ~TypeWatches() { stop(); }
  TypeWatches(const TypeWatches&) = delete;
  TypeWatches& operator=(const TypeWatches&) = delete;

  // These types are followed from now on, and no others.
  void follow(const std::set<kube::GroupResource>& wanted);
  void stop();  // for good

 private:
  struct Followed {
    std::string path;
    std::unique_ptr<client::Watcher> watcher;
  };

  void begin(const kube::ResourceType& type) LASTOUT_REQUIRES(mutex_);

  const std::shared_ptr<client::Access> access_;
  const TypeWatchesOptions options_;
  kube::Mutex mutex_;
  std::map<kube::GroupResource, Followed> followed_ LASTOUT_GUARDED_BY(mutex_);
  bool stopped_ LASTOUT_GUARDED_BY(mutex_) = false;
};

}  // namespace lastout::server
