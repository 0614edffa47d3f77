#include "simulator/controllers.h"

#include <algorithm>
#include <utility>

#include "kube/builtin_types.h"
#include "kube/well_known.h"
#include "simulator/contents.h"
#include "simulator/request.h"

namespace lastout::simulator {
namespace {

using cluster::Action;
using cluster::Actor;
using cluster::EventKind;
using cluster::Slot;

// What a controller's write goes to: "" the object itself.
std::string_view subresourceOf(const Action& action) {
  switch (action.kind) {
    case Action::Kind::NamespaceFinish:
      return "finalize";
    case Action::Kind::PodReady:
    case Action::Kind::PodStop:
    case Action::Kind::CrdFinish:
      return "status";
    default:
      return "";
  }
}

// Nobody reviews what the API server does to a CRD's instances.
bool isReviewed(const Action& action) { return action.kind != Action::Kind::CrdInstances; }

}  // namespace

Controllers::Controllers(ControlPlane& plane, Admitter& admitter)
    : plane_(plane), admitter_(admitter), loop_(plane) {}

std::optional<Controllers::Milliseconds> Controllers::nextAt() {
  const kube::MutexLock lock(plane_.mutex);
  const std::optional<Milliseconds> action = plane_.live.nextAt();
  const std::optional<Milliseconds> write = loop_.nextAt();
  if (!action || !write) return action ? action : write;
  return std::min(*action, *write);
}

// Each thing at its own time, however late the caller comes, so that what follows from it is not late as
// well.
bool Controllers::step(Milliseconds now) {
  const std::optional<Milliseconds> at = nextAt();
  if (!at || *at > now) return false;
  return tidy(*at) || act(*at);
}

// The next action of the agenda. What its review does not allow is deferred as the machine says.
bool Controllers::act(Milliseconds now) {
  std::optional<cluster::PlannedAction> plan;
  std::vector<Mutation> mutations;
  {
    const kube::MutexLock lock(plane_.mutex);
    plane_.live.advance(now);
    plan = plane_.live.plan(now);
    if (!plan) return false;
    mutations = mutationsOf(*plan);
  }
  const ApiResult<void> admitted = admitAll(mutations);
  const kube::MutexLock lock(plane_.mutex);
  if (plan->action.kind == Action::Kind::NamespaceDelete) noteContent(mutations, admitted, now);
  const bool allowed =
      admitted &&
      std::ranges::all_of(mutations, [this](const Mutation& mutation) LASTOUT_REQUIRES(plane_.mutex) {
        return plane_.holds(mutation).has_value();
      });
  if (!allowed) mutations.clear();
  cluster::Events events;
  plane_.live.execute(*plan, allowed ? cluster::AdmissionOutcome::Allowed : cluster::AdmissionOutcome::Denied,
                      now, events);
  plane_.follow(events, mutations);
  return true;
}

// A status, or something else that is written beside the machine. What is refused is tried again when
// something changes.
bool Controllers::tidy(Milliseconds now) {
  std::optional<ControllerLoop::ControllerWrite> write;
  {
    const kube::MutexLock lock(plane_.mutex);
    plane_.live.advance(now);
    if (!loop_.isDue(now)) return false;
    write = loop_.next(now);
  }
  std::vector<std::string> warnings;
  if (!write || !admitter_.admit(write->write, warnings)) return true;
  const kube::MutexLock lock(plane_.mutex);
  const bool isCurrent = plane_.storage.find(write->write.key) == write->write.before;
  if (!isCurrent || plane_.commit(write->write)) loop_.again(write->of, now);
  return true;
}

// What a terminating Namespace says about its content, as it was when it was reviewed.
void Controllers::noteContent(const std::vector<Mutation>& deletions, const ApiResult<void>& admitted,
                              Milliseconds now) {
  for (const Mutation& deletion : deletions) {
    if (plane_.storage.find(deletion.key) != deletion.before) continue;
    if (admitted)
      plane_.refusedContent.erase(deletion.key);
    else
      plane_.refusedContent[deletion.key] = admitted.error().message;
    loop_.again(kube::namespaceKey(deletion.key.namespaceName), now);
  }
}

ApiResult<void> Controllers::admitAll(std::vector<Mutation>& mutations) {
  std::vector<std::string> warnings;  // nobody reads a controller's
  for (Mutation& mutation : mutations) {
    const kube::ObjectKey key = mutation.key;
    if (auto admitted = admitter_.admit(mutation, warnings); !admitted) return admitted;
    if (mutation.key != key)
      return tl::unexpected(internalError("a webhook gave the object another name than its controller"));
  }
  return {};
}

// Creations always, since they are what is stored then; the others when there is somebody to review them.
std::vector<Mutation> Controllers::mutationsOf(const cluster::PlannedAction& plan) {
  std::vector<Mutation> mutations;
  const bool isAsked = admitter_.mayRefuse();
  if (!isReviewed(plan.action) || (plan.deletes != cluster::kNone && !isAsked)) return mutations;
  if (plan.deletes != cluster::kNone) {
    if (std::optional<Mutation> mutation = deletion(plan, plan.deletes))
      mutations.push_back(std::move(*mutation));
    return mutations;
  }
  std::vector<Slot> told;
  for (const cluster::ClusterEvent& event : plan.events) {
    const bool writes =
        event.kind == EventKind::Created || event.kind == EventKind::Changed || event.kind == EventKind::Gone;
    if (!writes || (!isAsked && event.kind != EventKind::Created) ||
        std::ranges::find(told, event.slot) != told.end())
      continue;
    told.push_back(event.slot);
    // A node takes away a Pod that it has stopped.
    if (plan.action.kind == Action::Kind::PodStop && event.kind == EventKind::Gone) {
      if (std::optional<Mutation> mutation = deletion(plan, event.slot))
        mutations.push_back(std::move(*mutation));
      continue;
    }
    if (std::optional<Mutation> mutation = writeOf(plan, event.slot, event.kind == EventKind::Created))
      mutations.push_back(std::move(*mutation));
  }
  return mutations;
}

std::optional<Mutation> Controllers::deletion(const cluster::PlannedAction& plan, Slot slot) {
  Mutation mutation;
  mutation.operation = Mutation::Operation::Delete;
  mutation.key = plane_.live.model().slots[slot].key;
  mutation.type = plane_.types.findPreferred(mutation.key.type);
  mutation.before = plane_.storage.find(mutation.key);
  if (mutation.type == nullptr || mutation.before == nullptr) return std::nullopt;
  DeleteOptions options;
  options.policy = plan.policy;
  // The namespace controller deletes whole collections, whose reviews name nobody (admission/24).
  mutation.nameIsKnown = plan.action.kind != Action::Kind::NamespaceDelete;
  options.gracePeriodSeconds = reviewedGracePeriod(rulesOf(*mutation.type), mutation.before->object(),
                                                   std::nullopt, mutation.nameIsKnown);
  if (plan.action.kind == Action::Kind::PodStop) options.gracePeriodSeconds = 0;
  if (plan.insistsOnUid || plan.action.kind == Action::Kind::PodStop)
    options.uid = stringAt(mutation.before->object(), {"metadata", "uid"});
  if (plan.action.actor == Actor::Collector && kube::collectsByResourceVersion(plane_.kubernetes()))
    options.resourceVersion = std::to_string(mutation.before->version());
  mutation.policy = plan.policy;
  mutation.options = options.asGiven();
  mutation.user = userOf(plan);
  return mutation;
}

std::optional<Mutation> Controllers::writeOf(const cluster::PlannedAction& plan, Slot slot, bool isNew) {
  Mutation mutation;
  mutation.key = plane_.live.model().slots[slot].key;
  mutation.type = plane_.types.findPreferred(mutation.key.type);
  if (mutation.type == nullptr) return std::nullopt;
  mutation.user = userOf(plan);
  if (isNew) {
    mutation.operation = Mutation::Operation::Create;
    mutation.after = contentOf(plane_, slot);
    mutation.options = WriteOptions{}.asGiven("CreateOptions");
    if (mutation.after.is_null()) return std::nullopt;
    return mutation;
  }
  mutation.operation = Mutation::Operation::Update;
  mutation.before = plane_.storage.find(mutation.key);
  if (mutation.before == nullptr) return std::nullopt;
  mutation.subresource = subresourceOf(plan.action);
  const auto then = std::ranges::find(plan.after, slot, &std::pair<Slot, cluster::ObjectState>::first);
  mutation.after = alignedContent(plane_, slot, then->second, mutation.before->object());
  mutation.options = WriteOptions{}.asGiven("UpdateOptions");
  return mutation;
}

UserInfo Controllers::userOf(const cluster::PlannedAction& plan) const {
  const Slot slot = plan.action.a;
  switch (plan.action.actor) {
    case Actor::Agent:
      return agentUser();
    case Actor::Collector:
      return controllerUser("generic-garbage-collector", plane_.kubernetes());
    case Actor::Lifecycle:
      return controllerUser("namespace-controller", plane_.kubernetes());
    case Actor::CrdCleanup:
      return apiserverUser();
    case Actor::Workloads:
      return controllerUser(kube::findWorkloadType(plane_.live.model().slots[slot].key.type)->controller,
                            plane_.kubernetes());
    case Actor::Kubelet:
      return {.username = "system:node:node",
              .uid = {},
              .groups = {"system:nodes", "system:authenticated"},
              .extra = {}};
    case Actor::Claims:
      return controllerUser(plan.action.kind == Action::Kind::VolumeRelease ? "pv-protection-controller"
                                                                            : "pvc-protection-controller",
                            plane_.kubernetes());
    case Actor::Finalizers:
      return {.username = plane_.live.model().controllers[plan.action.b].name,
              .uid = {},
              .groups = {"system:authenticated"},
              .extra = {}};
    case Actor::TimeToLive:
    case Actor::ReplicaSets:  // it runs neither
    case Actor::Client:
    case Actor::Lastout:  // a program of its own, where there is an API
      break;
  }
  return adminUser();
}

}  // namespace lastout::simulator
