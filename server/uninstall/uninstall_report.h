// UninstallReport: what uninstalling says, a line at a time, and whether all of it was done.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "server/runtime/object_client.h"

namespace lastout::server {

using TellLine = std::function<void(const std::string& line)>;

// One thread at a time.
class UninstallReport {
 public:
  // `dryRun`: nothing is done, and what would be is told.
  UninstallReport(bool dryRun, TellLine tell, TellLine complain)
      : dryRun_(dryRun), tell_(std::move(tell)), complain_(std::move(complain)) {}

  bool isDryRun() const { return dryRun_; }
  // "x: deleted", "x: would be deleted".
  void did(const std::string& object, const std::string& deed);
  void note(const std::string& line) { tell_(line); }
  // What may be wrong, and keeps nothing from being done.
  void warn(const std::string& line) { complain_(line); }
  // Something is left undone that should not be.
  void problem(const std::string& line);
  // `what` could not be done, as the end of "cannot ...": "be read"; with a 403 it says that a right is
  // missing.
  void refused(const std::string& object, const std::string& what, const NotDone& why);
  bool hasProblems() const { return problems_ > 0; }

  // The same for many objects of a kind ("finalizers of deployments.apps"): of each kind the first 20 are
  // told, and finish() says how many more there were.
  void noteOne(const std::string& kind, const std::string& line);
  void didOne(const std::string& kind, const std::string& object, const std::string& deed);
  void refusedOne(const std::string& kind, const std::string& object, const std::string& what,
                  const NotDone& why);
  void finish(const std::string& kind);

 private:
  struct Count {
    size_t done = 0;
    size_t refused = 0;
  };

  const bool dryRun_;
  const TellLine tell_;
  const TellLine complain_;
  size_t problems_ = 0;
  std::map<std::string, Count> counts_;  // by kind, until it is finished
};

}  // namespace lastout::server
