// AnnotationEvents: which annotations that ask for a deletion (admission/delete_when_free.h) count, and the
// Events and log lines about them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "server/controllers/deferred_deletion_event.h"

namespace lastout::server {

// Whether annotations count (nullopt: not known yet), and the time.
struct AnnotationsNow {
  std::optional<bool> count = false;
  std::chrono::sys_seconds now;
};

// A CriticalService on whose behalf an annotation of the object counts: it guards the object, and wants
// deletions to be deferred. nullptr: there is none. Valid until the next change of the view.
const criticalservice::CriticalService* guardOfAnnotated(const admission::ClusterView& view,
                                                         const kube::ObjectKey& object);

// An annotation that counts. Valid until the next change of the view.
struct CountingAnnotation {
  const kube::ObjectKey& object;
  const admission::AnnotatedObject& annotated;
  const criticalservice::CriticalService& guard;
  int64_t until = 0;  // as of askedUntil()
};
std::vector<CountingAnnotation> countingAnnotations(const admission::ClusterView& view,
                                                    const AnnotationsNow& annotations);

// Returns the deletion that an annotation asks for, as a CriticalService would record it.
criticalservice::DeferredDeletion deletionBy(const kube::ObjectKey& object, const std::string& uid);

// Returns why the annotation does not count; empty: it does. It does not while that is unknown.
std::string doubtOf(const admission::AnnotatedObject& annotated, const AnnotationsNow& annotations);

// Of one thread.
class AnnotationEvents {
 public:
  // Returns what is new since the last call, for objects that a CriticalService guards.
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
