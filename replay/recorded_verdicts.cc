#include "replay/recorded_verdicts.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "criticalservice/critical_service.h"

namespace lastout::replay {
namespace {

using What = RecordedEvent::Kind;

// Webhooks of lastout are called <something>.lastout.dev; the one that is probed gives no verdicts. What
// policies alone deny is told, and not judged: a recording need not hold all that they look at.
bool isOurs(const RecordedEvent& review) {
  const auto ours = [](const std::string& webhook) {
    return webhook.ends_with(".lastout.dev") && webhook != "sentinel.lastout.dev" &&
           !webhook.ends_with(kPoliciesWebhook);
  };
  return !review.webhooks || std::any_of(review.webhooks->begin(), review.webhooks->end(), ours);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : "; ") += word;
  return text;
}

// "" or ": a; b"
std::string reasons(const std::vector<std::string>& why) { return why.empty() ? "" : ": " + joined(why); }

// Tells a recording as a report.
class Report {
 public:
  explicit Report(const std::string& path) {
    report_.file = path;
    report_.name = std::filesystem::path(path).stem().string();
    report_.options.order = Order::Recorded;
  }

  void tell(const RecordedEvent& event, const RecordedCluster::ExplainedVerdict* verdict);
  // Before the event is taken: it may say that something leaves.
  void control(const RecordedEvent& event, const RecordedCluster& cluster);
  ScenarioReport finish() &&;

 private:
  void line(const RecordedEvent& event, std::string text, Line::Tone tone = Line::Tone::Plain);
  void client(const RecordedEvent& event);
  void review(const RecordedEvent& event, const RecordedCluster::ExplainedVerdict* verdict);
  void watch(const RecordedEvent& event);

  ScenarioReport report_;
  std::map<std::string, size_t> denials_;  // the last line about it, by what it says
  std::set<kube::ObjectKey> leaving_;      // objects that terminate
  std::vector<Line> wouldBeDenied_;
};

void Report::line(const RecordedEvent& event, std::string text, Line::Tone tone) {
  report_.timeline.push_back({.at = event.at, .text = std::move(text), .tone = tone, .until = {}});
}

void Report::tell(const RecordedEvent& event, const RecordedCluster::ExplainedVerdict* verdict) {
  report_.time = std::max(report_.time, event.at);
  switch (event.kind) {
    case What::Client:
      client(event);
      break;
    case What::Admission:
      review(event, verdict);
      break;
    case What::Watch:
      watch(event);
      break;
    case What::FinalizerController:
      line(event, "a finalizer controller " + event.text + ": " + event.key.name);
      break;
    case What::Marker:
      line(event, event.text);
      break;
  }
}

// Reading changes nothing.
void Report::client(const RecordedEvent& event) {
  if (event.text.starts_with("GET ")) return;
  const std::string space = event.key.namespaceName.empty() ? "" : event.key.namespaceName + "/";
  const std::string what = event.text + " " + space + event.key.name;
  line(event, (event.user.empty() ? "a client" : event.user) +
                  " asks: " + what.substr(0, what.find_last_not_of(' ') + 1) + ", answered with " +
                  std::to_string(event.status));
}

// The same denial again and again is told once.
void Report::review(const RecordedEvent& event, const RecordedCluster::ExplainedVerdict* verdict) {
  const std::string what = event.operation + " of " + kube::toString(event.key) + " by " +
                           (event.user.empty() ? "somebody" : event.user);
  if (!event.allowed) {
    const std::string text = what + " is denied" + reasons(event.why);
    const auto [known, isNew] = denials_.emplace(text, report_.timeline.size());
    if (isNew) {
      line(event, text, Line::Tone::Denied);
    } else {
      Line& first = report_.timeline[known->second];
      first.repeats++;
      first.until = event.at;
    }
  }
  if (verdict == nullptr) return;
  ExpectationResult outcome{.text = what + " is " + (event.allowed ? "allowed" : "denied") + " (line " +
                                    std::to_string(event.line) + ")",
                            .held = verdict->verdict.allowed == event.allowed,
                            .whyNot = {}};
  if (!outcome.held)
    outcome.whyNot = verdict->verdict.allowed ? "lastout allows it; it was denied" + reasons(event.why)
                                              : "lastout denies it: " + verdict->explanation.message;
  report_.outcomes.push_back(std::move(outcome));
}

void Report::watch(const RecordedEvent& event) {
  const std::string name = kube::toString(event.key);
  if (event.deleted) {
    line(event, name + " is gone", Line::Tone::Gone);
    leaving_.erase(event.key);
  } else if (event.object.meta.deletionTimestamp && leaving_.insert(event.key).second) {
    line(event, name + " terminates");
  }
}

void Report::control(const RecordedEvent& event, const RecordedCluster& cluster) {
  const bool leaves = event.deleted || event.object.meta.deletionTimestamp;
  if (event.kind != What::Watch || !leaves || leaving_.contains(event.key)) return;
  const RecordedCluster::ExplainedVerdict verdict = cluster.verdictOn(event.key);
  if (!verdict.verdict.allowed)
    wouldBeDenied_.push_back({.at = event.at,
                              .text = "lastout would have said: " + verdict.explanation.message,
                              .tone = Line::Tone::Denied,
                              .until = {}});
}

ScenarioReport Report::finish() && {
  report_.decided = !report_.outcomes.empty();
  report_.held =
      report_.decided && std::all_of(report_.outcomes.begin(), report_.outcomes.end(),
                                     [](const ExpectationResult& outcome) { return outcome.held; });
  if (report_.decided) return std::move(report_);
  report_.timeline.insert(report_.timeline.end(), std::make_move_iterator(wouldBeDenied_.begin()),
                          std::make_move_iterator(wouldBeDenied_.end()));
  std::stable_sort(report_.timeline.begin(), report_.timeline.end(),
                   [](const Line& a, const Line& b) { return a.at < b.at; });
  return std::move(report_);
}

}  // namespace

