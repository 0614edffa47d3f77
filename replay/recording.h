// Recording: what happened in a cluster, one JSON object a line: what `lastout up --record` and `lastout
// replay
// --trace` write. docs/scenarios.md has the form; tests/recordings holds such files of a real control plane.
#pragma once

#include <chrono>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/parse.h"
#include "kube/resource_map.h"

namespace lastout::kube {
class Fields;
}

namespace lastout::replay {

// The name of the webhook by which lastout answers for DeletionPolicies.
inline constexpr std::string_view kPoliciesWebhook = "deletionpolicies.lastout.dev";

struct RecordedEvent {
  enum class Kind : uint8_t { Client, Admission, Watch, FinalizerController, Marker };
  Kind kind = Kind::Marker;
  std::chrono::milliseconds at{0};
  uint32_t line = 0;    // of the file
  kube::ObjectKey key;  // Admission, Watch; of Client and FinalizerController only the names that are given

  std::string text;              // Client: "DELETE manifestwork"; Marker: the note
  std::string user;              // Client, Admission; empty: not told
  int64_t status = 0;            // Client: the answer's
  bool deleted = false;          // Watch: the object is gone; otherwise it was added or modified
  kube::Object object;           // Watch
  std::string operation;         // Admission: "DELETE"
  std::string subresource;       // Admission
  std::string policy;            // Admission: "Background", ...; empty: none was asked for
  bool allowed = false;          // Admission
  std::vector<std::string> why;  // Admission: what is said to block
  // Admission: the webhooks that gave the verdict: all that were asked, or the one that denied. Absent: it is
  // not told.
  std::optional<std::vector<std::string>> webhooks;
};

// Returns the object with the meaning that it had when it was recorded: a CriticalService that does not
// mention dependencies guarded none. Returns any other object unchanged.
kube::Object asGuardedThen(kube::Object object);

// Reads a file line by line: memory does not grow with it.
class RecordingReader {
 public:
  // `limits` are of one line. Fails when the file cannot be opened.
  static kube::Result<RecordingReader> open(const std::string& path, const kube::ParseLimits& limits = {});
  // Reads another source than a file, which messages call `name`.
  RecordingReader(std::string name, std::unique_ptr<std::istream> source,
                  const kube::ParseLimits& limits = {});

  // The next event; nothing at the end. Fails with file:line on a line that is no event, or that names a type
  // by a resource that several groups have, without its group.
  tl::expected<std::optional<RecordedEvent>, kube::Errors> next();
  // Returns true if the last line was incomplete, because its writer was stopped, and was left out.
  bool isCutOff() const { return cutOff_; }

 private:
  kube::Result<std::optional<std::string>> readLine();
  kube::Error at(std::string message) const;
  kube::Result<kube::GroupResource> typeCalled(const std::string& resource) const;
  RecordedEvent read(const kube::Value& line, kube::Errors& errors);
  void readAdmission(kube::Fields& fields, RecordedEvent& event, kube::Errors& errors) const;
  void readWatch(kube::Fields& fields, RecordedEvent& event, kube::Errors& errors);

  std::string path_;
  std::unique_ptr<std::istream> source_;
  kube::ParseLimits limits_;
  uint32_t line_ = 0;
  bool cutOff_ = false;
  std::map<std::string, std::set<kube::GroupResource>, std::less<>> seen_;  // types, by resource
};

}  // namespace lastout::replay
