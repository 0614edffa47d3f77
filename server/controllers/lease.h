// LeaseElection: which of several lastouts holds a coordination.k8s.io Lease, by the rules of client-go's
// leader election (https://pkg.go.dev/k8s.io/client-go/tools/leaderelection). Pure: what to do next, from
// what was answered and the times it is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/api_server.h"
#include "client/backoff.h"
#include "client/reflector.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::server {

using client::TimePoint;  // of a clock that only goes forward, and is no other machine's
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;  // for people to read

// What a Lease says.
struct Lease {
  std::string resourceVersion;  // empty: it is yet to be created
  std::string holder;           // empty: nobody
  std::chrono::seconds duration{0};
  std::string acquired;     // as it is written there; empty: it is not
  std::string renewed;      // the same
  int64_t transitions = 0;  // how often it went from one holder to another
  // How the holder's probes of API servers ended, as JSON: {address: result}; empty: it does not say.
  std::string probes = {};
};

// Fails when the object is no Lease that can be understood. A duration of more than an hour is taken for one.
kube::Result<Lease> readLease(const kube::Value& object);
// The request that creates the Lease, or changes the one of its resourceVersion, and leaves alone what others
// wrote beside it.
client::ApiRequest requestToWrite(const Lease& lease, std::string_view namespaceName, std::string_view name);
client::ApiRequest requestToRead(std::string_view namespaceName, std::string_view name);

struct LeaseTimes {
  std::chrono::seconds duration{15};  // others take it over when they saw no change for so long
  // It is held no longer when the last renewal began so long ago: well before others take it over.
  std::chrono::milliseconds renewWithin{10'000};
  std::chrono::milliseconds retry{2'000};  // between two renewals; others look four times as often
};

// Expiry is told by the observer's own clock, from when it saw the Lease change, in its resourceVersion:
// nobody's clock has to agree with another's, and the times that are written in it are for people alone.
class LeaseElection {
 public:
  enum class Action : uint8_t { Wait, Read, Write };
  struct NextAction {
    Action action = Action::Wait;
    TimePoint until;  // Wait: for so long
    Lease lease;      // Write: this, over its resourceVersion
  };

  // `identity`: no other process may have the same.
  LeaseElection(std::string identity, LeaseTimes times, client::RandomFraction random);

  NextAction next(TimePoint now, WallTime wall);

  // What came of it:
  void saw(std::optional<Lease> lease, TimePoint now);  // it was read, or there is none
  void wrote(Lease lease, TimePoint asked);             // it stands so; `asked`: when the write began
  void refused(TimePoint now);                          // it was another by then: 404 or 409
  void failed(TimePoint now);                           // nobody knows

  bool holds(TimePoint now) const;
  const std::string& holder() const { return lease_.holder; }  // as was seen last

  // Stops holding the Lease. Returns what to write to release it; nullopt: another process holds it.
  std::optional<Lease> release(WallTime wall);

 private:
  bool isAnothers(TimePoint now) const;
  void pauseFrom(TimePoint now);

  const std::string identity_;
  const LeaseTimes times_;
  const client::RandomFraction random_;

  Lease lease_;            // as it was seen last
  TimePoint changedAt_;    // when it was first seen so
  bool isFresh_ = false;   // nothing was waited for since
  bool held_ = false;      // it was written by this
  TimePoint renewedAt_;    // when that began
  TimePoint notBefore_{};  // the next step
};

}  // namespace lastout::server
