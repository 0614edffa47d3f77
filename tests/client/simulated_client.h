// SimulatedClient: drives a Reflector against a SimulatedApi, on a clock of its own, through everything that
// may go wrong between the two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/reflector.h"
#include "tests/client/handlers_check.h"
#include "tests/client/simulated_api.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

enum class Faults : uint8_t {
  Mild,  // cuts, refusals, duplicates, lists from stale caches and a history that is trimmed
  Wild,  // and outages, other histories, silence, events out of order, and nonsense
};

class SimulatedClient {
 public:
  SimulatedClient(uint64_t seed, Faults faults);

  // Lets things happen for a while, and then no more faults. What went wrong; empty: nothing.
  std::string run();
  uint32_t requests() const { return requests_; }

 private:
  enum class Session : uint8_t { None, List, Watch, Silent };

  std::string turmoil();
  std::string calm();
  void world();
  void comeBack();
  void becomeAnother();
  void step();
  void begin();
  void refuse();
  void list(const client::ListPage& page);
  void watch(const client::WatchFrom& from);
  void listStep();
  void watchStep();
  bool watchFault();
  void watchTheFuture();
  void swapTwo();
  void deliver(const SimulatedWrite& write);
  void bookmark(uint64_t version);
  void error(int code);
  void fail(int code);
  bool chance(uint32_t oneIn) { return !calm_ && dice_.oneIn(oneIn); }
  bool wild(uint32_t oneIn) { return faults_ == Faults::Wild && chance(oneIn); }
  // The watch under way has told everything.
  bool isUpToDate() const { return session_ == Session::Watch && position_ == api_.version(); }
  std::string wrong() const;

  Dice dice_;
  Faults faults_;
  SimulatedApi api_;
  HandlersCheck check_;
  client::Reflector reflector_;
  bool calm_ = false;
  client::TimePoint now_;
  client::TimePoint downUntil_;
  Session session_ = Session::None;
  uint32_t requests_ = 0;

  std::vector<client::StreamedObject> items_;  // of the page under way, the next one last
  std::string pageVersion_;
  std::string pageToken_;
  uint64_t position_ = 0;             // of the watch under way
  std::vector<SimulatedWrite> told_;  // by the watch under way
};

}  // namespace lastout::testing
