// EventWriter: tells people by Kubernetes Events what has changed. They are those of the core group, version
// v1: every API server serves them, `kubectl describe` reads them, and those of events.k8s.io are the same
// objects under other field names. Each change is one Event: nothing is counted up, so that no right to
// change Events is needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/weakening.h"
#include "client/access.h"
#include "kube/locks.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"

namespace lastout::server {

struct Event {
  // What it is about.
  std::string apiVersion;
  std::string kind;
  std::string name;
  std::string uid;
  bool warning = false;
  std::string reason;              // one word
  std::string message;             // at most 1,000 bytes are told
  std::string subject = {};        // what else it is about: of another one it is another Event
  std::string namespaceName = {};  // what it is about lies there; empty: in none
};

// Returns an Event about an object that lies in no namespace.
Event eventAbout(std::string_view apiVersion, std::string_view kind, std::string name, std::string uid,
                 bool warning, std::string reason, std::string message, std::string subject = {});

// Returns an Event about an object, which has `apiVersion`, `kind`, `key` and `meta`.
template <class Object>
Event eventAbout(const Object& object, bool warning, std::string reason, std::string message) {
  Event event = eventAbout(object.apiVersion, object.kind, object.key.name, object.meta.uid, warning,
                           std::move(reason), std::move(message));
  event.namespaceName = object.key.namespaceName;
  return event;
}

// What has become of a CriticalService, by its status before and after it was written: Stuck, NoLongerStuck,
// Satisfied, NotEnforced, Enforced, TooManyDependencies, FinalizerNeverSeen, FinalizerSeen, ProviderReplaced.
// A first status is compared with one in which all is well.
std::vector<Event> eventsOf(const std::string& name, const std::string& uid, const nlohmann::json& before,
                            const nlohmann::json& after);

// What has become of a DeletionPolicy, in the same way: NotUnderstood, Understood, TypesNotFound, TypesFound.
std::vector<Event> eventsOfPolicy(const std::string& name, const std::string& uid,
                                  const nlohmann::json& before, const nlohmann::json& after);

// DependencyChanged, GuardWeakened: of the CriticalService whose provider lost something.
Event eventOf(const admission::Weakening& news);

// Returns the request that writes the Event; `component` and `instance` say who tells.
client::ApiRequest eventCreation(const Event& event, const std::string& component,
                                 const std::string& instance, std::chrono::sys_seconds now);

struct EventWriterOptions {
  std::string component = "lastout";
  std::string instance;                             // who tells: the identity in the Lease
  std::function<std::chrono::sys_seconds()> clock;  // what time it is, for people
  std::chrono::milliseconds pause{10'000};          // the same of one object is not told again so soon
  std::chrono::milliseconds patience{5'000};        // for one answer
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class EventWriter {
 public:
  EventWriter(const std::shared_ptr<client::Access>& access, EventWriterOptions options);
  ~EventWriter();  // as stop()
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void start();  // once
  void stop();   // for good; what is not told yet is dropped
  // Never waits. What the API server does not take, and what is more than it takes in time, is dropped.
  void tell(Event event);

  static constexpr size_t kMostWaiting = 256;  // Events

 private:
  // The Event that is to be told next, and how many were dropped since the last.
  struct Next {
    Event event;
    size_t dropped = 0;
  };

  std::optional<Next> next();
  void tellAll();
  RequestResult<client::WholeAnswer> write(const Event& event);
  bool isRepeated(const Event& event) LASTOUT_REQUIRES(mutex_);

  const EventWriterOptions options_;
  const std::unique_ptr<client::ApiServer> server_;
  ProblemLog problems_;  // of the thread

  kube::Mutex mutex_;
  std::deque<Event> waiting_ LASTOUT_GUARDED_BY(mutex_);
  size_t dropped_ LASTOUT_GUARDED_BY(mutex_) = 0;  // since the last that was written
  // Told, by object, reason and subject.
  std::map<std::string, std::chrono::steady_clock::time_point> lately_ LASTOUT_GUARDED_BY(mutex_);
  Loop loop_;
};

}  // namespace lastout::server
