#include "server/controllers/event_writer.h"

#include <optional>
#include <utility>

#include "client/api_server.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "kube/timestamp.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "server/controllers/dependency_standing.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using kube::Json;
using std::chrono::steady_clock;

constexpr const char* kEventNamespace = "default";  // of Events about what is in no namespace
constexpr size_t kLongestEventMessage = 1000;       // bytes
constexpr size_t kLongestEventName = 50;            // bytes; the API server adds some, and takes 63

// What the API server makes a name of.
std::string nameBefore(const std::string& object) {
  std::string name = kube::atMost(object, kLongestEventName);
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name + "-";
}

struct ConditionSeen {
  std::string status;  // empty: there is none
  std::string reason;
  std::string message;
};

std::string textIn(const Json& map, const char* key) {
  return map.is_object() && map.contains(key) && map[key].is_string() ? map[key].get<std::string>() : "";
}

ConditionSeen conditionIn(const Json& status, std::string_view type) {
  if (!status.is_object() || !status.contains("conditions") || !status["conditions"].is_array()) return {};
  for (const Json& one : status["conditions"]) {
    if (textIn(one, "type") == type)
      return {textIn(one, "status"), textIn(one, "reason"), textIn(one, "message")};
  }
  return {};
}

std::string replacedBy(const Json& status) {
  return status.is_object() && status.contains("provider") ? textIn(status["provider"], "replacedBy") : "";
}

}  // namespace

Event eventAbout(std::string_view apiVersion, std::string_view kind, std::string name, std::string uid,
                 bool warning, std::string reason, std::string message, std::string subject) {
  return {std::string(apiVersion),
          std::string(kind),
          std::move(name),
          std::move(uid),
          warning,
          std::move(reason),
          std::move(message),
          std::move(subject),
          {}};
}

std::vector<Event> eventsOf(const std::string& name, const std::string& uid, const Json& before,
                            const Json& after) {
  std::vector<Event> events;
  const auto add = [&](bool warning, const char* reason, std::string message) {
    events.push_back(eventAbout(kube::kLastoutApiVersion, criticalservice::kKind, name, uid, warning, reason,
                                std::move(message)));
  };
  const auto changed = [&](const char* type, const auto& tell) {
    const ConditionSeen then = conditionIn(before, type);
    const ConditionSeen now = conditionIn(after, type);
    tell(then, now);
  };
  changed("Stuck", [&](const ConditionSeen& then, const ConditionSeen& now) {
    if (now.status == "True" && (then.status != "True" || then.reason != now.reason))
      add(true, "Stuck", now.message);
    if (now.status == "False" && then.status == "True") add(false, "NoLongerStuck", now.message);
  });
  changed("Satisfied", [&](const ConditionSeen& then, const ConditionSeen& now) {
    if (now.status == "True" && then.status != "True") add(false, "Satisfied", now.message);
  });
  changed("Enforced", [&](const ConditionSeen& then, const ConditionSeen& now) {
    const bool isWorse = now.reason == "ProbeAllowed" && then.reason != now.reason;
    if (now.status != "True" && (then.status == "True" || isWorse)) add(true, "NotEnforced", now.message);
    if (now.status == "True" && then.status != "True") add(false, "Enforced", now.message);
  });
  changed("Degraded", [&](const ConditionSeen& then, const ConditionSeen& now) {
    if (now.reason == "NotUnderstood" && then.reason != now.reason) add(true, "NotUnderstood", now.message);
  });
  changed(kDependenciesKnown, [&](const ConditionSeen& then, const ConditionSeen& now) {
    if (now.reason == "TooMany" && then.reason != now.reason) add(true, "TooManyDependencies", now.message);
  });
  changed("NamesKnown", [&](const ConditionSeen& then, const ConditionSeen& now) {
    if (now.status == "False" && (then.status != "False" || then.message != now.message))
      add(true, "FinalizerNeverSeen", now.message);
    if (now.status == "True" && then.status == "False") add(false, "FinalizerSeen", now.message);
  });
  const std::string other = replacedBy(after);
  if (!other.empty() && other != replacedBy(before))
    add(true, "ProviderReplaced", conditionIn(after, "ProviderReady").message);
  return events;
}

