// What the recordings hold, for tests to compare with: without what differs from run to run.
#pragma once

#include <string>

#include "simulator/json.h"

namespace lastout::simulator {

Json recordedExchange(const std::string& name);  // of rest/: {request, response}
Json recordedRequest(const std::string& name);   // its body
Json recordedAnswer(const std::string& name);    // its body
Json answerOf136(const std::string& name);       // the same of Kubernetes 1.36
Json recordedReview(const std::string& name);    // of admission/: what is under `request`
// The object in a line, counted from 1, of story-<name>.jsonl.
Json storyObject(const std::string& name, size_t line);

// The object without managedFields.
Json unmanaged(Json object);
// Without uid, resourceVersion and creationTimestamp either.
Json anonymous(Json object);

}  // namespace lastout::simulator
