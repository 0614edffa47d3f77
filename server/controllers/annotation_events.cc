#include "server/controllers/annotation_events.h"

#include <optional>
#include <utility>

#include "server/webhook/admission_policy.h"

namespace lastout::server {
namespace {

using Kind = DeferredDeletionEvent::Kind;

constexpr const char* kAnnotationGone = "the annotation was taken away";

bool stands(const admission::ClusterView& view, const kube::ObjectKey& key, const std::string& uid) {
  const auto object = view.graph().find(key);
  return object && view.graph().hasUid(*object, uid) && !view.graph().isTerminating(*object);
}

}  // namespace

const criticalservice::CriticalService* guardOfAnnotated(const admission::ClusterView& view,
                                                         const kube::ObjectKey& object) {
  for (const uint32_t number : view.servicesRecording(object)) {
    const criticalservice::CriticalService& service = view.guards().service(number);
    if (service.deferral != criticalservice::DeferralMode::Never) return &service;
  }
  return nullptr;
}

std::vector<CountingAnnotation> countingAnnotations(const admission::ClusterView& view,
                                                    const AnnotationsNow& annotations) {
  std::vector<CountingAnnotation> counting;
  if (!annotations.count.value_or(false)) return counting;
  for (const auto& [key, annotated] : view.annotated()) {
    const auto until = admission::askedUntil(annotated, annotations.now);
    const criticalservice::CriticalService* guard = guardOfAnnotated(view, key);
    if (guard != nullptr && until) counting.push_back({key, annotated, *guard, *until});
  }
  return counting;
}

criticalservice::DeferredDeletion deletionBy(const kube::ObjectKey& object, const std::string& uid) {
  return {object, uid, {}, "its annotation " + std::string(admission::kDeleteWhenFree), 0, {}};
}

std::string doubtOf(const admission::AnnotatedObject& annotated, const AnnotationsNow& annotations) {
  if (const auto until = admission::askedUntil(annotated, annotations.now); !until) return until.error();
  if (annotations.count.value_or(false)) return {};
  return "the API servers do not enforce the ValidatingAdmissionPolicy " +
         std::string(kDeleteWhenFreePolicy) +
         " as lastout ships it, as far as is known, and so anybody may have set it";
}

// Returns what changed since `before`; nullopt: nothing that needs an Event.
std::optional<DeferredDeletionEvent::Kind> AnnotationEvents::newsOf(const Told* before, const Told& now) {
  const bool didCount = before != nullptr && before->counts;
  if (now.counts) return didCount ? std::nullopt : std::optional(Kind::Recorded);
  if (didCount && now.why == admission::kTimeHasPassed) return Kind::TakenBack;
  const bool isOld = before != nullptr && before->why == now.why;
  return isOld ? std::nullopt : std::optional(Kind::Ignored);
}

std::vector<DeferredDeletionEvent> AnnotationEvents::look(const admission::ClusterView& view,
                                                          const AnnotationsNow& annotations) {
  std::vector<DeferredDeletionEvent> news;
  if (!annotations.count) return news;
  const auto tell = [&news](Kind kind, const std::string& uid, const Told& told, const std::string& why) {
    news.push_back({kind, deletionBy(told.object, uid), told.guard, told.guardUid, why});
  };
  const std::map<std::string, Told> before = std::exchange(told_, {});
  for (const auto& [key, annotated] : view.annotated()) {
    const criticalservice::CriticalService* guard = guardOfAnnotated(view, key);
    if (guard == nullptr) continue;
    const std::string doubt = doubtOf(annotated, annotations);
    const Told now{key, doubt.empty(), doubt, guard->meta.name, guard->meta.uid};
    const auto found = before.find(annotated.uid);
    if (const auto kind = newsOf(found == before.end() ? nullptr : &found->second, now))
      tell(*kind, annotated.uid, now, doubt);
    told_.insert_or_assign(annotated.uid, now);
  }
  for (const auto& [uid, told] : before) {
    if (told.counts && stands(view, told.object, uid) && !view.annotated().contains(told.object))
      tell(Kind::TakenBack, uid, told, kAnnotationGone);
  }
  return news;
}

}  // namespace lastout::server