std::vector<Event> eventsOfPolicy(const std::string& name, const std::string& uid, const Json& before,
                                  const Json& after) {
  std::vector<Event> events;
  const auto changed = [&](const char* type, const char* toFalse, const char* toTrue) {
    const ConditionSeen then = conditionIn(before, type);
    const ConditionSeen now = conditionIn(after, type);
    const bool isWorse = now.status == "False" && (then.status != "False" || then.message != now.message);
    if (!isWorse && (now.status != "True" || then.status != "False")) return;
    events.push_back(eventAbout(kube::kLastoutApiVersion, protection::kPolicyKind, name, uid, isWorse,
                                isWorse ? toFalse : toTrue, now.message));
  };
  changed("Accepted", "NotUnderstood", "Understood");
  changed("TypesKnown", "TypesNotFound", "TypesFound");
  changed("TypesReadable", "TypesForbidden", "TypesReadable");
  return events;
}

// The changed object is its subject: of each a change is told.
Event eventOf(const admission::Weakening& news) {
  const bool isOfDependency = news.kind == admission::Weakening::Kind::Dependency;
  return eventAbout(kube::kLastoutApiVersion, criticalservice::kKind, news.service, news.serviceUid, true,
                    isOfDependency ? "DependencyChanged" : "GuardWeakened",
                    toString(news.changed) + " was changed while criteria are unmet: " + news.message,
                    toString(news.changed));
}

client::ApiRequest eventCreation(const Event& event, const std::string& component,
                                 const std::string& instance, std::chrono::sys_seconds now) {
  const std::string time = kube::timestampText(now);
  const std::string home = event.namespaceName.empty() ? kEventNamespace : event.namespaceName;
  Json about{
      {"apiVersion", event.apiVersion}, {"kind", event.kind}, {"name", event.name}, {"uid", event.uid}};
  if (!event.namespaceName.empty()) about["namespace"] = home;
  client::ApiRequest request =
      client::creation(client::collectionPath(kube::kEvents, home),
                       {{"apiVersion", "v1"},
                        {"kind", "Event"},
                        {"metadata", {{"generateName", nameBefore(event.name)}, {"namespace", home}}},
                        {"involvedObject", std::move(about)},
                        {"type", event.warning ? "Warning" : "Normal"},
                        {"reason", event.reason},
                        {"message", kube::atMost(event.message, kLongestEventMessage)},
                        {"source", {{"component", component}}},
                        {"reportingComponent", component},
                        {"reportingInstance", instance},
                        {"firstTimestamp", time},
                        {"lastTimestamp", time},
                        {"count", 1}});
  request.isRepeatable = true;  // told twice, it does no harm
  return request;
}

EventWriter::EventWriter(const std::shared_ptr<client::Access>& access, EventWriterOptions options)
    : options_(std::move(options)),
      server_(access->newServer()),
      problems_(options_.log, "events: cannot be told: ", "events: can be told again"),
      loop_([this] { tellAll(); }, std::chrono::milliseconds(0)) {}

EventWriter::~EventWriter() { stop(); }

void EventWriter::start() { loop_.start(); }

void EventWriter::stop() {
  loop_.stop([this] { server_->stop(); });
}

void EventWriter::tell(Event event) {
  {
    const kube::MutexLock lock(mutex_);
    if (loop_.isStopping() || isRepeated(event)) return;
    if (waiting_.size() == kMostWaiting) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(event));
  }
  loop_.wake();
}

bool EventWriter::isRepeated(const Event& event) {
  const auto now = steady_clock::now();
  std::erase_if(lately_, [&](const auto& one) { return one.second + options_.pause <= now; });
  return !lately_.try_emplace(event.uid + "/" + event.reason + "/" + event.subject, now).second;
}

std::optional<EventWriter::Next> EventWriter::next() {
  const kube::MutexLock lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  Next next{std::move(waiting_.front()), std::exchange(dropped_, 0)};
  waiting_.pop_front();
  return next;
}

// One attempt for each; the others wait for as long as the API server says. One line for each problem, with
// how many were dropped for want of room.
void EventWriter::tellAll() {
  while (const std::optional<Next> next = this->next()) {
    const auto told = write(next->event);
    if (loop_.isStopping()) return;  // what was cut off is no problem
    if (next->dropped > 0)
      options_.log(Level::Warning,
                   "events: " + std::to_string(next->dropped) + " were dropped, there were too many");
    problems_.note(told ? "" : told.error().why);
    if (told) continue;
    const auto pause = client::retryPauseOf({told.error().code, told.error().retryAfter});
    if (pause > std::chrono::seconds(0)) loop_.patience().pause(pause);
  }
}

RequestResult<client::WholeAnswer> EventWriter::write(const Event& event) {
  return ObjectClient(*server_, options_.patience, kMostOwnObjectBytes)
      .ask(eventCreation(event, options_.component, options_.instance, options_.clock()));
}

}  // namespace lastout::server
