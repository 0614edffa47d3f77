// The external step: deletes or keeps the resource outside the cluster that a held object represents, before
// the object goes. An interface: lastout itself connects to no database.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"

namespace lastout::protection {

struct ExternalRequest {
  kube::ObjectKey object;
  std::string uid;
  std::string word;  // the object's deletion policy: "Delete"
};

// One thread at a time. A request may come twice, because lastout does not know after a restart which ones it
// made.
class ExternalStep {
 public:
  virtual ~ExternalStep() = default;
  // Returns why the step failed; nullopt: it is done.
  virtual std::optional<std::string> execute(const ExternalRequest& request) = 0;
};

// A database in this process that has everything, and drops what it is asked to.
class SimulatedDatabase : public ExternalStep {
 public:
  enum class Mode : uint8_t { Succeeds, Fails, Unreachable };

  explicit SimulatedDatabase(Mode mode = Mode::Succeeds) : mode_(mode) {}
  std::optional<std::string> execute(const ExternalRequest& request) override;

  void become(Mode mode) { mode_ = mode; }
  // Returns the executed requests in order: "Delete databases.dbops.dbprovision.io/shop".
  const std::vector<std::string>& done() const { return done_; }

 private:
  Mode mode_;
  std::vector<std::string> done_;  // the last ones
};

// "Succeed", "Fail", "Unreachable"; nullopt: another word.
std::optional<SimulatedDatabase::Mode> parseMode(std::string_view word);

}  // namespace lastout::protection
