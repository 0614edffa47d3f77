// HandlersCheck: who is told by a Reflector, and minds the order in which it is.
#pragma once

#include <map>
#include <set>
#include <string>

#include "client/reflector.h"
#include "tests/client/simulated_api.h"

namespace lastout::testing {

class HandlersCheck {
 public:
  // Keeps a reference. `once`: nothing that was told may be told again.
  HandlersCheck(const SimulatedApi& api, bool once) : api_(api), once_(once) {}

  // For the Reflector; this must outlive it.
  client::ReflectorHandlers handlers();
  // Empty as long as all was well.
  const std::string& complaint() const { return complaint_; }
  // What was told and is not gone.
  const SimulatedObjects& objects() const { return objects_; }

 private:
  struct Told {
    uint64_t version = 0;
    uint64_t epoch = 0;
    bool removed = false;
  };
  void upsert(const client::StreamedObject& object);
  void remove(const client::Removed& removed);
  void complain(const std::string& what, const std::string& uid);

  const SimulatedApi& api_;
  bool once_;
  SimulatedObjects objects_;
  std::map<std::string, Told> told_;  // by uid
  std::string complaint_;
};

}  // namespace lastout::testing
