// FaultyApi: what stands between one lastout and its API server, behind the same TLS, and spoils what they
// say to each other. It stands on the API server's side of the connection, where a request and each event of
// a watch are whole.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "simulator/exchange.h"

namespace lastout::testing {

// How the watches that are open end.
enum class WatchEnd : uint8_t {
  Whole,    // as if the API server had ended them
  Amid,     // in the middle of an event
  Expired,  // with an ERROR event: 410
};

struct Faults {
  std::set<std::string> held = {};  // by resource, "coolresources": their watches are silent, and lists go on
  // What RBAC does not allow, by verb and resource: "DELETE deployments", 403.
  std::set<std::string> forbidden = {};
  bool undiscovered = false;  // nobody is told what is served: 503
  bool repeats = false;       // events are told twice
  bool swaps = false;         // of two events of one watch that come at once, the second is told first
  bool expires = false;       // continue tokens and versions to watch from: 410
  size_t longestPatch = 0;    // bytes; of a CriticalService, longer ones: 413; 0: any is taken
  int status = 0;             // everything is refused with it; 0: nothing is
  std::chrono::milliseconds delay{0};  // before each answer
};

// Safe for any number of threads.
class FaultyApi {
 public:
  explicit FaultyApi(simulator::Handler real) : real_(std::move(real)) {}
  FaultyApi(const FaultyApi&) = delete;
  FaultyApi& operator=(const FaultyApi&) = delete;

  simulator::ExchangeResponse handle(const simulator::ExchangeRequest& request);

  void set(Faults faults);
  // All is well from now on; what was held is told.
  void calm() { set({}); }
  // Ends all watches when that many more events were told, of any of them; 0: at once.
  void cutWatches(int after, WatchEnd end = WatchEnd::Whole);

  // A GET of that path is answered with this, in place of the API server, whatever the faults; empty: by the
  // API server again.
  void answer(const std::string& path, const std::string& body);

  // How often something was refused, spoilt, held back or cut so far.
  int faults() const;

 private:
  class Watch;
  // What becomes of a piece of a watch.
  struct Told {
    std::string text;
    bool isLast = false;
  };

  std::optional<simulator::ExchangeResponse> refusal(const simulator::ExchangeRequest& request);
  Told tell(Watch& watch, const std::string& piece);
  void takeEvent(Watch& watch, const std::string& line, Told& told);
  bool isCut(const Watch& watch) const;

  const simulator::Handler real_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Faults now_;  // these are guarded by the mutex
  std::map<std::string, std::string> answers_;
  int faults_ = 0;
  std::optional<int> cutAfter_;
  WatchEnd end_ = WatchEnd::Whole;
  uint64_t generation_ = 0;  // of watches: those of a former one end
};

}  // namespace lastout::testing
