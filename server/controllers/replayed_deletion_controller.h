// ReplayedDeletionController: the part of the controller role that runs the deletions that annotations ask
// for, of the types of --replay-deletions: it watches these types, and deletes while this lastout leads.
#pragma once

#include <functional>
#include <memory>

#include "server/controllers/replayed_deletions.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"
#include "server/runtime/worker.h"
#include "server/shared_parts.h"
#include "server/watch/type_watches.h"

namespace lastout::server {

// Its functions may be called by any thread; start(), end() and stop() by one at a time.
class ReplayedDeletionController {
 public:
  // `mayAct`: this lastout holds the Lease, and API servers ask it about what it deletes.
  ReplayedDeletionController(const SharedParts& parts, std::function<bool()> mayAct);
  ~ReplayedDeletionController() { stop(); }
  ReplayedDeletionController(const ReplayedDeletionController&) = delete;
  ReplayedDeletionController& operator=(const ReplayedDeletionController&) = delete;

  void start() { worker_.start(); }  // once
  void end() { worker_.end(); }      // nothing more is begun; waits for nothing
  void stop();                       // for good
  // Types, policies or what objects list for them may have changed. To be called each second.
  void reconsider();

 private:
  ReplayedDeletionsOptions deletionsOptions();
  ControllerOptions controllerOptions();
  WorkerOptions workerOptions(std::function<bool()> mayAct);
  TypeWatchesOptions watchesOptions();
  client::ReflectorHandlers handlersOf(const kube::ResourceType& type);
  bool isListed(const kube::Object& object) const;
  bool isGuarded(const kube::ObjectKey& object) const;
  void tell(const kube::Object& object, const DeferredDeletionEvent& news);

  const SharedParts parts_;
  const std::unique_ptr<client::ApiServer> server_;
  Worker worker_;
  const Patience patience_;
  const ObjectClient client_;
  ReplayedDeletions deletions_;
  Controller controller_;
  TypeWatches watches_;
};

}  // namespace lastout::server
