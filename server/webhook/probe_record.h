// ProbeRecord: the results of probing API servers, and what they mean for a CriticalService. Pure: computes
// from answers and times that are passed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/reflector.h"
#include "server/controllers/webhook_enforcement.h"
#include "server/webhook/reviewed_objects.h"
#include "server/webhook/sentinel.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {

using client::TimePoint;

// The webhook configuration that stands in the cluster, and is as lastout wants it.
struct ProbedConfiguration {
  std::string fingerprint;
  ReviewedObjects objects;                     // that it asks about
  TimePoint since;                             // when it was seen to be so
  WebhookScope scope = WebhookScope::Objects;  // whether it asks about others, too
  bool operator==(const ProbedConfiguration&) const = default;
};

enum class ProbeResult : uint8_t {
  None,      // of none that has ended
  Denied,    // by the configuration that stands
  Outdated,  // the API server has not shown yet that it goes by that one
  Allowed,   // it does not ask lastout: what is guarded can be deleted there
  Failed,    // nobody knows
};
std::string_view toString(ProbeResult result);  // "denied", for metrics

// How one address of the API server stands, for people and metrics.
struct ProbeStanding {
  std::string address;
  ProbeResult result = ProbeResult::None;
  std::string why;  // of Failed
};

class ProbeRecord {
 public:
  // `grace`: API servers learn of a configuration within it; one that allows a probe so soon is not yet
  // blamed.
  explicit ProbeRecord(std::chrono::milliseconds grace) : grace_(grace) {}

  // This stands from now on.
  void declare(ProbedConfiguration configuration);
  // These are known; what was known of others is forgotten.
  void setAddresses(const std::vector<std::string>& addresses);
  struct Taken {
    ProbeResult result = ProbeResult::None;  // of this probe
    std::optional<ProbeStanding> news;       // how the address stands now, if it differs from before
  };
  // A probe of one of them has ended. One or two that fail where it was well before change nothing: API
  // servers are restarted.
  Taken took(const std::string& address, const ProbeAnswer& answer, TimePoint now);

  // Every address denies by the configuration that stands.
  bool isProven() const;
  // The fingerprint of that one; empty: none was declared.
  std::string declared() const { return configuration_ ? configuration_->fingerprint : ""; }
  // Returns whether the probes prove that each address asks about the wanted objects.
  WebhookEnforcement enforcementFor(const ReviewedObjects& wanted) const;
  std::vector<ProbeStanding> standings() const;

 private:
  struct Address {
    ProbeResult result = ProbeResult::None;
    std::string why;
    int failures = 0;        // one after the other
    ReviewedObjects proven;  // what the configuration asks about by which it denied last
  };

  ProbeResult resultOf(const ProbeAnswer& answer, TimePoint now) const;
  const ReviewedObjects* objectsOf(const std::string& fingerprint) const;

  const std::chrono::milliseconds grace_;
  std::optional<ProbedConfiguration> configuration_;
  // What was declared lately, the newest last: an API server may go by an older one for a while.
  std::deque<std::pair<std::string, ReviewedObjects>> declared_;
  std::map<std::string, Address> addresses_;
};

}  // namespace lastout::server
