// Recorder: writes down what happens in an embedded cluster, one JSON a line, in the form of the recorded
// stories (tests/recordings/README.md): requests of clients, reviews and their verdicts, changes of objects.
//
// No secrets: Secrets are written without their data wherever they stand, requests for them and for reviews
// of tokens without body and answer, of patches only what they do to metadata, and no credentials of a
// request at all.
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/locks.h"
#include "kube/result.h"
#include "simulator/exchange.h"
#include "simulator/mutation.h"
#include "simulator/status.h"
#include "simulator/storage.h"

namespace lastout::simulator {

// Safe for any number of threads; takes no lock but its own, so it may be called under any. Each line is
// written at once to a buffer of a few kilobytes: a slow disk slows the cluster, and nothing piles up.
class Recorder {
 public:
  // Of the controllers' clock.
  using Time = std::chrono::milliseconds;

  // Writes the file again. Fails when that cannot be done.
  static kube::Result<std::unique_ptr<Recorder>> open(const std::string& path);

  // What was asked and answered. Of what was read only the status; the bodies of writes and of refusals too.
  void client(Time when, const ExchangeRequest& request, const ExchangeResponse& response);
  // The verdict of a review by these webhooks; null: it was allowed.
  void review(Time when, const Mutation& mutation, const std::vector<std::string>& webhooks,
              const ApiError* denial);
  void change(Time when, const Write& write);
  void marker(Time when, std::string_view note);

  // Nothing is written afterwards. Fails when anything could not be written since open().
  kube::Result<void> finish();

 private:
  Recorder(std::string path, std::ofstream file) : path_(std::move(path)), file_(std::move(file)) {}
  void write(const std::string& line);

  kube::Mutex mutex_;
  std::string path_;
  std::ofstream file_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::simulator
