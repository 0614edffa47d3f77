#include "server/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "admission/decide.h"
#include "admission/review.h"

namespace lastout::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using Seconds = std::chrono::duration<double>;

constexpr const char* kOthers = "others";

// From what a verdict takes by itself to what an API server waits for.
const prometheus::Histogram::BucketBoundaries& durations() {
  static const prometheus::Histogram::BucketBoundaries kSeconds{
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
  return kSeconds;
}

prometheus::Family<prometheus::Counter>& counters(prometheus::Registry& registry, const char* name,
                                                  const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Histogram>& histograms(prometheus::Registry& registry, const char* name,
                                                      const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

std::string_view outcomeOf(const ReviewResult& verdict) {
  if (verdict.allowed) return "allowed";
  return verdict.enforced ? "denied" : "would_be_denied";
}

MetricFamily gaugeFamily(const char* name, const char* help) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = prometheus::MetricType::Gauge;
  return family;
}

ClientMetric gaugeOf(double value, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

MetricFamily oneGauge(const char* name, const char* help, double value) {
  MetricFamily family = gaugeFamily(name, help);
  family.metric.push_back(gaugeOf(value));
  return family;
}

// The types beyond the bound are told together: all their objects, and whether all of them are known.
void addTypes(const std::vector<TypeStanding>& types, std::vector<MetricFamily>& families) {
  MetricFamily objects =
      gaugeFamily("lastout_watched_objects", "Objects of a type that lastout follows, as far as it knows.");
  MetricFamily known = gaugeFamily("lastout_watched_type_known",
                                   "1: lastout believes what it knows of the type; 0: criteria on it count "
                                   "as unmet, see /readyz/verbose.");
  double otherObjects = 0;
  bool othersKnown = true;
  for (size_t i = 0; i < types.size(); ++i) {
    const bool isKnown = graph::believable(types[i].knowledge);
    if (i >= Metrics::kMostTypes) {
      otherObjects += types[i].objects;
      othersKnown = othersKnown && isKnown;
      continue;
    }
    const std::string name = toString(types[i].type);
    objects.metric.push_back(gaugeOf(types[i].objects, {{"type", name}}));
    known.metric.push_back(gaugeOf(isKnown ? 1 : 0, {{"type", name}}));
  }
  if (types.size() > Metrics::kMostTypes) {
    objects.metric.push_back(gaugeOf(otherObjects, {{"type", kOthers}}));
    known.metric.push_back(gaugeOf(othersKnown ? 1 : 0, {{"type", kOthers}}));
  }
  families.push_back(std::move(objects));
  families.push_back(std::move(known));
}

// One series for each address: the result is a label of it.
MetricFamily lastProbes(const std::vector<ProbeStanding>& probes) {
  MetricFamily family = gaugeFamily("lastout_probe_last_result",
                                    "1, with the result of the last probe at each address as a label.");
  for (const ProbeStanding& probe : probes)
    family.metric.push_back(
        gaugeOf(1, {{"address", probe.address}, {"result", std::string(toString(probe.result))}}));
  return family;
}

MetricFamily installationProblems(const GaugeValues& standing) {
  std::map<std::string, size_t> problems = standing.problems;
  problems["type"] = static_cast<size_t>(std::ranges::count_if(
      standing.types, [](const TypeStanding& one) { return !graph::believable(one.knowledge); }));
  if (standing.webhookInForce) problems["webhook"] = *standing.webhookInForce ? 0 : 1;
  if (!standing.probes.empty())
    problems["probe"] = static_cast<size_t>(std::ranges::count_if(
        standing.probes, [](const ProbeStanding& one) { return one.result != ProbeResult::Denied; }));
  MetricFamily family = gaugeFamily("lastout_installation_problems",
                                    "What is missing or wrong, by kind; lastout check says more.");
  for (const auto& [kind, count] : problems)
    family.metric.push_back(gaugeOf(static_cast<double>(count), {{"of", kind}}));
  return family;
}

}  // namespace

Metrics::Metrics(const std::string& version)
    : verdicts_(counters(registry_, "lastout_verdicts_total", "Reviews that were answered.")),
      verdictTimes_(histograms(registry_, "lastout_verdict_duration_seconds",
                               "From the first byte of a review to its verdict; confirmed: the API server "
                               "was read once more for it.")),
      verdictTime_(verdictTimes_.Add({{"confirmed", "false"}}, durations())),
      confirmedTime_(verdictTimes_.Add({{"confirmed", "true"}}, durations())),
      reads_(counters(registry_, "lastout_confirming_reads_total",
                      "Looks at the API server before something is allowed. free: nothing was there; held: "
                      "something was.")),
      readsFree_(reads_.Add({{"outcome", "free"}})),
      readsHeld_(reads_.Add({{"outcome", "held"}})),
      readsFailed_(reads_.Add({{"outcome", "failed"}})),
      readTime_(
          histograms(registry_, "lastout_confirming_read_duration_seconds", "How long confirming reads took.")
              .Add({}, durations())),
      interruptions_(counters(registry_, "lastout_watch_interruptions_total",
                              "Watches that followed a type and failed; each is begun again by itself.")),
      restored_(counters(registry_, "lastout_webhook_restored_total",
                         "How often the webhook configuration was changed by others, and put back.")
                    .Add({})),
      unguarded_(counters(registry_, "lastout_webhook_unguarded_seconds_total",
                          "For how long it did not ask for what it should, from when lastout saw that.")
                     .Add({})),
      statusFailures_(counters(registry_, "lastout_status_write_failures_total",
                               "Reads and writes for the status of CriticalServices that failed.")
                          .Add({})),
      probes_(counters(registry_, "lastout_probes_total",
                       "Dry runs of a deletion that lastout denies. allowed: the API server did not ask it; "
                       "outdated: not yet by the webhook configuration that stands.")),
      deferredDeletions_(
          counters(registry_, "lastout_deferred_deletions_total",
                   "Deletions that were deferred. refused: they could not be run, and are tried again.")),
      weakenings_(counters(registry_, "lastout_weakenings_total",
                           "Changes by which a provider lost what it needs, or what guards it, while its "
                           "criteria were not known to be met.")),
      heldObjects_(counters(registry_, "lastout_held_objects_total",
                            "What became of deletions of objects that policies hold.")),
      labelChanges_(counters(registry_, "lastout_label_changes_total",
                             "Changes of labels that policies keep. repaired: somebody had changed one; "
                             "contested: somebody does so again and again.")) {
  // From zero on, so that the first one is an increase.
  for (const ProbeResult probe :
       {ProbeResult::Denied, ProbeResult::Outdated, ProbeResult::Allowed, ProbeResult::Failed})
    probes_.Add({{"result", std::string(toString(probe))}});
  using Kind = DeferredDeletionEvent::Kind;
  for (const Kind deferredDeletions :
       {Kind::Recorded, Kind::NotRecorded, Kind::Deleted, Kind::TakenBack, Kind::Refused, Kind::Ignored})
    deferredDeletions_.Add({{"result", std::string(toString(deferredDeletions))}});
  for (const auto kind :
       {admission::Weakening::Kind::Dependency, admission::Weakening::Kind::CriticalService})
    weakenings_.Add({{"of", std::string(toString(kind))}});
  for (const auto outcome : {HeldOutcome::Blocked, HeldOutcome::Pending, HeldOutcome::Cascading,
                             HeldOutcome::Begun, HeldOutcome::LetGo, HeldOutcome::Forced})
    heldObjects_.Add({{"outcome", std::string(toString(outcome))}});
  for (const auto outcome : {LabelOutcome::Labelled, LabelOutcome::Unlabelled, LabelOutcome::Exempted,
                             LabelOutcome::Repaired, LabelOutcome::Contested})
    labelChanges_.Add({{"outcome", std::string(toString(outcome))}});
  prometheus::BuildGauge()
      .Name("lastout_build_info")
      .Help("1, with the version as a label.")
      .Register(registry_)
      .Add({{"version", version}})
      .Set(1);
}

void Metrics::count(const ReviewResult& verdict) {
  counterOf(verdict).Increment();
  (verdict.confirmed ? confirmedTime_ : verdictTime_).Observe(Seconds(verdict.took).count());
}

// Looked up by its labels once: a family makes and compares texts each time.
prometheus::Counter& Metrics::counterOf(const ReviewResult& verdict) {
  const std::string_view outcome = outcomeOf(verdict);
  const kube::MutexLock lock(mutex_);
  prometheus::Counter*& counter = verdictCounters_[{verdict.operation, outcome, verdict.reason}];
  if (counter == nullptr)
    counter = &verdicts_.Add({{"operation", std::string(admission::toString(verdict.operation))},
                              {"outcome", std::string(outcome)},
                              {"reason", std::string(admission::toString(verdict.reason))}});
  return *counter;
}

void Metrics::count(const ConfirmingReads::Done& read) {
  using Outcome = ConfirmingReads::ReadOutcome;
  (read.outcome == Outcome::Free   ? readsFree_
   : read.outcome == Outcome::Held ? readsHeld_
                                   : readsFailed_)
      .Increment();
  readTime_.Observe(Seconds(read.took).count());
}

void Metrics::countInterruption(const kube::GroupResource& type) {
  bool isOther = false;
  {
    const kube::MutexLock lock(mutex_);
    isOther = !interrupted_.contains(type) && interrupted_.size() >= kMostTypes;
    if (!isOther) interrupted_.insert(type);
  }
  interruptions_.Add({{"type", isOther ? kOthers : toString(type)}}).Increment();
}

void Metrics::countRestored(std::chrono::milliseconds unguarded) {
  restored_.Increment();
  unguarded_.Increment(Seconds(unguarded).count());
}

void Metrics::count(ProbeResult probe) {
  probes_.Add({{"result", std::string(toString(probe))}}).Increment();
}

void Metrics::count(DeferredDeletionEvent::Kind deferredDeletions) {
  deferredDeletions_.Add({{"result", std::string(toString(deferredDeletions))}}).Increment();
}

void Metrics::count(admission::Weakening::Kind weakened) {
  weakenings_.Add({{"of", std::string(toString(weakened))}}).Increment();
}

void Metrics::count(HeldOutcome outcome) {
  heldObjects_.Add({{"outcome", std::string(toString(outcome))}}).Increment();
}

void Metrics::count(LabelOutcome outcome) {
  labelChanges_.Add({{"outcome", std::string(toString(outcome))}}).Increment();
}

std::string Metrics::text(const GaugeValues& standing) const {
  std::vector<MetricFamily> families = registry_.Collect();
  families.push_back(oneGauge("lastout_ready",
                              "1: it knows the cluster well enough to decide, and has its certificate.",
                              standing.health.isReady() ? 1 : 0));
  if (standing.webhookInForce) {
    families.push_back(oneGauge("lastout_webhook_in_force",
                                "1: the webhook configuration asks for all that it should.",
                                *standing.webhookInForce ? 1 : 0));
  }
  if (standing.leads) {
    families.push_back(oneGauge("lastout_leader",
                                "1: it holds the Lease, and writes the status of CriticalServices.",
                                *standing.leads ? 1 : 0));
  }
  if (standing.keptWorks) {
    families.push_back(oneGauge("lastout_kept_works",
                                "AppliedManifestWorks that are being deleted, and kept until what they have "
                                "applied is gone.",
                                static_cast<double>(*standing.keptWorks)));
  }
  if (standing.certificateUntil) {
    families.push_back(oneGauge("lastout_certificate_expiry_timestamp_seconds",
                                "When the certificate that it listens with expires.",
                                static_cast<double>(*standing.certificateUntil)));
  }
  families.push_back(oneGauge("lastout_dependencies_left_out",
                              "Objects that providers need and that are not guarded, as there are too many.",
                              static_cast<double>(standing.leftOutDependencies)));
  families.push_back(installationProblems(standing));
  addTypes(standing.types, families);
  if (!standing.probes.empty()) families.push_back(lastProbes(standing.probes));
  std::ranges::sort(families, {}, &MetricFamily::name);
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace lastout::server
