// Watcher: follows one type of a real API server: a thread that does what a Reflector asks for and tells it
// what came.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "client/api_server.h"
#include "client/reflector.h"
#include "kube/locks.h"

namespace lastout::client {

struct WatchedType {
  std::string path;       // as collectionPath() gives it
  std::string selectors;  // more of the query, escaped: "labelSelector=app%3Dweb"; empty: all objects
  Content content = Content::Metadata;
};

struct WatcherOptions {
  ReflectorOptions reflector = {};
  // The longest silence of a server that lists, which makes its whole answer before it sends any of it.
  std::chrono::milliseconds listPatience{60'000};
  RandomFraction random;  // used by the Watcher's thread alone
};

// Its functions may be called by any thread; start() and stop() by one at a time, and stop() not from within
// the handlers.
class Watcher {
 public:
  // `server` is for this Watcher alone, so that it can be stopped alone. The handlers are called by the
  // Watcher's thread, between start() and the end of stop().
  Watcher(std::unique_ptr<ApiServer> server, WatchedType type, WatcherOptions options,
          ReflectorHandlers handlers);
  ~Watcher();  // as stop()
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void start();  // once
  void stop();   // for good; what was told stays as it is

  void hurry();  // as of Reflector

  SyncStatus knowledge() const;

 private:
  using Push = std::function<kube::Result<void>(std::string_view piece)>;

  void run();
  void list(const ListPage& page);
  void watch(const WatchFrom& from);
  void wait(TimePoint until);
  bool isSameCluster();
  std::optional<ServerStatus> ask(const ApiRequest& request, const Push& push);
  std::string target(const std::string& query) const;
  bool goesOn();
  bool isHurried();
  void fail(const ServerStatus& status);
  void publish();

  const std::unique_ptr<ApiServer> server_;
  const WatchedType type_;
  const WatcherOptions options_;
  Reflector reflector_;  // of the thread

  mutable kube::Mutex mutex_;
  kube::ConditionVariable changed_;
  bool stopping_ LASTOUT_GUARDED_BY(mutex_) = false;
  bool hurry_ LASTOUT_GUARDED_BY(mutex_) = false;
  SyncStatus knowledge_ LASTOUT_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace lastout::client
