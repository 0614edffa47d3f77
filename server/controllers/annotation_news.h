// AnnotationNews: what has become of the deletions that objects' annotations ask for
// (admission/delete_when_free.h), for the log and Events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/controllers/deferred_deletion_event.h"

namespace lastout::server {

// Why the annotation does not count; empty: it does. What nobody knows yet does not.
std::string doubtOf(const admission::AnnotatedObject& annotated, const AnnotationsNow& annotations);

// Of one thread.
class AnnotationNews {
 public:
  // What is new since the last look, of objects that a CriticalService guards.
  std::vector<DeferredDeletionEvent> look(const admission::ClusterView& view,
                                          const AnnotationsNow& annotations);

 private:
  // What was told last of the object with a uid.
  struct Told {
    kube::ObjectKey object;
    bool counts = false;
    std::string why;  // it does not
    std::string guard;
    std::string guardUid;
  };
  static std::optional<DeferredDeletionEvent::Kind> newsOf(const Told* before, const Told& now);

  std::map<std::string, Told> told_;
};

}  // namespace lastout::server
