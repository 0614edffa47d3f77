// Metrics: what lastout counts about itself, in the words of docs/metrics.md and the text format of
// Prometheus.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kube/locks.h"
#include "server/controllers/deferred_deletion_event.h"
#include "server/controllers/held_object_reconciler.h"
#include "server/controllers/label_reconciler.h"
#include "server/review/confirming_reads.h"
#include "server/review/review_handler.h"
#include "server/watch/live_view.h"
#include "server/webhook/probe_record.h"

namespace lastout::server {

// Whether lastout can decide; all that strangers are told of it.
struct Health {
  bool knowsCluster = false;
  bool hasCertificate = false;  // that the API server expects
  bool isEnding = false;        // it still answers, and is about to end
  bool isReady() const { return knowsCluster && hasCertificate && !isEnding; }
};

// Values that are read when somebody asks for the metrics, rather than counted.
struct GaugeValues {
  Health health;
  std::optional<bool> webhookInForce;  // nullopt: others keep the webhook configuration
  std::optional<bool> leads;           // holds the Lease; nullopt: it writes no status
  std::optional<size_t> keptWorks;     // nullopt: it keeps none, ever
  std::optional<int64_t>
      certificateUntil;  // of the listener, seconds since the epoch; nullopt: it cannot be told
  std::vector<TypeStanding> types;
  std::vector<ProbeStanding> probes;  // by address; none: nobody probes
  size_t leftOutDependencies = 0;     // not guarded, since there are too many of their kind
  // How many problems of the installation there are beside those that follow from the values above, by kind.
  std::map<std::string, size_t> problems = {};
};

// Safe for any number of threads.
class Metrics {
 public:
  explicit Metrics(const std::string& version);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void count(const ReviewResult& verdict);
  void count(const ConfirmingReads::Done& read);
  // The watch of a type has failed; it is begun again.
  void countInterruption(const kube::GroupResource& type);
  // The webhook configuration was put back after it had not asked for what it should for so long.
  void countRestored(std::chrono::milliseconds unguarded);
  // A status could not be written.
  void countStatusFailure() { statusFailures_.Increment(); }
  void count(ProbeResult probe);
  void count(DeferredDeletionEvent::Kind deferredDeletions);
  void count(admission::Weakening::Kind weakened);
  void count(HeldOutcome outcome);
  void count(LabelOutcome outcome);

  std::string text(const GaugeValues& standing) const;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // Types that are told one by one; what goes beyond is told together, as the type "others".
  static constexpr size_t kMostTypes = 100;

 private:
  prometheus::Counter& counterOf(const ReviewResult& verdict);

  prometheus::Registry registry_;  // owns all below
  prometheus::Family<prometheus::Counter>& verdicts_;
  prometheus::Family<prometheus::Histogram>& verdictTimes_;
  prometheus::Histogram& verdictTime_;
  prometheus::Histogram& confirmedTime_;
  prometheus::Family<prometheus::Counter>& reads_;
  prometheus::Counter& readsFree_;
  prometheus::Counter& readsHeld_;
  prometheus::Counter& readsFailed_;
  prometheus::Histogram& readTime_;
  prometheus::Family<prometheus::Counter>& interruptions_;
  prometheus::Counter& restored_;
  prometheus::Counter& unguarded_;
  prometheus::Counter& statusFailures_;
  prometheus::Family<prometheus::Counter>& probes_;
  prometheus::Family<prometheus::Counter>& deferredDeletions_;
  prometheus::Family<prometheus::Counter>& weakenings_;
  prometheus::Family<prometheus::Counter>& heldObjects_;
  prometheus::Family<prometheus::Counter>& labelChanges_;

  kube::Mutex mutex_;
  // The types with a count of their own.
  std::set<kube::GroupResource> interrupted_ LASTOUT_GUARDED_BY(mutex_);
  // By operation, outcome and reason.
  std::map<std::tuple<admission::Operation, std::string_view, admission::Reason>, prometheus::Counter*>
      verdictCounters_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
