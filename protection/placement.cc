#include "protection/placement.h"

#include <algorithm>
#include <array>

#include "kube/resource_map.h"
#include "kube/well_known.h"
#include "protection/implied.h"

namespace lastout::protection {
namespace {

template <class Test>
bool anyPattern(const DeletionPolicy& policy, const Test& test) {
  return std::any_of(policy.objects.begin(), policy.objects.end(), [&](const Selection& selection) {
    return std::any_of(selection.resources.begin(), selection.resources.end(), test);
  });
}

// A policy's selections match the type, whatever else they ask for.
bool mayMatch(const DeletionPolicy& policy, const kube::GroupResource& type) {
  return policy.listedBy ||
         anyPattern(policy, [&](const ResourcePattern& pattern) { return pattern.matches(type); });
}

bool mayMatchAnyGroup(const DeletionPolicy& policy) {
  return mayMatch(policy, {"a-group-that-no-built-in-type-has", "a-type-that-is-not-built-in"});
}

// Of the built-in types, those of which no object is in a namespace.
bool isClusterScoped(const ResourcePattern& pattern) {
  const kube::ResourceType* type = kube::ResourceMap::builtIn().find({pattern.group, pattern.resource});
  return type != nullptr && !type->namespaced;
}

// A namespace may hold some of the policy's objects.
bool mayMatchNamespaced(const DeletionPolicy& policy) {
  return policy.listedBy ||
         anyPattern(policy, [](const ResourcePattern& one) { return !isClusterScoped(one); });
}

// Namespaces, or objects in them.
bool mayMatchInNamespaces(const DeletionPolicy& policy) {
  return mayMatchNamespaced(policy) || anyPattern(policy, [](const ResourcePattern& one) {
           return one == ResourcePattern{kube::kNamespaces.group, kube::kNamespaces.resource};
         });
}

// `one`: the case, of an Unprotect; nullptr: there is none.
std::string operationOf(Block block, const Case* one) {
  switch (block) {
    case Block::Delete:
      return "DELETE";
    case Block::Orphan:
      return "DELETE with propagationPolicy Orphan";
    case Block::Unprotect:
      return one != nullptr && one->key ? "UPDATE that takes the protection away"
                                        : "UPDATE of labels that takes it out of the policy's objects";
  }
  return "";
}

// A part that does not run in the API server, and why.
std::string whyNotThere(const DeletionPolicy& policy, const Case* one, PolicyMode mode) {
  if (mode == PolicyMode::Webhook) return "all policies are to run in the webhook";
  if (policy.listedBy) return "the objects of another type list what is protected";
  if (policy.code != 403)
    return "an API server's own policy does not deny with code " + std::to_string(policy.code);
  if (one != nullptr && one->ancestor && !one->ancestor->cluster.empty())
    return "it needs an object" + onCluster(one->ancestor->cluster) +
           ", which serve --policy-cluster makes known";
  if (one != nullptr && !one->isLocal()) return "it needs other objects";
  return "";
}

Placement placementOf(const DeletionPolicy& policy, Block block, const Case* one, PolicyMode mode) {
  const std::string why = whyNotThere(policy, one, mode);
  const std::string when = one == nullptr ? ", at all times" : ", when " + toString(*one);
  if (why.empty())
    return {operationOf(block, one) + when, EnforcementPoint::ApiServer, "the request alone tells"};
  return {operationOf(block, one) + when, EnforcementPoint::Webhook, why};
}

// A DELETE is denied only where another operator would carry it out, and where nothing can hold the object
// yet; the rest is held.
void addHeld(const DeletionPolicy& policy, PolicyMode mode, std::vector<Placement>& placements) {
  const Hold& hold = *policy.hold;
  for (const Case& one : policy.when) {
    placements.push_back({"held by finalizer " + hold.finalizer + ", when " + toString(one),
                          EnforcementPoint::Controller, "a DELETE is accepted (--hold-policies)"});
    Placement denied = placementOf(policy, Block::Delete, &one, mode);
    denied.part += ", of what has no finalizer " + hold.finalizer + " yet";
    if (!hold.finalizersOfOthers.empty()) denied.part += ", or one of another operator";
    placements.push_back(std::move(denied));
  }
  if (hold.force && hold.force->requiresDelete)
    placements.push_back(
        {"UPDATE that sets " + toString(hold.force->key) + ", without the right to delete",
         EnforcementPoint::ApiServer,
         std::string("the request and its user alone tell") +
             (mode == PolicyMode::Webhook
                  ? ", and no webhook is told what a user may do; without it force does not count"
                  : "")});
}

void addLabels(const DeletionPolicy& policy, std::vector<Placement>& placements) {
  if (policy.labels)
    placements.push_back(
        {"labels of its objects", EnforcementPoint::Controller, "it writes objects (--label-policies)"});
}

void addReplays(const DeletionPolicy& policy, std::vector<Placement>& placements) {
  if (policy.listedBy && policy.listedBy->replay)
    placements.push_back({"deletion by annotation once nothing lists the object, where " +
                              kube::toString(policy.listedBy->type) + " have " +
                              toString(*policy.listedBy->replay) + ": true",
                          EnforcementPoint::Controller, "it deletes objects (--replay-deletions)"});
}

void addImplied(const DeletionPolicy& policy, std::vector<Placement>& placements) {
  constexpr const char* kWhy = "what is in it has to be known";
  if (implies(policy, kube::kNamespaces) && mayMatchNamespaced(policy))
    placements.push_back(
        {"DELETE of a namespace that holds a protected object", EnforcementPoint::Webhook, kWhy});
  if (implies(policy, kube::kCustomResourceDefinitions) && mayMatchAnyGroup(policy))
    placements.push_back(
        {"DELETE of a CustomResourceDefinition with a protected instance", EnforcementPoint::Webhook, kWhy});
}

// What else protects an object, and may be changed.
void addNotKept(const DeletionPolicy& policy, std::vector<Placement>& placements) {
  if (!policy.blocksAny(Block::Unprotect)) return;
  std::vector<std::string> told;
  const auto add = [&](std::string what) {
    if (std::find(told.begin(), told.end(), what) != told.end()) return;
    told.push_back(what);
    placements.push_back({"UPDATE that changes " + std::move(what), EnforcementPoint::OutOfReach,
                          "Unprotect keeps the labels and annotations that the policy names"});
  };
  for (const Case& one : policy.when) {
    if (one.field) add("field " + toString(one.field->path));
    if (one.activity == Activity::Replicas) add("field spec.replicas");
    if (one.ancestor) add("the labels that name its ancestor");
  }
}

void addOutOfReach(const DeletionPolicy& policy, std::vector<Placement>& placements) {
  addNotKept(policy, placements);
  if (mayMatchAnyGroup(policy))
    placements.push_back({"objects of aggregated APIs", EnforcementPoint::OutOfReach,
                          "their own servers store them, and no admission of the API server sees them"});
  if (policy.listedBy && policy.listedBy->in != ListedIn::AnyNamespace)
    placements.push_back(
        {"cluster-scoped objects that namespaced " + kube::toString(policy.listedBy->type) + " list",
         EnforcementPoint::OutOfReach, "whoever may write in one namespace would hold up objects of all"});
  if (policy.blocksAny(Block::Delete) && mayMatch(policy, kube::kPods))
    placements.push_back({"eviction of a Pod", EnforcementPoint::OutOfReach,
                          "API servers delete an evicted Pod without asking about its DELETE"});
  const auto isInWebhook = [](const Placement& one) { return one.place == EnforcementPoint::Webhook; };
  const bool hasWebhookPart = std::any_of(placements.begin(), placements.end(), [&](const Placement& one) {
    return isInWebhook(one) && !one.part.starts_with("DELETE of a");
  });
  if (std::any_of(placements.begin(), placements.end(), isInWebhook) && mayMatchInNamespaces(policy))
    placements.push_back(
        {"namespace kube-system, that of lastout, and what is in them, as far as the webhook "
         "decides",
         EnforcementPoint::OutOfReach,
         "API servers do not ask there, so that an outage of lastout blocks neither the "
         "control plane nor its own repair"});
  if (hasWebhookPart && mayMatch(policy, kube::kValidatingWebhookConfigurations))
    placements.push_back({"webhook configurations, as far as the webhook decides",
                          EnforcementPoint::OutOfReach, "API servers ask no webhook about them"});
}

}  // namespace

std::string_view toString(EnforcementPoint place) {
  static constexpr std::array<std::string_view, 4> kNames{"API server", "webhook", "controller",
                                                          "out of reach"};
  return kNames[static_cast<size_t>(place)];
}

std::vector<Placement> placementsOf(const DeletionPolicy& policy, PolicyMode mode) {
  std::vector<Placement> placements;
  if (policy.hold) addHeld(policy, mode, placements);
  for (const Block block : policy.blocks) {
    if (policy.hold) break;
    const auto add = [&](const Case* one) {
      if (block != Block::Unprotect || policy.keepsWhatProtects(one))
        placements.push_back(placementOf(policy, block, one, mode));
    };
    if (policy.when.empty()) add(nullptr);
    for (const Case& one : policy.when) add(&one);
  }
  addLabels(policy, placements);
  addReplays(policy, placements);
  addImplied(policy, placements);
  addOutOfReach(policy, placements);
  return placements;
}

CaseScope webhookPartOf(const DeletionPolicy& policy, PolicyMode mode) {
  return whyNotThere(policy, nullptr, mode).empty() ? CaseScope::Remote : CaseScope::All;
}

bool runsAt(const DeletionPolicy& policy, PolicyMode mode, EnforcementPoint place) {
  const std::vector<Placement> placements = placementsOf(policy, mode);
  return std::any_of(placements.begin(), placements.end(),
                     [place](const Placement& one) { return one.place == place; });
}

}  // namespace lastout::protection
