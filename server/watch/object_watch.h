// One object of a real API server, followed by its name; and what every Watcher of server/ is given.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "client/access.h"
#include "client/backoff.h"
#include "client/reflector.h"
#include "client/watcher.h"
#include "kube/value.h"
#include "server/runtime/log.h"

namespace lastout::server {

struct ObjectWatchOptions {
  std::string collection;  // as client::collectionPath() gives it
  std::string name;
  std::string calledAs;  // in the log: "webhook configuration"
  LogSink log;
  // Both are told by the Watcher's thread. The object is whole; nullopt: it is gone.
  std::function<void(std::optional<kube::Value> object)> told;
  std::function<void(const client::SyncStatus& knowledge)> know;
};

client::Watcher watchOf(client::Access& access, ObjectWatchOptions object, client::WatcherOptions options);

// `options` for one more Watcher, which needs a `random` of its own.
client::WatcherOptions forOneMore(client::WatcherOptions options,
                                  const std::function<client::RandomFraction()>& random);

}  // namespace lastout::server
