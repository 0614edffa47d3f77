// The recorded stories of tests/recordings: one event a line (tests/recordings/README.md).
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::testing {

struct RecordedEvent {
  enum class Kind { Client, Admission, Watch, FinalizerController, Marker };
  Kind kind = Kind::Marker;
  double seconds = 0;
  size_t line = 0;  // of the file, for messages

  std::string text;      // Client: what it did, "DELETE manifestwork"; Marker: what it says
  kube::ObjectKey key;   // Admission, Watch; of Client only the name
  bool deleted = false;  // Watch: the object is gone; otherwise it was added or modified
  kube::Object object;   // Watch

  std::string operation;         // Admission: DELETE
  std::string user;              // Admission
  bool allowed = false;          // Admission
  std::vector<std::string> why;  // Admission: what the recorded webhook said blocked it
};

// All events of a story, in order. What cannot be read ends the test program.
std::vector<RecordedEvent> readRecording(const std::string& path, kube::ResourceMap& types);

}  // namespace lastout::testing
