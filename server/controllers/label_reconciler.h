// LabelReconciler: patches the labels of objects (labelled_objects.h) at the API server. It has no thread: a
// Controller calls it for one object after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kube/locks.h"
#include "server/controllers/labelled_objects.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

// What became of an object's labels, for metrics.
enum class LabelOutcome : uint8_t {
  Labelled,    // it has got the protecting label
  Unlabelled,  // the protecting label was taken away
  Exempted,    // its exemption label alone was set or taken away
  Repaired,    // somebody had changed a label, and it is as it was
  Contested,   // somebody changes a label again and again
};
std::string_view toString(LabelOutcome outcome);  // "labelled"

struct LabelReconcilerOptions {
  std::function<std::optional<kube::ResourceType>(const kube::GroupResource& type)> findType;
  std::function<TimePoint()> now;
  std::function<bool()> mayAct;  // this lastout holds the Lease; asked before each action
  std::function<void(const LabelledObject& object, const std::string& reason, const std::string& message)>
      tell;  // a warning
  std::function<void(LabelOutcome outcome)> count;
  LogSink log;
};

// One thread at a time, but for problemOf().
class LabelReconciler {
 public:
  // Both must outlive it.
  LabelReconciler(LabelledObjects& objects, const ObjectClient& client, LabelReconcilerOptions options)
      : objects_(objects), client_(client), options_(std::move(options)) {}

  Settled settle(const kube::ObjectKey& key);
  // lastout ends: takes away the labels of policies with cleanupOnShutdown, until then, and changes nothing
  // else from now on. Returns how many objects still have some.
  size_t cleanUp(TimePoint until);

  void beginPass() { writesOfPass_ = 0; }
  // The pass has written as much as one may: the API server has others to serve.
  bool hasWrittenEnough() const { return writesOfPass_ >= kMostWritesOfPass; }
  static constexpr int kMostWritesOfPass = 5;

  // Why an object of the type could not be written last; empty: none is known. By any thread.
  std::string problemOf(const kube::GroupResource& type) const;

  // Of one object in a minute: what somebody changes more often is left for the rest of it.
  static constexpr int kMostWritesOfObject = 10;

 private:
  struct Writes {
    TimePoint since;
    int count = 0;
    bool isTold = false;  // that it is contested
  };

  void refresh(const kube::ObjectKey& key);
  std::optional<std::chrono::milliseconds> untilRepaired(const LabelledObject& object) const;
  std::optional<std::chrono::milliseconds> contestedFor(const LabelledObject& object);
  void report(const LabelledObject& object);
  void noteProblem(const kube::GroupResource& type, const std::string& problem);

  LabelledObjects& objects_;
  const ObjectClient& client_;
  const LabelReconcilerOptions options_;
  int writesOfPass_ = 0;
  std::map<std::string, Writes> writes_;  // by the object's uid
  mutable kube::Mutex mutex_;
  std::map<kube::GroupResource, std::string> problems_ LASTOUT_GUARDED_BY(mutex_);
};

}  // namespace lastout::server