tl::expected<std::optional<RecordedCluster::ExplainedVerdict>, kube::Errors> RecordedCluster::take(
    const RecordedEvent& event) {
  if (event.kind == What::Watch) {
    if (auto watched = watch(event); !watched) return tl::unexpected(std::move(watched.error()));
    return std::nullopt;
  }
  const bool isReview =
      event.kind == What::Admission && event.operation == "DELETE" && event.subresource.empty();
  if (!isReview || !isOurs(event)) return std::nullopt;
  return verdictOn(event.key, event.policy);
}

RecordedCluster::ExplainedVerdict RecordedCluster::verdictOn(const kube::ObjectKey& key,
                                                             std::string_view policy) const {
  const auto object = view_.graph().find(key);
  const admission::DeletionEffect deletionEffect =
      object ? admission::deletionEffectOf(view_.graph(), *object, admission::requestedPropagationOf(policy))
             : admission::DeletionEffect::Ending;
  ExplainedVerdict verdict{.verdict = view_.decide(key, deletionEffect), .explanation = {}};
  if (!verdict.verdict.allowed) verdict.explanation = view_.explain(key, verdict.verdict);
  return verdict;
}

tl::expected<void, kube::Errors> RecordedCluster::watch(const RecordedEvent& event) {
  if (event.deleted) {
    view_.remove(event.key);
  } else if (event.key.type == criticalservice::criticalServiceType()) {
    return view_.guard(asGuardedThen(event.object));
  } else {
    kube::Object object = event.object;
    object.meta.references = criticalservice::referencesOf(object, fields_);
    view_.tell(object);
  }
  return {};
}

namespace {

// A CriticalService may be told after the objects that it asks about.
tl::expected<criticalservice::FieldsByType, kube::Errors> fieldsIn(const std::string& path) {
  auto reader = RecordingReader::open(path);
  if (!reader) return tl::unexpected(kube::Errors{std::move(reader.error())});
  criticalservice::FieldsByType fields;
  for (;;) {
    auto event = reader->next();
    if (!event) return tl::unexpected(std::move(event.error()));
    if (!*event) return fields;
    if ((*event)->key.type != criticalservice::criticalServiceType() || (*event)->deleted) continue;
    if (const auto service = criticalservice::parseStanding((*event)->object))
      criticalservice::addFields(*service, fields);
  }
}

}  // namespace

tl::expected<ScenarioReport, kube::Errors> replayRecording(const std::string& path, kube::Errors& warnings) {
  auto fields = fieldsIn(path);
  if (!fields) return tl::unexpected(std::move(fields.error()));
  auto reader = RecordingReader::open(path);
  if (!reader) return tl::unexpected(kube::Errors{reader.error()});
  RecordedCluster cluster(std::move(*fields));
  Report report(path);
  for (;;) {
    auto event = reader->next();
    if (!event) return tl::unexpected(std::move(event.error()));
    if (!*event) break;
    report.control(**event, cluster);
    auto verdict = cluster.take(**event);
    if (!verdict) {
      for (kube::Error& error : verdict.error()) {
        error.position = {.line = (*event)->line, .column = 0};
        warnings.push_back(std::move(error));
      }
    }
    report.tell(**event, verdict && *verdict ? &**verdict : nullptr);
  }
  if (reader->isCutOff())
    warnings.push_back({"the last line is not whole, and left out: its writer was cut off", path, {}});
  return std::move(report).finish();
}

}  // namespace lastout::replay
