// SimulatedApi: what an API server holds of one type: objects, their history, and what may become of both.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/metadata_stream.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

struct SimulatedObject {
  std::string uid;
  uint64_t version = 0;
  int64_t generation = 0;  // no two writes of a run have the same
  friend bool operator==(const SimulatedObject&, const SimulatedObject&) = default;
};
using SimulatedObjects = std::map<std::string, SimulatedObject>;  // by name

struct SimulatedWrite {
  client::EventType type = client::EventType::Added;
  std::string name;
  SimulatedObject object;  // Deleted: as it was last, under the version of its removal
};

client::StreamedObject streamed(const std::string& name, const SimulatedObject& object);

// How a server may come back from a restart.
enum class NewHistory : uint8_t {
  Restored,  // from a backup: what came after it never happened, and versions are used again
  Bumped,    // from a backup too, with versions far beyond those that were ever used
  Empty,     // anew
  Another,   // another cluster has come to its address, which has lived for about as many writes
};

class SimulatedApi {
 public:
  explicit SimulatedApi(Dice& dice);

  // Somebody creates an object, changes it, deletes it, or deletes it and creates it again.
  void write();
  // Forgets a part of the history.
  void trim();
  void comeBack(NewHistory history);

  uint64_t epoch() const { return epoch_; }                                      // the number of the history
  std::string cluster() const { return "cluster-" + std::to_string(cluster_); }  // backups keep it
  uint64_t version() const { return version_; }
  uint64_t knownSince() const { return states_.begin()->first; }
  const SimulatedObjects& objects() const { return states_.rbegin()->second; }
  // As it was at a version from knownSince() to version().
  const SimulatedObjects& objectsAt(uint64_t version) const;
  // The first write after a version; null: there is none.
  const SimulatedWrite* after(uint64_t version) const;

 private:
  void commit(client::EventType type, const std::string& name);

  Dice& dice_;
  uint64_t epoch_ = 0;
  uint64_t cluster_ = 0;
  uint64_t version_ = 1000;
  int64_t writesEver_ = 0;
  std::map<uint64_t, SimulatedObjects> states_;  // by the version that began them
  std::map<uint64_t, SimulatedWrite> writes_;
};

}  // namespace lastout::testing
