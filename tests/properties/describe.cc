// describe: a ClusterSpec in words, for the message of a test that failed.
#include <string_view>

#include "tests/properties/cluster_spec.h"

namespace lastout::testing {

namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string describe(const ObjectSpec& object) {
  std::string line = kube::toString(object.key);
  if (!object.present) line += " (absent)";
  if (object.terminating) line += " (terminating)";
  if (!object.finalizers.empty()) line += " finalizers [" + join(object.finalizers) + "]";
  for (const OwnerSpec& owner : object.owners) {
    line += " owner " + kube::toString(owner.object);
    if (owner.controller) line += " (controller)";
    if (owner.blockOwnerDeletion) line += " (blocking)";
  }
  if (isWorkload(object.key.type)) line += " replicas " + std::to_string(object.replicas);
  if (!object.app.empty()) line += " app " + object.app;
  for (const kube::ObjectKey& named : object.names) line += " names " + kube::toString(named);
  if (!object.claims.empty()) line += " mounts [" + join(object.claims) + "]";
  if (object.service) {
    line += " provider " + kube::toString(object.service->provider) + " intent " +
            std::string(criticalservice::toString(object.service->intent));
    for (const criticalservice::Criterion& criterion : object.service->criteria)
      line += ", after " + criticalservice::toString(criterion);
    if (object.service->enforcement == criticalservice::EnforcementMode::Hold) line += ", held";
    if (object.service->dependencies.mode == criticalservice::DependencyMode::None) line += ", alone";
    for (const kube::ObjectKey& needed : object.service->dependencies.listed)
      line += ", needs " + kube::toString(needed);
  }
  if (object.webhook) {
    line += " calls " + kube::toString(object.webhook->service) + " on";
    if (object.webhook->onDelete) line += " DELETE";
    if (object.webhook->onUpdate) line += " UPDATE";
    for (const kube::GroupResource& type : object.webhook->types) line += " of " + kube::toString(type);
  }
  if (object.converter) line += " converted behind " + kube::toString(*object.converter);
  return line;
}

std::string describe(const StepSpec& step) {
  constexpr std::string_view kVerbs[] = {"delete",     "create",       "set finalizers",
                                         "set labels", "set replicas", "set intent"};
  constexpr std::string_view kPolicies[] = {"Background", "Foreground", "Orphan"};
  constexpr std::string_view kTargets[] = {"", "the first child of ", "the first grandchild of "};
  std::string line(kVerbs[static_cast<size_t>(step.verb)]);
  line += " ";
  line += kTargets[static_cast<size_t>(step.target)];
  line += kube::toString(step.object);
  if (step.policy) line += " " + std::string(kPolicies[static_cast<size_t>(*step.policy)]);
  if (step.dryRun) line += " (dry run)";
  if (!step.retry) line += " (once)";
  if (step.precondition == cluster::Precondition::Uid) line += " (same uid)";
  if (step.precondition == cluster::Precondition::ResourceVersion) line += " (same version)";
  if (step.serverSide) line += " (server-side)";
  if (step.verb == cluster::ClientStep::Verb::SetFinalizers) line += " to [" + join(step.finalizers) + "]";
  if (step.value != 0) line += " to " + std::to_string(step.value);
  if (step.last) line += " (in the end)";
  return line;
}

}  // namespace

std::string describe(const ClusterSpec& spec) {
  std::string text;
  if (spec.kubernetes != kube::kNewestKubernetes)
    text += "Kubernetes " + std::string(toString(spec.kubernetes)) + "\n";
  if (!spec.guarded) text += "not guarded\n";
  if (!spec.confirms) text += "no confirming read\n";
  if (spec.runsDeferredDeletions) text += "what is deferred is run\n";
  if (spec.forges) text += "entries are forged\n";
  if (!spec.lastoutNamespace.empty()) text += "lastout runs in " + spec.lastoutNamespace + "\n";
  for (const ObjectSpec& object : spec.objects) text += "object " + describe(object) + "\n";
  for (const WorkObjects& work : spec.works) {
    text += "work " + work.key.namespaceName + "/" + work.key.name + " applies";
    for (const kube::ObjectKey& key : work.applies) text += " " + kube::toString(key);
    text += "\n";
  }
  for (const ControllerSpec& controller : spec.controllers) {
    text += "controller removes " + controller.finalizer + " from " + kube::toString(controller.from);
    if (controller.runsIn) text += " while " + kube::toString(*controller.runsIn) + " runs";
    for (const kube::ObjectKey& needed : controller.needs) text += ", needs " + kube::toString(needed);
    for (const kube::ObjectKey& awaited : controller.waitsFor)
      text += ", waits for " + kube::toString(awaited);
    text += "\n";
  }
  for (const StepSpec& step : spec.steps) text += "step " + describe(step) + "\n";
  return text;
}

}  // namespace lastout::testing
